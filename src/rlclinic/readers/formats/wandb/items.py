"""Key-value items of W&B records: history, summary and system statistics all are lists of them.

read_item() reads one item and defines what an item means. read_items() finds key and value of many items at
once and marks as not regular whatever is not of the common form; that is left to read_item().
"""

from __future__ import annotations

import struct

import numpy as np

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.readers.formats.protobuf import BYTES, FIXED64, VARINT, Field, WireError, fields, text, zigzag
from rlclinic.readers.formats.wandb import decimals
from rlclinic.readers.formats.wandb.protobuf_lanes import Bools, Buffer, Floats, Ints, Words, step

KEY, NESTED_KEY, NONE, BOOLEAN, INTEGER, NUMBER, TEXT, JSON, VALUE_JSON = 1, 2, 3, 4, 5, 6, 7, 8, 16
MAX_PARTS = 64  # nesting of one key
SPECIAL = {b"NaN": float("nan"), b"Infinity": float("inf"), b"-Infinity": float("-inf")}
SPECIAL |= {b'"' + word + b'"': value for word, value in SPECIAL.items()}
SPECIAL |= {b"true": 1.0, b"false": 0.0}

KEY_TAG, NESTED_TAG, JSON_TAG = KEY << 3 | BYTES, NESTED_KEY << 3 | BYTES, VALUE_JSON << 3 | BYTES
NUMBER_TAG, INTEGER_TAG, BOOLEAN_TAG = NUMBER << 3 | FIXED64, INTEGER << 3 | VARINT, BOOLEAN << 3 | VARINT
_FIRST_BYTES = np.array([2 ** (8 * n) - 1 for n in range(9)], np.uint64)  # masks for the first n bytes of a word
_SPECIAL_STARTS = np.isin(np.arange(256), sorted({word[0] for word in SPECIAL}))
_NUMBER_STARTS = np.isin(np.arange(256), list(decimals.NUMBER_BYTES))


@dataclass(frozen=True, slots=True)
class Item:
    """One item: its path of keys, and its value as JSON text (empty for typed scalars) and as a number."""

    path: tuple[str, ...]
    json: bytes
    number: float | None


@dataclass(frozen=True, slots=True)
class ItemTable:
    """Where key and value of each item are; rows that are not regular mean nothing."""

    key_start: Ints
    key_end: Ints
    tag: Ints  # of the value: what it is written as
    start: Ints  # of the value
    end: Ints
    regular: Bools

    def only(self, keep: Ints | Bools) -> ItemTable:
        """The chosen items."""
        return ItemTable(
            self.key_start[keep],
            self.key_end[keep],
            self.tag[keep],
            self.start[keep],
            self.end[keep],
            self.regular[keep],
        )


def read_item(data: bytes, start: int, end: int) -> Item | None:
    """Read one item; None if it has no key or is malformed. A typed value counts before a JSON one."""
    key: list[str] = []
    nested: list[str] = []
    json, number, typed = b"", None, False
    try:
        for field in fields(data, start, end):
            if field.wire == BYTES and field.number == KEY:
                key = [text(data, field)]
            elif field.wire == BYTES and field.number == NESTED_KEY:
                nested.append(text(data, field))
            elif field.wire == BYTES and field.number == VALUE_JSON and not typed:
                json = data[field.start : field.end]
                number = scalar(json)
            elif NONE <= field.number <= JSON:
                typed, (json, number) = True, _typed(data, field)
    except WireError:
        return None
    path = tuple(nested or key)
    if not path or len(path) > MAX_PARTS:
        return None
    return Item(path, json, number)


def scalar(json: bytes) -> float | None:
    """A JSON scalar as a number: numbers, booleans as 0 and 1, and W&B's words for nan and infinity."""
    special = SPECIAL.get(json)
    return decimals.number(json) if special is None else special


def read_items(buffer: Buffer, starts: Ints, ends: Ints) -> ItemTable:
    """Find key and value in every item."""
    key = step(buffer.words, starts, ends)
    value = step(buffer.words, np.minimum(key.end, ends), ends)
    regular = key.regular & ((key.tag == KEY_TAG) | (key.tag == NESTED_TAG))
    regular &= value.regular & (value.tag == JSON_TAG) & (value.end == ends)
    table = ItemTable(starts, key.end, value.tag, value.start, value.end, regular)
    rest = np.flatnonzero(~regular & (starts < ends))
    if rest.size:
        _read_longer(buffer.words, table, rest, ends)
    return table


