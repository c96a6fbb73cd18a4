"""Values of a W&B log as a tree: decoding their JSON, setting and removing leaves, finding numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rlclinic.readers.formats.errors import FormatError
from rlclinic.readers.formats.safe_json import load_json_data

INVALID = object()  # stands for text that is no acceptable JSON
MEDIA_KEY = "_type"  # marks images, tables and histograms among the values of a row


def load(text: bytes) -> object:
    """Decode JSON text, or return INVALID."""
    try:
        return load_json_data(text.decode("utf-8", "replace"))
    except FormatError:
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
            yield name, float(child)
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
