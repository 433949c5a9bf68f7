"""MCP servers that differ in what they let a page from elsewhere do, all in one process.

`cors.py '[{"transport": "http", "cors": {"allow_origins": ["*"]}}, …]'`: the arguments of
Starlette's CORSMiddleware, or none at all. On FastMCP 4 or on the SDK before 2026, whichever
is installed. Prints where they answer as one line of JSON.
"""

import asyncio
import json
import socket
import sys

import uvicorn
from starlette.middleware.cors import CORSMiddleware

try:
    from fastmcp import FastMCP
except ImportError:
    from mcp.server.fastmcp import FastMCP


def make(transport, cors):
    """An application of its own: a session manager cannot be run twice."""
    server = FastMCP("small")

    @server.tool()
    def add(a: int, b: int) -> int:
        """Adds two numbers."""
        return a + b

    if hasattr(server, "http_app"):
        app = server.http_app(transport=transport)
    else:
        app = server.sse_app() if transport == "sse" else server.streamable_http_app()
    if cors is not None:
        app.add_middleware(CORSMiddleware, **cors)
    return app


async def main(wanted):
    servers, runs, urls = [], [], []
    for one in wanted:
        listening = socket.create_server(("127.0.0.1", 0))
        path = "sse" if one["transport"] == "sse" else "mcp"
        urls.append(f"http://localhost:{listening.getsockname()[1]}/{path}")
        config = uvicorn.Config(make(one["transport"], one.get("cors")), log_level="warning")
        server = uvicorn.Server(config)
        servers.append(server)
        runs.append(asyncio.create_task(server.serve(sockets=[listening])))
    while not all(server.started for server in servers):
        await asyncio.sleep(0.02)
    print(json.dumps(urls), flush=True)
    await asyncio.gather(*runs)


asyncio.run(main(json.loads(sys.argv[1])))