def numbers(buffer: Buffer, items: ItemTable) -> tuple[Floats, Bools]:
    """The values of regular items as numbers: (values, which of them are numbers)."""
    if (items.tag == JSON_TAG).all():
        return _json_numbers(buffer, items.start, items.end)
    values, good = np.zeros(items.tag.size), np.ones(items.tag.size, np.bool_)
    at = np.flatnonzero(items.tag == JSON_TAG)
    values[at], good[at] = _json_numbers(buffer, items.start[at], items.end[at])
    at = np.flatnonzero(items.tag == NUMBER_TAG)
    values[at] = buffer.words[items.start[at]].view(np.float64)
    at = np.flatnonzero((items.tag == INTEGER_TAG) | (items.tag == BOOLEAN_TAG))
    plain = _varints(buffer.words, items.start[at], items.end[at])
    odd = -(plain & np.uint64(1)).view(np.int64)
    whole = (plain >> np.uint64(1)).view(np.int64) ^ odd
    values[at] = np.where(items.tag[at] == INTEGER_TAG, whole.astype(np.float64), plain != 0)
    return values, good


def _typed(data: bytes, field: Field) -> tuple[bytes, float | None]:
    if field.wire == VARINT and field.number == INTEGER:
        return b"", float(zigzag(field.varint))
    if field.wire == VARINT and field.number == BOOLEAN:
        return b"", float(field.varint != 0)
    if field.wire == FIXED64 and field.number == NUMBER:
        return b"", float(struct.unpack_from("<d", data, field.start)[0])
    if field.wire == BYTES and field.number == JSON:
        return data[field.start : field.end], scalar(data[field.start : field.end])
    return b"", None


def _read_longer(words: Words, table: ItemTable, lanes: Ints, ends: Ints) -> None:
    """Items with nested keys, and typed values with or without a JSON value before them; fills the table."""
    table.tag[lanes] = 0
    pos, limit = table.key_start[lanes], ends[lanes]
    table.key_end[lanes] = pos
    while lanes.size:
        now = step(words, pos, limit)
        is_key = (now.tag == KEY_TAG) | (now.tag == NESTED_TAG)
        is_typed = (now.tag == NUMBER_TAG) | (now.tag == INTEGER_TAG) | (now.tag == BOOLEAN_TAG)
        before = table.tag[lanes]
        fits = now.regular & ((before == 0) & (is_key | is_typed | (now.tag == JSON_TAG)))
        fits |= now.regular & (before == JSON_TAG) & is_typed
        table.key_end[lanes[is_key]] = now.end[is_key]
        at, of = lanes[~is_key], ~is_key
        table.tag[at], table.start[at], table.end[at] = now.tag[of], now.start[of], now.end[of]
        done = fits & ~is_key & (now.end == limit)
        table.regular[lanes[done]] = table.key_end[lanes[done]] > table.key_start[lanes[done]]
        more = fits & (now.end < limit)
        lanes, pos, limit = lanes[more], now.end[more], limit[more]


def _json_numbers(buffer: Buffer, starts: Ints, ends: Ints) -> tuple[Floats, Bools]:
    first = buffer.bytes[starts]
    filled = starts < ends
    candidate = _NUMBER_STARTS[first] & filled
    if candidate.all():
        values, good = decimals.parse(buffer, starts, ends)
    else:
        values, good = np.zeros(starts.size), np.zeros(starts.size, np.bool_)
        at = np.flatnonzero(candidate)
        values[at], good[at] = decimals.parse(buffer, starts[at], ends[at])
    at = np.flatnonzero(~good & filled & _SPECIAL_STARTS[first])
    if at.size:
        values[at], good[at] = _special(buffer.words, starts[at], ends[at])
    return values, good


def _special(words: Words, starts: Ints, ends: Ints) -> tuple[Floats, Bools]:
    values, good = np.zeros(starts.size), np.zeros(starts.size, np.bool_)
    size = ends - starts
    for word, value in SPECIAL.items():
        span = min(len(word), 8)
        at = np.flatnonzero(size == len(word))
        head = words[starts[at]] & _FIRST_BYTES[span]
        tail = words[ends[at] - span] & _FIRST_BYTES[span]
        same = (head == int.from_bytes(word[:span], "little")) & (tail == int.from_bytes(word[-span:], "little"))
        values[at[same]], good[at[same]] = value, True
    return values, good


def _varints(words: Words, starts: Ints, ends: Ints) -> Words:
    """Varints of at most 8 bytes, which is all that the lanes call regular."""
    word = words[starts] & _FIRST_BYTES[ends - starts]
    value: Words = np.zeros_like(word)
    for byte in range(8):
        value |= (word >> np.uint64(byte)) & np.uint64(0x7F << (7 * byte))
    return value
