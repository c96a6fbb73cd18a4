"""The config and the summary of a W&B run: updates and removals by key, of which the last counts."""

from __future__ import annotations

import numpy as np

from rlclinic.readers.formats.protobuf import BYTES, WireError, fields
from rlclinic.readers.formats.wandb import values as wandb_json
from rlclinic.readers.formats.wandb.distinct import distinct
from rlclinic.readers.formats.wandb.items import JSON_TAG, read_item, read_items
from rlclinic.readers.formats.wandb.protobuf_lanes import Buffer, Ints, walk

UPDATE, REMOVE = 1, 2  # fields of ConfigRecord and SummaryRecord
MAX_KEYS = 100_000
INTERNAL = "_wandb"  # W&B's own block


class State:
    """Collects updates; values are decoded only at the end."""

    def __init__(self, *, min_lanes: int) -> None:
        self.malformed = 0
        self.too_many = False
        self._min_lanes = min_lanes
        self._last: dict[tuple[str, ...], bytes | None] = {}

    def add(self, buffer: Buffer, starts: Ints, ends: Ints) -> None:
        """Apply the messages in order."""
        table = walk(buffer.words, starts, ends, min_lanes=self._min_lanes)
        update = table.tag == (UPDATE << 3 | BYTES)
        if not table.regular.all() or (table.tag == (REMOVE << 3 | BYTES)).any():
            self._add_one_by_one(buffer.raw, starts, ends)
            return
        items = read_items(buffer, table.start[update], table.end[update])
        if not items.regular.all() or (items.tag != JSON_TAG).any():
            self._add_one_by_one(buffer.raw, starts, ends)
            return
        which, firsts = distinct(buffer, items.key_start, items.key_end)
        last = np.zeros(firsts.size, np.int64)
        last[which] = np.arange(which.size)
        for index in np.sort(last).tolist():
            self._read_item(buffer.raw, int(items.key_start[index]), int(items.end[index]))

    def add_message(self, raw: bytes, start: int, end: int) -> None:
        """Apply one ConfigRecord or SummaryRecord; what precedes a malformed place is kept."""
        try:
            for field in fields(raw, start, end):
                if field.wire == BYTES and field.number in (UPDATE, REMOVE):
                    self._read_item(raw, field.start, field.end, remove=field.number == REMOVE)
        except WireError:
            self.malformed += 1

    def tree(self) -> dict[str, object]:
        """The final state as nested dicts, without W&B's own part."""
        tree: dict[str, object] = {}
        for path, json in self._last.items():
            if json is None:
                wandb_json.drop(tree, path)
                continue
            value = wandb_json.load(json)
            if value is wandb_json.INVALID:
                self.malformed += 1
                continue
            wandb_json.put(tree, path, value)
        tree.pop(INTERNAL, None)
        return tree

    def _add_one_by_one(self, raw: bytes, starts: Ints, ends: Ints) -> None:
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
            self.add_message(raw, start, end)

    def _read_item(self, raw: bytes, start: int, end: int, *, remove: bool = False) -> None:
        item = read_item(raw, start, end)
        if item is None:
            self.malformed += 1
            return
        if item.path in self._last:
            del self._last[item.path]  # so that it is put in again behind the others
        elif len(self._last) >= MAX_KEYS:
            self.too_many = True
            return
        self._last[item.path] = None if remove else item.json
