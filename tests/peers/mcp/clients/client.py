"""The official Python client, 1.x or 2.x, against our MCP server:
`client.py http|sse URL` or `client.py stdio COMMAND ARGS…`. Prints what it saw as JSON."""

import asyncio
import json
import sys
from contextlib import asynccontextmanager
from importlib.metadata import version

import mcp.types as types
from mcp import ClientSession, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client

transport, target, *arguments = sys.argv[1:]
changed = asyncio.Event()
is_old = version("mcp").startswith("1.")


async def answer(context, params):
    return types.ElicitResult(action="accept", content={"name": params.message})


async def on_message(message):
    message = getattr(message, "root", message)
    if type(message).__name__ == "ToolListChangedNotification":
        changed.set()


@asynccontextmanager
async def connect_old():
    """A session of the handshake era, which both lines know."""
    if transport == "stdio":
        streams = stdio_client(StdioServerParameters(command=target, args=arguments))
    elif transport == "sse":
        streams = sse_client(target)
    elif is_old:
        from mcp.client.streamable_http import streamablehttp_client

        streams = streamablehttp_client(target)
    else:
        from mcp.client.streamable_http import streamable_http_client

        streams = streamable_http_client(target)
    async with streams as (read, write, *_):
        async with ClientSession(
            read, write, elicitation_callback=answer, message_handler=on_message
        ) as session:
            await session.initialize()
            yield session


@asynccontextmanager
async def connect_new():
    """Whatever the newer line negotiates."""
    from mcp.client import Client

    if transport == "stdio":
        server = stdio_client(StdioServerParameters(command=target, args=arguments))
    elif transport == "sse":
        server = sse_client(target)
    else:
        server = target
    async with Client(
        server, elicitation_callback=answer, message_handler=on_message
    ) as client:
        yield client


async def main():
    progress = []

    async def on_progress(done, total, message):
        progress.append(int(done))

    async with (connect_old() if is_old else connect_new()) as client:

        async def call(name, input={}, **more):
            result = await client.call_tool(name, input, **more)
            failed = getattr(result, "isError", None) or getattr(result, "is_error", None)
            texts = [getattr(block, "text", block.type) for block in result.content]
            return [bool(failed), *texts]

        async def refusal(request):
            try:
                await request
                return "read"
            except Exception:
                return "refused"

        tools = (await client.list_tools()).tools
        prompt = await client.get_prompt("test_simple_prompt")
        uri = "test://static-text"
        reference = types.PromptReference(type="ref/prompt", name="test_prompt_with_arguments")
        completion = await client.complete(reference, {"name": "arg1", "value": "test"})
        seen = {
            "tools": any(tool.name == "echo" for tool in tools),
            "echo": await call("echo", {"text": "héllo 世界"}),
            "failure": await call("test_error_handling"),
            "contents": await call("test_multiple_content_types"),
            "work": await call("test_tool_with_progress", progress_callback=on_progress),
            "progress": progress,
            "form": await call("test_streaming_elicitation"),
            "resource": (await client.read_resource(uri)).contents[0].text,
            "prompt": prompt.messages[0].content.text,
            "completion": completion.completion.values,
            "unknown": await refusal(client.read_resource("test://nothing")),
        }
        if is_old:
            # Over HTTP the stream of notifications opens a moment after the session.
            async def until_changed():
                while not changed.is_set():
                    await call("test_trigger_tool_change")
                    await asyncio.sleep(0.05)

            await asyncio.wait_for(until_changed(), 20)
        print(json.dumps(seen))


asyncio.run(main())
