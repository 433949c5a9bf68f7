"""The hub as the official client of 2026-07-28 sees it: `hub_new.py URL KEY SERVER`. Prints what it saw as
one JSON object."""

import asyncio
import json
import sys

import httpx2
from mcp import Client, types
from mcp.client.streamable_http import streamable_http_client

TEXT = "tenon+everything+demo://resource/dynamic/text/1"


async def main():
    base, key, _command = sys.argv[1:]
    saw = {"progress": [], "asked": []}

    async def elicit(_context, params):
        saw["asked"].append(params.message)
        return types.ElicitResult(action="accept", content={"name": "Ada"})

    async def progress(done, total, _message):
        saw["progress"].append([done, total])

    headers = {"Authorization": f"Bearer {key}"}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        transport = streamable_http_client(f"{base}/mcp", http_client=http)
        async with Client(transport, elicitation_callback=elicit) as client:
            saw["version"] = client.protocol_version
            saw["tools"] = sorted(tool.name for tool in (await client.list_tools()).tools)

            async def call(name, arguments):
                result = await client.call_tool(name, arguments, progress_callback=progress)
                return [result.is_error, result.content[0].text]

            saw["echoed"] = await call("mcp_everything_echo", {"message": "hi"})
            steps = {"duration": 0.2, "steps": 2}
            saw["long"] = await call("mcp_everything_trigger-long-running-operation", steps)
            saw["form"] = await call("mcp_everything_trigger-elicitation-request", {})
            saw["prompts"] = sorted(prompt.name for prompt in (await client.list_prompts()).prompts)
            content = (await client.read_resource(TEXT)).contents[0]
            saw["resource"] = [str(content.uri), content.text]

            async with client.listen(tools_list_changed=True) as changes:
                server = {"kind": "mcp", "name": "py", "command": sys.argv[3]}
                added = await http.post(f"{base}/api/sources", json=server)
                saw["added"] = added.status_code
                async with asyncio.timeout(60):
                    async for _change in changes:
                        tools = (await client.list_tools(cache_mode="bypass")).tools
                        names = [tool.name for tool in tools]
                        if "mcp_py_get_current_time" in names:
                            break
                saw["after"] = sorted(names)
    print(json.dumps(saw))


asyncio.run(main())
