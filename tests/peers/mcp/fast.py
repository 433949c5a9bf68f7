"""A FastMCP 4 server: `fast.py stdio`, `fast.py http PORT`, `fast.py sse PORT`.

A third argument is the origin whose pages may talk to it. `MORE_TOOLS` is how many it has besides.
"""

import asyncio
import io
import os
import sys
import wave
from dataclasses import dataclass

import mcp_types as types
from fastmcp import Context, FastMCP
from fastmcp.utilities.types import Audio, File, Image
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware

mcp = FastMCP("fast", version="1.2.3")


@mcp.tool(annotations={"readOnlyHint": True, "openWorldHint": False})
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@mcp.tool
def weather(city: str) -> dict:
    """Says how it is somewhere."""
    return {"city": city, "degrees": 20}


@mcp.tool
def picture() -> Image:
    """Draws nothing much."""
    return Image(data=b"\x89PNG\r\n\x1a\n", format="png")


@mcp.tool
def sound() -> Audio:
    """Plays half a second of silence."""
    kept = io.BytesIO()
    with wave.open(kept, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8000)
        file.writeframes(bytes(8000))
    return Audio(data=kept.getvalue(), format="wav")


@mcp.tool
def archive() -> File:
    """Packs nothing much."""
    return File(data=b"PK\x05\x06" + bytes(18), format="zip", name="nothing")


@mcp.tool
def fails() -> str:
    """Never works."""
    raise ValueError("This never works.")


@mcp.tool
async def counts(to: int, context: Context) -> str:
    """Counts, and says how far it is."""
    for number in range(to):
        await context.report_progress(number + 1, to, f"at {number + 1}")
        await asyncio.sleep(0.02)
    return "done"


@mcp.tool
async def sleeps(seconds: float, mark: str) -> str:
    """Sleeps and leaves a file; another one when it is cancelled."""
    try:
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        open(f"{mark}.cancelled", "w").close()
        raise
    open(mark, "w").close()
    return "slept"


@dataclass
class Person:
    name: str
    age: int


@mcp.tool
async def greets(context: Context):
    """Asks who is there, in the way of the era it is called in."""
    if context.request_context.protocol_version >= "2026":
        answers = context.input_responses
        if not answers:
            return who()
        answer = answers["who"]
        person = Person(**answer.content) if answer.action == "accept" else None
    else:
        answer = await context.elicit("Who are you?", Person)
        person = answer.data if answer.action == "accept" else None
    return f"Hello {person.name}, {person.age}!" if person else f"Hello whoever: {answer.action}."


def who() -> types.InputRequiredResult:
    properties = {"name": {"type": "string"}, "age": {"type": "integer"}}
    schema = {"type": "object", "properties": properties, "required": ["name", "age"]}
    params = types.ElicitRequestFormParams(message="Who are you?", requested_schema=schema)
    return types.InputRequiredResult(
        input_requests={"who": types.ElicitRequest(method="elicitation/create", params=params)},
        request_state="asked",
    )


for number in range(int(os.environ.get("MORE_TOOLS", "0"))):
    mcp.tool(add, name=f"more_{number}")


if __name__ == "__main__":
    transport = sys.argv[1]
    if transport == "stdio":
        mcp.run(transport="stdio", show_banner=False)
    else:
        middleware = [
            Middleware(
                CORSMiddleware,
                allow_origins=[origin],
                allow_methods=["*"],
                allow_headers=["*"],
                expose_headers=["mcp-session-id"],
            )
            for origin in sys.argv[3:]
        ]
        mcp.run(
            transport=transport,
            host="127.0.0.1",
            port=int(sys.argv[2]),
            middleware=middleware,
            show_banner=False,
        )
