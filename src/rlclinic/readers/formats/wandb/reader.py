"""Sends the parts of each record of a W&B log to where they are collected."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rlclinic.readers.formats.protobuf import BYTES, WireError, fields
from rlclinic.readers.formats.wandb.columns import MAX_COLUMNS, Column, Columns
from rlclinic.readers.formats.wandb.console import MAX_OUTPUT, ConsoleTail
from rlclinic.readers.formats.wandb.protobuf_lanes import Buffer, Ints, walk
from rlclinic.readers.formats.wandb.run import FACTS, RUN_CONFIG, WandbRun, timestamp
from rlclinic.readers.formats.wandb.state import MAX_KEYS, State

HISTORY, SUMMARY, CONFIG, STATS, TBRECORD, OUTPUT_RAW = 2, 3, 5, 7, 9, 13  # fields of Record
HISTORY_ITEM, STATS_TIME, STATS_ITEM = 1, 2, 3  # fields of HistoryRecord and StatsRecord
_FEW_TAGS = np.array([number << 3 | BYTES for number in (CONFIG, TBRECORD, *FACTS)])


class LogReader:
    """Takes in the records of a log, chunk after chunk.

    With fewer than `min_lanes` messages side by side they are read one by one; the result is the same.
    """

    def __init__(self, *, min_lanes: int) -> None:
        self.history = Columns(item_field=HISTORY_ITEM, min_lanes=min_lanes)
        self.stats = Columns(item_field=STATS_ITEM, min_lanes=min_lanes)
        self.config = State(min_lanes=min_lanes)
        self.summary = State(min_lanes=min_lanes)
        self.facts = WandbRun()
        self.console = ConsoleTail()
        self.has_tensorboard = False
        self._min_lanes = min_lanes
        self._times: list[float] = []
        self._malformed = 0

    def add(self, chunk: Buffer, starts: Ints, ends: Ints) -> None:
        """Take in records."""
        tag, start, end = self._split(chunk, starts, ends)
        few = np.flatnonzero(np.isin(tag, _FEW_TAGS))
        for number, a, b in zip((tag[few] >> 3).tolist(), start[few].tolist(), end[few].tolist(), strict=True):
            self._add_one(chunk.raw, number, a, b)
        for number, collector in ((HISTORY, self.history), (SUMMARY, self.summary), (STATS, self.stats)):
            at = np.flatnonzero(tag == (number << 3 | BYTES))
            if at.size:
                collector.add(chunk, start[at], end[at])
        at = np.flatnonzero(tag == (STATS << 3 | BYTES))
        self._times += [_time(chunk.raw, a, b) for a, b in _spans(start[at], end[at])]
        at = np.flatnonzero(tag == (OUTPUT_RAW << 3 | BYTES))
        self.console.add(chunk.raw, _spans(start[at], end[at]))

    def stats_columns(self) -> dict[str, Column]:
        """System statistics, with the time of each row as `_timestamp`."""
        columns = self.stats.finish()
        if self._times:
            columns["_timestamp"] = Column(np.arange(len(self._times)), np.array(self._times))
        return columns

    def problems(self) -> Iterator[str]:
        """What was left out, in plain words; complete once everything has been collected."""
        parts = (self.history, self.stats, self.config, self.summary, self.facts)
        malformed = self._malformed + sum(part.malformed for part in parts)
        if malformed:
            yield f"{malformed} malformed message(s): their unreadable part was dropped"
        if self.history.too_many or self.stats.too_many:
            yield f"more than {MAX_COLUMNS} metrics: the rest was left out"
        if self.config.too_many or self.summary.too_many:
            yield f"more than {MAX_KEYS} config or summary keys: the rest was left out"
        if self.console.cut:
            yield f"console text: only the last {MAX_OUTPUT >> 20} MiB were kept"

    def _split(self, chunk: Buffer, starts: Ints, ends: Ints) -> tuple[Ints, Ints, Ints]:
        """The fields of all records in order: (tag, start, end)."""
        table = walk(chunk.words, starts, ends, min_lanes=self._min_lanes)
        if table.regular.all():
            return table.tag, table.start, table.end
        odd = np.flatnonzero(~table.regular)
        spans = zip(odd.tolist(), starts[odd].tolist(), ends[odd].tolist(), strict=True)
        rows = [row for lane, a, b in spans for row in self._split_one(chunk.raw, lane, a, b)]
        lane, tag, start, end = np.array(rows, np.int64).reshape(-1, 4).T
        order = np.argsort(np.append(table.lane, lane), kind="stable")
        tag, start, end = np.append(table.tag, tag), np.append(table.start, start), np.append(table.end, end)
        return tag[order], start[order], end[order]

    def _split_one(self, raw: bytes, lane: int, start: int, end: int) -> Iterator[tuple[int, int, int, int]]:
        try:
            for field in fields(raw, start, end):
                yield lane, field.number << 3 | field.wire, field.start, field.end
        except WireError:
            self._malformed += 1

    def _add_one(self, raw: bytes, number: int, start: int, end: int) -> None:
        if number == TBRECORD:
            self.has_tensorboard = True
        elif number == CONFIG:
            self.config.add_message(raw, start, end)
        else:
            for field in self.facts.add(raw, number, start, end):
                state = self.config if field.number == RUN_CONFIG else self.summary
                state.add_message(raw, field.start, field.end)


def _spans(starts: Ints, ends: Ints) -> Iterator[tuple[int, int]]:
    return zip(starts.tolist(), ends.tolist(), strict=True)


def _time(raw: bytes, start: int, end: int) -> float:
    """The time of a StatsRecord; nan if it has none."""
    try:
        for field in fields(raw, start, end):
            if field.number == STATS_TIME and field.wire == BYTES:
                return timestamp(list(fields(raw, field.start, field.end)))
    except WireError:
        pass
    return float("nan")
