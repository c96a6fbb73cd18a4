"""The scalars of an event file as they arrive, batch by batch, and at the end one column per tag."""

from __future__ import annotations

from dataclasses import field
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from rlclinic.model.lazy_dataclass import dataclass

MAX_TAGS = 20_000  # distinct tags kept; a run has some hundreds, and a column per tag costs about 600 bytes
_TOO_MANY = MAX_TAGS  # stands for every tag beyond; must fit in 16 bits, which numpy sorts by radix

I64 = NDArray[np.int64]
F64 = NDArray[np.float64]
Tags = NDArray[np.uint16]
_T = TypeVar("_T", bound=np.generic)


@dataclass(frozen=True, slots=True)
class ScalarColumn:
    """All points of one tag in file order."""

    steps: I64
    wall_times: F64
    values: F64


@dataclass(frozen=True, slots=True)
class ScalarPart:
    """Some points of one batch: number of the record within the batch, number of the tag, and the point."""

    records: I64
    tags: Tags
    steps: I64
    wall_times: F64
    values: F64


@dataclass(slots=True)
class ScalarTable:
    """Collects parts; `columns` empties it."""

    left_out: int = 0  # points whose tag is one too many
    _numbers: dict[bytes, int] = field(default_factory=dict)
    _names: dict[str, int] = field(default_factory=dict)
    _tags: list[Tags] = field(default_factory=list)
    _steps: list[I64] = field(default_factory=list)
    _wall_times: list[F64] = field(default_factory=list)
    _values: list[F64] = field(default_factory=list)

    def tag_number(self, tag: bytes) -> int:
        """The number of a tag. Tags that read the same once broken UTF-8 is replaced are one tag."""
        number = self._numbers.get(tag)
        if number is None:
            name = tag.decode("utf-8", "replace")
            if len(self._numbers) >= MAX_TAGS:
                return _TOO_MANY
            number = self._numbers[tag] = self._names.setdefault(name, len(self._names))
        return number

    def add_batch(self, parts: list[ScalarPart]) -> None:
        """Take the points of one batch, which is brought into file order."""
        if not parts:
            return
        order = np.argsort(_joined([part.records for part in parts]).astype(np.uint16), kind="stable")
        self._tags.append(_joined([part.tags for part in parts])[order])
        self._steps.append(_joined([part.steps for part in parts])[order])
        self._wall_times.append(_joined([part.wall_times for part in parts])[order])
        self._values.append(_joined([part.values for part in parts])[order])

    def columns(self) -> dict[str, ScalarColumn]:
        """The columns, in the order in which their tags first appear in the file."""
        if not self._tags:
            return {}
        tags = _joined(self._tags)
        self._tags.clear()
        order = np.argsort(tags, kind="stable")
        ends = np.cumsum(np.bincount(tags, minlength=len(self._names)))
        self.left_out = int(np.count_nonzero(tags == _TOO_MANY))
        del tags
        steps = _settled(self._steps, order)
        wall_times = _settled(self._wall_times, order)
        values = _settled(self._values, order)
        found = []
        for name, number in self._names.items():
            span = slice(int(ends[number - 1]) if number else 0, int(ends[number]))
            if span.stop > span.start:
                found.append((int(order[span.start]), name, span))
        return {name: ScalarColumn(steps[span], wall_times[span], values[span]) for _, name, span in sorted(found)}


def _joined(arrays: list[NDArray[_T]]) -> NDArray[_T]:
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def _settled(arrays: list[NDArray[_T]], order: I64) -> NDArray[_T]:
    """The joined arrays in the given order, read-only; the list is emptied to keep the peak of memory low."""
    joined = _joined(arrays)
    arrays.clear()
    result: NDArray[_T] = joined[order]
    result.flags.writeable = False
    return result
