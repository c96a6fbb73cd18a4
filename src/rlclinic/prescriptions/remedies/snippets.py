"""Code to paste, in the user's framework where the way differs: snippets/<name>.<framework>.txt, else <name>.txt."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

# Frameworks that share a way of writing.
SAME_AS = {"sb3-zoo": "sb3", "rlclinic": "sb3"}


def snippet(name: str, framework_id: str) -> str:
    """The snippet's text, without a line end; empty where there is no such snippet."""
    return _text(f"{name}.{SAME_AS.get(framework_id, framework_id)}") or _text(name)


@cache
def _text(stem: str) -> str:
    entry = files(__package__).joinpath("snippets", f"{stem}.txt")
    return entry.read_text(encoding="utf-8").rstrip("\n") if entry.is_file() else ""
