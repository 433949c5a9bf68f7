"""The hub as the official client of before 2026 sees it: `hub_old.py http|sse URL KEY` or
`hub_old.py stdio COMMAND...`. Prints what it saw as one JSON object."""

import asyncio
import json
import sys
from contextlib import asynccontextmanager

import httpx
from mcp import ClientSession, StdioServerParameters, types
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

TEXT = "tenon+everything+demo://resource/dynamic/text/1"


@asynccontextmanager
async def connect(transport, target):
    if transport == "stdio":
        command, *args = target
        async with stdio_client(StdioServerParameters(command=command, args=args)) as streams:
            yield streams
        return
    url, key = target
    headers = {"Authorization": f"Bearer {key}"}
    if transport == "sse":
        async with sse_client(url, headers=headers) as streams:
            yield streams
        return
    async with httpx.AsyncClient(headers=headers, timeout=60) as http:
        async with streamable_http_client(url, http_client=http) as (read, write, _):
            yield read, write


async def main():
    transport, *target = sys.argv[1:]
    saw = {"progress": [], "asked": [], "sampled": []}
    updated = asyncio.Event()

    async def on_message(message):
        if isinstance(message, types.ServerNotification):
            notification = message.root
            if isinstance(notification, types.ResourceUpdatedNotification):
                saw["updated"] = str(notification.params.uri)
                updated.set()

    async def elicit(_context, params):
        saw["asked"].append(params.message)
        return types.ElicitResult(action="accept", content={"name": "Ada"})

    async def sample(_context, params):
        saw["sampled"].append(params.messages[0].content.text)
        content = types.TextContent(type="text", text="sampled text")
        return types.CreateMessageResult(role="assistant", content=content, model="test")

    async def progress(done, total, _message):
        saw["progress"].append([done, total])

    async with connect(transport, target) as (read, write):
        async with ClientSession(
            read,
            write,
            elicitation_callback=elicit,
            sampling_callback=sample,
            message_handler=on_message,
        ) as session:
            begun = await session.initialize()
            saw["server"] = [begun.serverInfo.name, begun.protocolVersion]
            tools = {tool.name: tool for tool in (await session.list_tools()).tools}
            saw["tools"] = sorted(tools)
            echo = tools["mcp_everything_echo"]
            saw["echo"] = [echo.title, echo.annotations.readOnlyHint]

            async def call(name, arguments):
                result = await session.call_tool(name, arguments, progress_callback=progress)
                return [result.isError, result.content[0].text]

            saw["echoed"] = await call("mcp_everything_echo", {"message": "hi"})
            saw["sum"] = await call("builtin_calculate", {"expression": "6*7"})
            saw["invalid"] = await call("mcp_everything_echo", {})
            try:
                saw["unknown"] = await call("no_such_tool", {})
            except Exception as error:
                saw["unknown"] = str(error)
            steps = {"duration": 0.2, "steps": 2}
            saw["long"] = await call("mcp_everything_trigger-long-running-operation", steps)
            saw["form"] = await call("mcp_everything_trigger-elicitation-request", {})
            saw["sampling"] = await call("mcp_everything_trigger-sampling-request", {"prompt": "p"})
            place = {"location": "Chicago"}
            weather = await session.call_tool("mcp_everything_get-structured-content", place)
            saw["structured"] = sorted(weather.structuredContent)
            links = await session.call_tool("mcp_everything_get-resource-links", {"count": 1})
            saw["link"] = str(links.content[1].uri)
            prompts = (await session.list_prompts()).prompts
            saw["prompts"] = sorted(prompt.name for prompt in prompts)
            prompt = await session.get_prompt("mcp_everything_simple-prompt")
            saw["prompt"] = prompt.messages[0].content.text
            reference = types.PromptReference(
                type="ref/prompt", name="mcp_everything_completable-prompt"
            )
            started = {"name": "department", "value": "E"}
            completed = await session.complete(reference, started)
            saw["completed"] = completed.completion.values
            resources = (await session.list_resources()).resources
            saw["resources"] = sorted(str(resource.uri) for resource in resources)
            templates = (await session.list_resource_templates()).resourceTemplates
            saw["templates"] = sorted(template.uriTemplate for template in templates)
            content = (await session.read_resource(TEXT)).contents[0]
            saw["resource"] = [str(content.uri), content.text]
            # There is one switch for all of them.
            if transport == "http":
                await session.subscribe_resource(TEXT)
                await call("mcp_everything_toggle-subscriber-updates", {})
                await asyncio.wait_for(updated.wait(), 30)
    print(json.dumps(saw))


asyncio.run(main())
