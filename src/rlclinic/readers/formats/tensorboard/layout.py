"""Where things stand in one TensorBoard event: a careful walk over its protobuf bytes that decodes nothing.

The layout names the bytes of the wall time, the step and each scalar, so that one record can be read from it
and so can every other record that has the same layout. Offsets count from the start of the event.
"""

from __future__ import annotations

from dataclasses import field

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.readers.formats.protobuf import (
    BYTES,
    FIXED32,
    FIXED64,
    VARINT,
    Field,
    WireError,
    fields,
    varint,
)

Span = tuple[int, int]

# TensorProto: dtype -> (how one number is stored in tensor_content, field that lists numbers of this dtype)
_NUMERIC = {
    1: ("f4", 5),
    2: ("f8", 6),
    3: ("i4", 7),
    4: ("u1", 7),
    5: ("i2", 7),
    6: ("i1", 7),
    9: ("i8", 10),
    10: ("bool", 11),
    14: ("bfloat16", 13),
    17: ("u2", 7),
    19: ("f2", 13),
    22: ("u4", 16),
    23: ("u8", 17),
}
_STRING = 7  # dtype
_MAX_PARTS = 20_000  # names and skipped contents per event; bounds the memory that a small file can ask for
_FIXED_LISTS = {5: (FIXED32, 4), 6: (FIXED64, 8)}  # float_val and double_val; every other list holds varints
_SIZES = {"f4": 4, "f8": 8, "i4": 4, "u1": 1, "i2": 2, "i1": 1, "i8": 8, "bool": 1}
_SIZES |= {"bfloat16": 2, "u2": 2, "f2": 2, "u4": 4, "u8": 8}

# (field number, wire type)
_WALL_TIME, _STEP, _VERSION, _SUMMARY = (1, FIXED64), (2, VARINT), (3, BYTES), (5, BYTES)
_VALUE = (1, BYTES)
_TAG, _SIMPLE, _NODE, _TENSOR, _METADATA = (1, BYTES), (2, FIXED32), (7, BYTES), (8, BYTES), (9, BYTES)
_OTHER_KINDS = {(3, BYTES), (4, BYTES), (5, BYTES), (6, BYTES)}  # old histogram, image, histogram, audio
_PLUGIN, _PLUGIN_NAME, _PLUGIN_CONTENT = (1, BYTES), (1, BYTES), (2, BYTES)
_DTYPE, _SHAPE, _CONTENT, _STRING_VAL = (1, VARINT), (2, BYTES), (4, BYTES), (8, BYTES)
_DIM, _DIM_SIZE = (2, BYTES), (1, VARINT)


@dataclass(frozen=True, slots=True)
class Slot:
    """The bytes of one number: `kind` is its type, `varint` whether it is stored as a varint."""

    start: int
    size: int
    kind: str
    varint: bool = False


@dataclass(frozen=True, slots=True)
class ScalarAt:
    """A scalar: the bytes of its tag and of its value. Without a slot the value is 0 and was left out."""

    tag: Span
    slot: Slot | None


@dataclass(frozen=True, slots=True)
class StringsAt:
    """A tensor of strings, which is text if its plugin, or the one its tag had before, is `text`."""

    tag: Span
    plugin: bytes
    strings: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class HparamsAt:
    """A message of the hparams plugin."""

    tag: Span
    content: Span


@dataclass(slots=True)
class Layout:
    """Everything found in one event. `labels` are names, `ignored` are contents that are not read."""

    wall_time: Slot | None = None
    step: Slot | None = None
    has_version: bool = False
    scalars: list[ScalarAt] = field(default_factory=list)
    strings: list[StringsAt] = field(default_factory=list)
    hparams: list[HparamsAt] = field(default_factory=list)
    labels: list[Span] = field(default_factory=list)
    ignored: list[Span] = field(default_factory=list)

    def label(self, part: Field) -> None:
        """Note a name."""
        self.labels.append((part.start, part.end))
        self._check_size()

    def ignore(self, part: Field) -> None:
        """Note a content that is not read."""
        self.ignored.append((part.start, part.end))
        self._check_size()

    def _check_size(self) -> None:
        if len(self.labels) + len(self.ignored) > _MAX_PARTS:
            raise WireError("too many parts in one event")


def event_layout(event: bytes) -> Layout:
    """The layout of one event; raises WireError if it is not a protobuf message."""
    layout = Layout()
    for part in fields(event, 0, len(event)):
        key = part[:2]
        if key == _WALL_TIME:
            layout.wall_time = Slot(part.start, 8, "f8")
        elif key == _STEP:
            layout.step = Slot(part.start, part.end - part.start, "i8", varint=True)
        elif key == _SUMMARY:
            _summary(event, part, layout)
        elif part.wire == BYTES:
            layout.has_version |= key == _VERSION
            layout.ignore(part)
    return layout


def _summary(event: bytes, summary: Field, layout: Layout) -> None:
    for part in fields(event, summary.start, summary.end):
        if part[:2] == _VALUE:
            _value(event, part, layout)


