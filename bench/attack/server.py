"""The real MCP server with the real client."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mcp.client.stdio import StdioServerParameters
from tests.apps.mcp.talk import Talk, text_of

from bench.attack.command import COMMAND, environment


@contextmanager
def served(place: Path) -> Iterator[Talk]:
    """A server whose root and working folder is the place."""
    words = [*COMMAND[1:], "mcp", "--root", str(place)]
    talk = Talk(StdioServerParameters(command=sys.executable, args=words, env=environment(place), cwd=place))
    try:
        yield talk
    finally:
        talk.close()


def answer(talk: Talk, tool: str, **arguments: object) -> str:
    """Everything that a call tells, refused or not."""
    result = talk.call(tool, **arguments)
    return f"{text_of(result)}\n{result.structured_content}"
