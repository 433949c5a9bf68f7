"""The same on the SDK before 2026: `old.py stdio`, `old.py streamable-http PORT`, `old.py sse PORT`."""

import asyncio
import sys

from mcp.server.fastmcp import Context, FastMCP
from pydantic import BaseModel

port = int(sys.argv[2]) if len(sys.argv) > 2 else 0
mcp = FastMCP("old", host="127.0.0.1", port=port)


class Person(BaseModel):
    name: str
    age: int


@mcp.tool()
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@mcp.tool()
async def counts(to: int, context: Context) -> str:
    """Counts, and says how far it is."""
    for number in range(to):
        await context.report_progress(number + 1, to, f"at {number + 1}")
        await asyncio.sleep(0.02)
    return "done"


@mcp.tool()
async def greets(context: Context) -> str:
    """Asks who is there."""
    answer = await context.elicit("Who are you?", Person)
    if answer.action == "accept":
        return f"Hello {answer.data.name}, {answer.data.age}!"
    return f"Hello whoever: {answer.action}."


@mcp.tool()
async def sleeps(seconds: float, mark: str) -> str:
    """Sleeps, and leaves a file when it is not woken."""
    await asyncio.sleep(seconds)
    open(mark, "w").close()
    return "slept"


@mcp.tool()
async def grows(context: Context) -> str:
    """Offers one more tool from now on, and says so."""

    def new() -> str:
        """Is new."""
        return "new"

    mcp.add_tool(new)
    await context.session.send_tool_list_changed()
    return "grown"


if __name__ == "__main__":
    mcp.run(transport=sys.argv[1])
