"""One value of a JSON text replaced or added in place."""

from __future__ import annotations

import json
import re
from dataclasses import field

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.prescriptions.edit.edits import Path, Refused, dotted
from rlclinic.prescriptions.syntax.spelling import json_text
from rlclinic.readers.formats.errors import FormatError
from rlclinic.readers.formats.json_places import json_places
from rlclinic.readers.formats.safe_json import load_json_data

# Characters; configs have kilobytes.
MAX_CHARS = 8 << 20


@dataclass(slots=True)
class _Object:
    """An object in the text: where its last pair is."""

    start: int
    key_start: int | None = None
    value_end: int | None = None


@dataclass(slots=True)
class _Layout:
    spans: dict[Path, tuple[int, int]] = field(default_factory=dict)
    objects: dict[Path, _Object] = field(default_factory=dict)
    twice: set[Path] = field(default_factory=set)


def load(text: str) -> object:
    """The data."""
    if len(text) > MAX_CHARS:
        raise Refused(f"{len(text)} characters of JSON are more than a config has ({MAX_CHARS})")
    try:
        return load_json_data(text)
    except FormatError as error:
        raise Refused(f"not JSON: {error}") from None


def replace(text: str, path: Path, found: object, after: object) -> str:
    """The text with another value at the path."""
    layout = _scan(text)
    if path in layout.twice:
        raise Refused(f"{dotted(path)} is given twice")
    start, end = layout.spans[path]
    return text[:start] + json_text(after) + text[end:]


def insert(text: str, path: Path, after: object) -> str:
    """The text with a new last key in an object that is there."""
    layout = _scan(text)
    place = layout.objects.get(path[:-1])
    if place is None or path[:-1] in layout.twice:
        raise Refused(f"there is no place for {dotted(path)} in this file")
    pair = f"{json.dumps(str(path[-1]))}: {json_text(after)}"
    if place.key_start is None or place.value_end is None:
        return text[: place.start + 1] + pair + text[place.start + 1 :]
    before_key = re.search(r"(\r?\n[ \t]*)?$", text[: place.key_start])
    gap = before_key.group(1) if before_key and before_key.group(1) else " "
    return f"{text[: place.value_end]},{gap}{pair}{text[place.value_end :]}"


def _scan(text: str) -> _Layout:
    """Spans of all values."""
    layout = _Layout()
    for place in json_places(text):
        if place.kind == "key":
            layout.objects[place.path[:-1]].key_start = place.start
        elif place.kind != "open":
            _value(layout, place.path, place.start, place.end)
        elif text[place.start] == "{":
            layout.objects[place.path] = _Object(place.start)
    return layout


def _value(layout: _Layout, path: Path, start: int, end: int) -> None:
    if path in layout.spans:
        layout.twice.add(path)
    layout.spans[path] = start, end
    if path and isinstance(path[-1], str) and path[:-1] in layout.objects:
        layout.objects[path[:-1]].value_end = end
