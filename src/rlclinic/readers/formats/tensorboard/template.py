"""Reading many events at once that differ only in their numbers.

A training run writes the same few events over and over: the same tags, the same widths, other numbers. One
event is walked with care; its layout becomes a template, and all events of the same length that agree with it
in every byte that steers the walk are then read by columns, checksums included.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.readers.formats.tensorboard.crc32c import crc32c, crc_terms
from rlclinic.readers.formats.tensorboard.layout import Layout, Slot, Span
from rlclinic.readers.formats.tensorboard.numbers import integer_column, number_column

WORD = 8  # bytes compared at once; rows are filled up to whole words at their front

U8 = NDArray[np.uint8]
U64 = NDArray[np.uint64]
I64 = NDArray[np.int64]
F64 = NDArray[np.float64]

_HASH = np.uint64(0x9E37_79B9_7F4A_7C15)  # odd, bits well spread: the golden ratio
_HASH_BITS = np.uint64(48)  # shifted away, so that 16 remain, which numpy sorts by radix


@dataclass(frozen=True, slots=True)
class Template:
    """A layout with masks over a row: bytes that must agree, bytes of names, and bytes that may differ."""

    layout: Layout
    fill: int  # bytes before the event in a row
    example: bytes
    steering: bytes  # mask
    naming: bytes  # mask
    free: tuple[int, ...]  # columns

    def fits(self, row: bytes) -> bool:
        """Whether one row can be read with this template."""
        whole = int.from_bytes(row, "little") ^ int.from_bytes(self.example, "little")
        return whole & int.from_bytes(self.steering, "little") == 0

    def fitting(self, words: U64) -> NDArray[np.bool_]:
        """Which rows can be read with this template."""
        example = np.frombuffer(self.example, np.uint64)
        steering = np.frombuffer(self.steering, np.uint64)
        differs = np.zeros(words.shape[0], np.uint64)
        for column in np.flatnonzero(steering):
            differs |= (words[:, column] ^ example[column]) & steering[column]
        fits: NDArray[np.bool_] = differs == 0
        return fits


@dataclass(frozen=True, slots=True)
class Rows:
    """Events of one length, right-aligned in rows of whole words; `ids` says which record each row is."""

    ids: I64
    bytes: U8
    checksums: NDArray[np.uint32]

    @property
    def words(self) -> U64:
        """The same bytes as 8-byte words."""
        return self.bytes.view(np.uint64)

    def __getitem__(self, chosen: NDArray[np.int64] | NDArray[np.bool_]) -> Rows:
        void = self.bytes.view(f"V{self.bytes.shape[1]}")[:, 0]
        picked = void[chosen].view(np.uint8).reshape(-1, self.bytes.shape[1])
        return Rows(self.ids[chosen], picked, self.checksums[chosen])


@dataclass(frozen=True, slots=True)
class ScalarRows:
    """One scalar of each row. Rows with the same tag stand together: `tags` and how many rows each has."""

    tags: list[bytes]
    counts: I64
    values: F64


@dataclass(frozen=True, slots=True)
class Decoded:
    """What a template read: which records, their times, their scalars; and records with a wrong checksum."""

    ids: I64
    wall_times: F64 | None
    steps: I64
    scalars: list[ScalarRows]
    broken: I64


def gather(data: bytes, ids: I64, starts: I64, length: int, checksums: NDArray[np.uint32]) -> Rows:
    """Copy events of one length into rows. What fills a row up is the end of the record's own header."""
    width = -(-length // WORD) * WORD
    windows = np.ndarray((len(data) - width + 1,), f"V{width}", data, strides=(1,))
    rows = windows[starts + (length - width)].view(np.uint8).reshape(-1, width)
    return Rows(ids, rows, checksums)


def make_template(layout: Layout, row: bytes, fill: int) -> Template | None:
    """The template of a row with this layout, or None if it holds more than numbers."""
    if layout.strings or layout.hparams:
        return None
    steering = bytearray(len(row))
    steering[fill:] = b"\xff" * (len(row) - fill)
    naming = bytearray(len(row))
    slots = [layout.wall_time, layout.step, *(scalar.slot for scalar in layout.scalars)]
    for slot in filter(None, slots):
        _paint(steering, (slot.start, slot.start + slot.size), fill, 0x80 if slot.varint else 0)
    for span in layout.ignored:
        _paint(steering, span, fill, 0)
    for span in layout.labels:
        _paint(steering, span, fill, 0)
        _paint(naming, span, fill, 0xFF)
    free = tuple(i for i in range(fill, len(row)) if steering[i] != 0xFF and not naming[i])
    return Template(layout, fill, row, bytes(steering), bytes(naming), free)


def decode(template: Template, rows: Rows) -> Decoded:
    """Read all rows; every one of them must fit the template."""
    rows, firsts = _by_name(template, rows)
    intact = _checksums(template, rows, firsts) == rows.checksums
    broken = rows.ids[~intact]
    counts = np.add.reduceat(intact, firsts, dtype=np.int64)
    names = [rows.bytes[first, template.fill :].tobytes() for first in firsts]
    if broken.size:
        rows = rows[intact]
        names = [name for name, count in zip(names, counts, strict=True) if count]
        counts = counts[counts > 0]
    layout = template.layout
    walls = None if layout.wall_time is None else number_column(rows.bytes, _moved(layout.wall_time, template))
    scalars = [
        ScalarRows(
            [name[scalar.tag[0] : scalar.tag[1]] for name in names],
            counts,
            number_column(rows.bytes, _moved(scalar.slot, template)),
        )
        for scalar in layout.scalars
    ]
    steps = integer_column(rows.bytes, _moved(layout.step, template))
    return Decoded(rows.ids, walls, steps, scalars, broken)


def _by_name(template: Template, rows: Rows) -> tuple[Rows, I64]:
    """Bring rows with the same names together, in file order among themselves; and where each name starts."""
    naming = np.frombuffer(template.naming, np.uint64)
    columns = np.flatnonzero(naming)
    key = np.zeros(rows.ids.size, np.uint64)
    for column in columns:
        key = (key ^ (rows.words[:, column] & naming[column])) * _HASH
    short = (key >> _HASH_BITS).astype(np.uint16)
    if (short != short[0]).any():
        rows = rows[np.argsort(short, kind="stable")]
    changes = np.zeros(rows.ids.size, np.bool_)
    changes[0] = True
    for column in columns:
        names = rows.words[:, column] & naming[column]
        changes[1:] |= names[1:] != names[:-1]
    return rows, np.flatnonzero(changes)


def _checksums(template: Template, rows: Rows, firsts: I64) -> NDArray[np.uint32]:
    """The checksum of each row: that of the first row with its names, changed by the bytes that differ."""
    counts = np.diff(firsts, append=rows.ids.size)
    width = rows.bytes.shape[1]
    models = [crc32c(rows.bytes[first, template.fill :].tobytes()) for first in firsts]
    result = np.repeat(np.array(models, np.uint32), counts)
    for column in template.free:
        differs = rows.bytes[:, column] ^ np.repeat(rows.bytes[firsts, column], counts)
        if differs.any():
            result ^= crc_terms(differs, width - 1 - column)
    return result


def _moved(slot: Slot | None, template: Template) -> Slot | None:
    return slot and Slot(slot.start + template.fill, slot.size, slot.kind, varint=slot.varint)


def _paint(mask: bytearray, span: Span, fill: int, value: int) -> None:
    mask[fill + span[0] : fill + span[1]] = bytes([value]) * (span[1] - span[0])
