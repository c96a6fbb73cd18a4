"""Rows of a W&B log as columns: messages full of items in, one numeric column per key out."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.readers.formats.protobuf import BYTES, WireError, fields
from rlclinic.readers.formats.wandb import values as wandb_json
from rlclinic.readers.formats.wandb.distinct import distinct
from rlclinic.readers.formats.wandb.items import ItemTable, numbers, read_item, read_items
from rlclinic.readers.formats.wandb.protobuf_lanes import Buffer, Floats, Ints, walk

MAX_COLUMNS = 20_000  # metrics of one run; also keeps column numbers in 16 bits, which numpy sorts fastest
_MEDIA_SUFFIX = "." + wandb_json.MEDIA_KEY
_REFUSED, _MALFORMED = -1, -2  # in place of a column number
_Cell = tuple[int, int, int, float]  # column, row, position, value


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """One metric: the rows that have it (ascending) and their values."""

    rows: Ints
    values: Floats


class Columns:
    """Collects rows, chunk after chunk.

    `item_field` is the number of the field that holds the items of a message. The parts of a nested key are
    joined with dots, as in W&B's own interface. Where a row has a name twice, the later one counts.
    """

    def __init__(self, *, item_field: int, min_lanes: int) -> None:
        self.rows = 0
        self.malformed = 0
        self.too_many = False
        self._item_field = item_field
        self._min_lanes = min_lanes
        self._spans: dict[bytes, int] = {}
        self._names: dict[str, int] = {}
        self._parts: list[list[tuple[Ints, Floats]]] = []

    def add(self, buffer: Buffer, starts: Ints, ends: Ints) -> None:
        """Append one row per message."""
        table = walk(buffer.words, starts, ends, min_lanes=self._min_lanes)
        chosen = np.flatnonzero(table.tag == (self._item_field << 3 | BYTES))
        rows, start, end = table.lane[chosen], table.start[chosen], table.end[chosen]
        items = read_items(buffer, start, end)
        value_start = np.where(items.regular, items.start, 0)
        common = items.regular & (buffer.bytes[value_start] != ord("{"))
        plain = np.flatnonzero(~table.regular)
        cells = self._read_messages(buffer.raw, plain, starts[plain], ends[plain])
        if not common.all():
            odd = np.flatnonzero(~common)
            cells += self._read_items(buffer.raw, rows[odd], start[odd], end[odd])
            items, rows = items.only(common), rows[common]
        self._store(buffer, items, rows, cells)
        self.rows += starts.size

    def finish(self) -> dict[str, Column]:
        """The columns by name; what describes media (images, tables, histograms) is left out."""
        media = {name.removesuffix(_MEDIA_SUFFIX) for name in self._names if name.endswith(_MEDIA_SUFFIX)}
        return {
            name: _column(self._parts[number])
            for name, number in self._names.items()
            if self._parts[number] and not (media and _inside(name, media))
        }

    def _read_messages(self, raw: bytes, rows: Ints, starts: Ints, ends: Ints) -> list[_Cell]:
        """Messages that are not regular, one by one; what precedes a malformed place is kept."""
        cells: list[_Cell] = []
        for row, start, end in zip(rows.tolist(), starts.tolist(), ends.tolist(), strict=True):
            try:
                for found in fields(raw, start, end):
                    if found.number == self._item_field and found.wire == BYTES:
                        cells += self._read_item(raw, row, found.start, found.end)
            except WireError:
                self.malformed += 1
        return cells

    def _read_items(self, raw: bytes, rows: Ints, starts: Ints, ends: Ints) -> list[_Cell]:
        spans = zip(rows.tolist(), starts.tolist(), ends.tolist(), strict=True)
        return [cell for row, start, end in spans for cell in self._read_item(raw, row, start, end)]

    def _read_item(self, raw: bytes, row: int, start: int, end: int) -> Iterator[_Cell]:
        item = read_item(raw, start, end)
        if item is None:
            self.malformed += 1
            return
        name = ".".join(item.path)
        column = self._by_name(name)
        if item.number is not None:
            yield column, row, start, item.number
        elif item.json.startswith(b"{"):
            value = wandb_json.load(item.json)
            if not isinstance(value, dict):
                self.malformed += 1
                return
            for leaf, number in wandb_json.numbers(name, value):
                yield self._by_name(leaf), row, start, number

    def _by_name(self, name: str) -> int:
        """The number of a column; negative for names beyond the limit."""
        number = self._names.get(name)
        if number is not None:
            return number
        if len(self._names) >= MAX_COLUMNS:
            self.too_many = True
            return _REFUSED
        self._parts.append([])
        return self._names.setdefault(name, len(self._names))

    def _by_span(self, span: bytes) -> int:
        """The number of a column from the bytes of an item's key fields."""
        number = self._spans.get(span)
        if number is not None:
            return number
        item = read_item(span, 0, len(span))
        number = _MALFORMED if item is None else self._by_name(".".join(item.path))
        if len(self._spans) < MAX_COLUMNS:
            self._spans[span] = number
        return number

    def _store(self, buffer: Buffer, items: ItemTable, rows: Ints, cells: list[_Cell]) -> None:
        which, firsts = distinct(buffer, items.key_start, items.key_end)
        spans = zip(items.key_start[firsts].tolist(), items.key_end[firsts].tolist(), strict=True)
        column = np.array([self._by_span(buffer.raw[a:b]) for a, b in spans], np.int64)[which]
        self.malformed += int((column == _MALFORMED).sum())
        values, good = numbers(buffer, items)
        column = np.where(good, column, _REFUSED)
        if cells:
            more = list(zip(*cells, strict=True))
            column = np.append(column, np.array(more[0], np.int64))
            rows = np.append(rows, np.array(more[1], np.int64))
            position = np.append(items.key_start, np.array(more[2], np.int64))
            values = np.append(values, np.array(more[3], np.float64))
            order = np.lexsort((position, rows))
            column, rows, values = column[order], rows[order], values[order]
        self._append(column, rows + self.rows, values)

    def _append(self, column: Ints, rows: Ints, values: Floats) -> None:
        """Sort cells, which come row by row, into their columns."""
        order = np.argsort(column.astype(np.int16), kind="stable")
        column = column[order]
        order = order[np.searchsorted(column, 0) :]
        column = column[column.size - order.size :]
        rows, values = rows[order], values[order]
        edges = np.flatnonzero(np.diff(column, prepend=-1, append=-1)).tolist()
        for a, b in pairwise(edges):
            self._parts[column[a]].append((rows[a:b], values[a:b]))


def _column(parts: list[tuple[Ints, Floats]]) -> Column:
    rows, values = (np.concatenate(part) for part in zip(*parts, strict=True))
    last = np.diff(rows, append=-1) != 0
    return Column(rows, values) if last.all() else Column(rows[last], values[last])


def _inside(name: str, media: set[str]) -> bool:
    """Whether a prefix of a dotted name is a media object."""
    return any(name[:at] in media for at, letter in enumerate(name) if letter == ".")
