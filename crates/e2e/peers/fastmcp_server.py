"""A FastMCP server over stdio, speaking both eras: adds, fails on demand, counts what it was asked."""

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError

server = FastMCP("e2e-fastmcp")
asked = 0
tries = 0


@server.tool
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    global asked
    asked += 1
    return a + b


@server.tool
def divide(a: int, b: int) -> float:
    """Divides; by zero it fails."""
    global asked
    asked += 1
    if b == 0:
        raise ToolError("division by zero")
    return a / b


@server.tool
def flaky() -> str:
    """Fails the first time, works the second."""
    global asked, tries
    asked += 1
    tries += 1
    if tries % 2 == 1:
        raise ToolError("not yet")
    return "now"


@server.tool
def count() -> int:
    """How many calls reached this server."""
    return asked


server.run(transport="stdio", show_banner=False)
