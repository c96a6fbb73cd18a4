"""Python string literals as `repr` and `pprint` print them: quotes, prefixes, escapes, adjacent pieces."""

from __future__ import annotations

import re
import unicodedata

_PREFIX = r"(?P<prefix>[bBrRuUfF]{0,2})"
_STRING = re.compile(
    _PREFIX + r"(?:'(?P<single>[^'\\\n]*+(?:\\.[^'\\\n]*+)*+)'|\"(?P<double>[^\"\\\n]*+(?:\\.[^\"\\\n]*+)*+)\")",
    re.DOTALL,
)
_NEXT = re.compile(r"\s*+(?=[bBrRuUfF]{0,2}['\"])")
_ESCAPE = re.compile(
    r"\\(?:(?P<simple>[\\'\"abfnrtv\n])|x(?P<hex>[0-9a-fA-F]{2})|u(?P<short>[0-9a-fA-F]{4})"
    r"|U(?P<long>[0-9a-fA-F]{8})|N\{(?P<name>[^}]{1,80})\}|(?P<octal>[0-7]{1,3}))"
)
_SIMPLE = {
    "\\": "\\", "'": "'", '"': '"', "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "\n": "",
}  # fmt: skip


def read_string(text: str, start: int) -> tuple[str, int] | None:
    """The string that begins at `start`, joined with the pieces that follow it, and where it ends."""
    pieces: list[str] = []
    end = start
    found = _STRING.match(text, start)
    while found is not None:
        pieces.append(_value(found))
        end = found.end()
        gap = _NEXT.match(text, end)
        found = None if gap is None else _STRING.match(text, gap.end())
    return ("".join(pieces), end) if pieces else None


def _value(found: re.Match[str]) -> str:
    body = found["single"] if found["single"] is not None else found["double"]
    if "\\" not in body or "r" in found["prefix"].lower():
        return body
    # Half a surrogate pair cannot be written to any file again.
    return _ESCAPE.sub(_unescaped, body).encode("utf-8", "replace").decode()


def _unescaped(found: re.Match[str]) -> str:
    if found["simple"] is not None:
        return _SIMPLE[found["simple"]]
    if found["octal"] is not None:
        return chr(int(found["octal"], 8))
    if found["name"] is not None:
        try:
            return unicodedata.lookup(found["name"])
        except KeyError:
            return found.group()
    code = int(found["hex"] or found["short"] or found["long"], 16)
    return chr(code) if code <= 0x10FFFF else found.group()
