"""JSON text from an untrusted log: bounded depth, no lone surrogates, no exceptions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

MAX_DEPTH = 32  # levels of nesting; no config or summary of a training run comes near
INVALID = object()  # stands for text that is no acceptable JSON
MEDIA_KEY = "_type"  # marks images, tables and histograms among the values of a row


def load(text: bytes) -> object:
    """Decode JSON text, or return INVALID."""
    try:
        return _bounded(json.loads(text.decode("utf-8", "replace")), MAX_DEPTH)
    except (ValueError, RecursionError):
        return INVALID


def numbers(path: str, value: Mapping[str, object]) -> Iterator[tuple[str, float]]:
    """The numeric leaves of an object, named with dots; media objects have none."""
    if MEDIA_KEY in value:
        return
    for key, child in value.items():
        name = f"{path}.{key}"
        if isinstance(child, Mapping):
            yield from numbers(name, child)
        elif isinstance(child, int | float):
            yield name, _float(child)
        elif child in ("NaN", "Infinity", "-Infinity"):
            yield name, float(str(child))


def put(tree: dict[str, object], path: tuple[str, ...], value: object) -> None:
    """Set the leaf at `path`; whatever stands in its way is replaced."""
    for part in path[:-1]:
        child = tree.get(part)
        if not isinstance(child, dict):
            child = tree[part] = {}
        tree = child
    tree[path[-1]] = value


def drop(tree: dict[str, object], path: tuple[str, ...]) -> None:
    """Remove the leaf at `path` if it is there."""
    for part in path[:-1]:
        child = tree.get(part)
        if not isinstance(child, dict):
            return
        tree = child
    tree.pop(path[-1], None)


def _float(value: int | float) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def _bounded(value: object, depth: int) -> object:
    if depth < 0:
        raise ValueError("JSON nested too deeply")
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, dict):
        return {_text(key): _bounded(child, depth - 1) for key, child in value.items()}
    if isinstance(value, list):
        return [_bounded(child, depth - 1) for child in value]
    return value


def _text(value: str) -> str:
    """JSON can escape half of a surrogate pair, which no encoder takes."""
    return value.encode("utf-8", "replace").decode("utf-8")
