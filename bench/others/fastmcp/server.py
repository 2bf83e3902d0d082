"""The benchmark's tool as a minimal FastMCP server: `server.py PORT` or `server.py stdio`."""

import sys
from dataclasses import dataclass
from typing import Annotated

from fastmcp import FastMCP
from pydantic import Field

mcp = FastMCP("fixture", version="0.1.0")


@dataclass
class Sum:
    sum: int


@mcp.tool(title="Sum", description="Adds two integers.")
def fixture_sum(
    a: Annotated[int, Field(description="One number.")],
    b: Annotated[int, Field(description="The other number.")],
) -> Sum:
    return Sum(a + b)


if sys.argv[1] == "stdio":
    mcp.run(transport="stdio", show_banner=False)
else:
    mcp.run(
        transport="http",
        host="127.0.0.1",
        port=int(sys.argv[1]),
        stateless_http=True,
        json_response=True,
        show_banner=False,
        log_level="ERROR",
    )
