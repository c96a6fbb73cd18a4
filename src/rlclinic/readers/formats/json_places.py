"""Where the keys and values of a JSON text stand."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Literal

from rlclinic.model.lazy_dataclass import dataclass

_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Place:
    """One key, one scalar, or the opening or the end of an object or array."""

    kind: Literal["key", "open", "close", "scalar"]
    path: tuple[str | int, ...]
    start: int
    """In characters; of `close` that of the bracket which it closes."""
    end: int


def json_places(text: str) -> Iterator[Place]:
    """All places in the order of the text. The text is known to be valid, so the scan only has to keep count."""
    path: list[str | int] = []
    starts: list[int] = []
    awaits_key = False
    for match in _TOKEN.finditer(text):
        token, start, end = match.group(), match.start(), match.end()
        first = token[0]
        if first in "{[":
            yield Place("open", tuple(path), start, end)
            starts.append(start)
            path.append("" if first == "{" else 0)
            awaits_key = first == "{"
        elif first in "}]":
            path.pop()
            awaits_key = False
            yield Place("close", tuple(path), starts.pop(), end)
        elif first == ",":
            last = path[-1]
            awaits_key = isinstance(last, str)
            if isinstance(last, int):
                path[-1] = last + 1
        elif first == ":":
            continue
        elif awaits_key:
            path[-1] = _key(token)
            awaits_key = False
            yield Place("key", tuple(path), start, end)
        else:
            yield Place("scalar", tuple(path), start, end)


def _key(token: str) -> str:
    if "\\" not in token:
        return token[1:-1]
    return str(json.loads(token)).encode("utf-8", "replace").decode()
