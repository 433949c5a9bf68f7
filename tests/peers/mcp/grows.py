"""The newest SDK, whose servers tell what changes: `grows.py stdio`, `grows.py streamable-http PORT`."""

import sys

from mcp.server.mcpserver import Context, MCPServer

mcp = MCPServer("grows")


@mcp.tool()
async def grows(context: Context) -> str:
    """Offers one more tool from now on, and says so."""

    def new() -> str:
        """Is new."""
        return "new"

    mcp.add_tool(new)
    await context.notify_tools_changed()
    return "grown"


if __name__ == "__main__":
    if sys.argv[1] == "stdio":
        mcp.run("stdio")
    else:
        mcp.run(sys.argv[1], host="127.0.0.1", port=int(sys.argv[2]))