def _value(event: bytes, value: Field, layout: Layout) -> None:
    tag: Span | None = None
    metadata = _Metadata()
    chosen: Field | None = None  # of a oneof the last member counts
    for part in fields(event, value.start, value.end):
        key = part[:2]
        if key == _TAG:
            tag = (part.start, part.end)
            layout.label(part)
        elif key == _METADATA:
            metadata = _metadata(event, part, layout)
        elif key in (_SIMPLE, _TENSOR):
            chosen = part
        elif key in _OTHER_KINDS:
            chosen = part
            layout.ignore(part)
        elif key == _NODE:
            layout.label(part)
    _content(event, tag, metadata, chosen, layout)


def _content(event: bytes, tag: Span | None, metadata: _Metadata, chosen: Field | None, layout: Layout) -> None:
    name = tag or (0, 0)
    if metadata.plugin == b"hparams":
        if metadata.content is not None:
            layout.hparams.append(HparamsAt(name, metadata.content))
    elif chosen is None:
        # A writer that leaves out default values writes a scalar of 0 as a bare tag.
        if tag is not None and metadata.plugin in (b"", b"scalars"):
            layout.scalars.append(ScalarAt(name, None))
    elif chosen[:2] == _SIMPLE:
        layout.scalars.append(ScalarAt(name, Slot(chosen.start, 4, "f4")))
    elif chosen[:2] == _TENSOR:
        _tensor(event, name, metadata, chosen, layout)


@dataclass(frozen=True, slots=True)
class _Metadata:
    plugin: bytes = b""
    content: Span | None = None


def _metadata(event: bytes, metadata: Field, layout: Layout) -> _Metadata:
    plugin, content = b"", None
    for part in fields(event, metadata.start, metadata.end):
        if part[:2] != _PLUGIN:
            if part.wire == BYTES:
                layout.label(part)
            continue
        for inner in fields(event, part.start, part.end):
            if inner[:2] == _PLUGIN_NAME:
                plugin = event[inner.start : inner.end]
            elif inner[:2] == _PLUGIN_CONTENT:
                content = (inner.start, inner.end)
                layout.label(inner)
    return _Metadata(plugin, content)


def _tensor(event: bytes, tag: Span, metadata: _Metadata, tensor: Field, layout: Layout) -> None:
    dtype, shape = 0, (0, 0)
    for part in fields(event, tensor.start, tensor.end):
        if part[:2] == _DTYPE:
            dtype = part.varint
        elif part[:2] == _SHAPE:
            shape = (part.start, part.end)
    if dtype in _NUMERIC and _is_scalar(event, shape, metadata.plugin):
        _number(event, tag, dtype, tensor, layout)
        return
    strings: list[Span] = []
    for part in fields(event, tensor.start, tensor.end):
        if part.wire == BYTES and part[:2] != _SHAPE:
            layout.ignore(part)
            if part[:2] == _STRING_VAL:
                strings.append((part.start, part.end))
    if dtype == _STRING and metadata.plugin in (b"", b"text"):
        layout.strings.append(StringsAt(tag, metadata.plugin, tuple(strings)))


def _is_scalar(event: bytes, shape: Span, plugin: bytes) -> bool:
    """No dimensions, or dimensions of size 1 in what calls itself a scalar or nothing at all."""
    for part in fields(event, *shape):
        if part[:2] != _DIM:
            continue
        sizes = [inner.varint for inner in fields(event, part.start, part.end) if inner[:2] == _DIM_SIZE]
        if sizes[-1:] != [1] or plugin not in (b"", b"scalars"):
            return False
    return True


def _number(event: bytes, tag: Span, dtype: int, tensor: Field, layout: Layout) -> None:
    """Note the single number of a tensor; one that claims to be a scalar and holds several is left out."""
    kind, list_field = _NUMERIC[dtype]
    found: list[Slot] = []
    for part in fields(event, tensor.start, tensor.end):
        size = part.end - part.start
        if part[:2] == _CONTENT and size:
            if size != _SIZES[kind]:
                return
            found.append(Slot(part.start, size, kind))
        elif part.number == list_field:
            found.extend(_listed(event, part, kind))
        if len(found) > 1:
            return
    layout.scalars.append(ScalarAt(tag, found[0] if found else None))


def _listed(event: bytes, part: Field, kind: str) -> list[Slot]:
    """The numbers of a list field, packed or not; reading stops at the second, which is one too many."""
    wire, size = _FIXED_LISTS.get(part.number, (VARINT, 0))
    if part.wire not in (BYTES, wire):
        return []
    slots: list[Slot] = []
    position = part.start
    while position < part.end and len(slots) < 2:
        end = position + size if size else varint(event, position, part.end)[1]
        if end > part.end:
            raise WireError("list of numbers ends within a number")
        slots.append(Slot(position, end - position, kind, varint=not size))
        position = end
    return slots
