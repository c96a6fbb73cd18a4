"""Text summaries of an event file, and the hyperparameters that the hparams plugin stores beside them."""

from __future__ import annotations

import json
import struct
from dataclasses import field

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.readers.formats.protobuf import BYTES, FIXED64, VARINT, WireError, fields
from rlclinic.readers.formats.tensorboard.layout import HparamsAt, Span, StringsAt

_MAX_DEPTH = 20  # levels of lists and structs inside one hyperparameter; deeper ones are read as None
_MAX_BYTES = 1 << 20  # of one hparams message; real ones have some kilobytes, longer ones are left out
_STATUS = {0: "unknown", 1: "success", 2: "failure", 3: "running"}

# (field number, wire type)
_SESSION_START, _SESSION_END, _HPARAM = (3, BYTES), (4, BYTES), (1, BYTES)
_END_STATUS = (1, VARINT)
_KEY, _ENTRY_VALUE = (1, BYTES), (2, BYTES)
_NUMBER, _STRING, _BOOL, _STRUCT, _LIST = (2, FIXED64), (3, BYTES), (4, VARINT), (5, BYTES), (6, BYTES)


@dataclass(frozen=True, slots=True)
class TextEntry:
    """One text summary; several strings in one are joined by line breaks."""

    tag: str
    step: int
    wall_time: float
    text: str


@dataclass(slots=True)
class TextCollector:
    """Collects the texts and hyperparameters of events, given in file order."""

    texts: list[TextEntry] = field(default_factory=list)
    hparams: dict[str, object] = field(default_factory=dict)
    _plugins: dict[bytes, bytes] = field(default_factory=dict)

    def add_strings(self, event: bytes, found: StringsAt, step: int, wall_time: float) -> None:
        """Keep strings that are text. Writers may name the plugin only the first time a tag is used."""
        tag = _cut(event, found.tag)
        plugin = self._plugins.setdefault(tag, found.plugin)
        if plugin not in (b"", b"text"):
            return
        text = "\n".join(_text(event, string) for string in found.strings)
        self.texts.append(TextEntry(_text(event, found.tag), step, wall_time, text))

    def add_hparams(self, event: bytes, found: HparamsAt, step: int, wall_time: float) -> None:
        """Keep hyperparameters, and as text what a session said at its start and at its end."""
        said: dict[str, object] = {}
        if found.content[1] - found.content[0] > _MAX_BYTES:
            return
        try:
            for part in fields(event, *found.content):
                if part[:2] == _SESSION_START:
                    said = _session_start(event, (part.start, part.end))
                    self.hparams.update(said)
                elif part[:2] == _SESSION_END:
                    said = _session_end(event, (part.start, part.end))
        except WireError:
            return
        if said:
            text = json.dumps(said, ensure_ascii=False)
            self.texts.append(TextEntry(_text(event, found.tag), step, wall_time, text))


def _session_start(event: bytes, span: Span) -> dict[str, object]:
    entries = [part for part in fields(event, *span) if part[:2] == _HPARAM]
    return dict(_entry(event, (entry.start, entry.end), 0) for entry in entries)


def _session_end(event: bytes, span: Span) -> dict[str, object]:
    status = [part.varint for part in fields(event, *span) if part[:2] == _END_STATUS]
    return {"status": _STATUS.get(status[-1] if status else 0, "unknown")}


def _entry(event: bytes, span: Span, depth: int) -> tuple[str, object]:
    """One entry of a map from names to google.protobuf.Value."""
    key, value = "", None
    for part in fields(event, *span):
        if part[:2] == _KEY:
            key = _text(event, (part.start, part.end))
        elif part[:2] == _ENTRY_VALUE:
            value = _value(event, (part.start, part.end), depth)
    return key, value


def _value(event: bytes, span: Span, depth: int) -> object:
    """A google.protobuf.Value: null, number, string, bool, struct or list; of several the last counts."""
    value: object = None
    for part in fields(event, *span):
        inner = (part.start, part.end)
        key = part[:2]
        if key == _NUMBER:
            value = struct.unpack("<d", _cut(event, inner))[0]
        elif key == _STRING:
            value = _text(event, inner)
        elif key == _BOOL:
            value = bool(part.varint)
        elif key in (_STRUCT, _LIST) and depth < _MAX_DEPTH:
            items = [(item.start, item.end) for item in fields(event, *inner) if item[:2] == (1, BYTES)]
            if key == _STRUCT:
                value = dict(_entry(event, item, depth + 1) for item in items)
            else:
                value = [_value(event, item, depth + 1) for item in items]
        else:
            value = None
    return value


def _text(event: bytes, span: Span) -> str:
    return _cut(event, span).decode("utf-8", "replace")


def _cut(event: bytes, span: Span) -> bytes:
    return event[span[0] : span[1]]
