"""From whole records to scalars and texts: by template where many are alike, else one by one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field

import numpy as np
from numpy.typing import NDArray

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.readers.formats.protobuf import WireError
from rlclinic.readers.formats.tensorboard.crc32c import crc32c_spans
from rlclinic.readers.formats.tensorboard.layout import Layout, event_layout
from rlclinic.readers.formats.tensorboard.numbers import read_integer, read_number
from rlclinic.readers.formats.tensorboard.scalars import ScalarPart, ScalarTable
from rlclinic.readers.formats.tensorboard.template import Decoded, Template, decode, gather, make_template
from rlclinic.readers.formats.tensorboard.texts import TextCollector
from rlclinic.readers.formats.tensorboard.tfrecord import HEADER, Batch, stored_checksums

_MIN_ROWS = 16  # fewer records than this are read one by one, which is then faster
_MAX_LENGTH = 2048  # bytes: longer records hold pictures and the like
_MAX_TEMPLATES = 16  # tried per length and batch; records of a length differ in few ways unless they are odd

I64 = NDArray[np.int64]


@dataclass(slots=True)
class RecordReader:
    """Reads batches of records, given in file order."""

    data: bytes
    note: Callable[[str], None]
    scalars: ScalarTable = field(default_factory=ScalarTable)
    texts: TextCollector = field(default_factory=TextCollector)
    records: int = 0
    first_wall_time: float | None = None
    last_wall_time: float | None = None
    _templates: dict[int, list[Template]] = field(default_factory=dict)

    def add(self, batch: Batch) -> None:
        """Read one batch."""
        work = _Work(batch, stored_checksums(self.data, batch.starts + batch.lengths))
        short = np.minimum(batch.lengths, 0xFFFF).astype(np.uint16)
        order = np.argsort(short, kind="stable")
        singles: list[I64] = []
        for ids in np.split(order, np.flatnonzero(np.diff(short[order])) + 1):
            length = int(batch.lengths[ids[0]])
            if ids.size < _MIN_ROWS or not 0 < length <= _MAX_LENGTH:
                singles.append(ids)
            else:
                singles.extend(self._read_alike(work, ids, length))
        self._read_singly(work, np.sort(np.concatenate(singles)) if singles else order[:0])
        self._finish(work)

    def _read_alike(self, work: _Work, ids: I64, length: int) -> list[I64]:
        """Read records of one length by templates; returns those that are left."""
        rows = gather(self.data, ids, work.batch.starts[ids], length, work.checksums[ids])
        left: list[I64] = []
        for _ in range(_MAX_TEMPLATES):
            if rows.ids.size < _MIN_ROWS:
                break
            template = self._template(rows.bytes[0].tobytes(), length)
            fits = template.fitting(rows.words) if template else np.arange(rows.ids.size) == 0
            if template is None or np.count_nonzero(fits) < _MIN_ROWS:
                left.append(rows.ids[fits])
            else:
                self._remember(template, length)
                self._take(work, decode(template, rows if fits.all() else rows[fits]))
            rows = rows[~fits]
        return [*left, rows.ids]

    def _template(self, row: bytes, length: int) -> Template | None:
        for template in self._templates.get(length, []):
            if template.fits(row):
                return template
        fill = len(row) - length
        try:
            return make_template(event_layout(row[fill:]), row, fill)
        except WireError:
            return None

    def _remember(self, template: Template, length: int) -> None:
        known = self._templates.setdefault(length, [])
        if template not in known and len(known) < _MAX_TEMPLATES:
            known.append(template)

    def _take(self, work: _Work, decoded: Decoded) -> None:
        work.broken.extend(decoded.broken.tolist())
        if decoded.wall_times is not None:
            work.wall_times[decoded.ids] = decoded.wall_times
        wall_times = np.zeros(decoded.ids.size) if decoded.wall_times is None else decoded.wall_times
        for scalar in decoded.scalars:
            numbers = np.array([self.scalars.tag_number(tag) for tag in scalar.tags], np.uint16)
            tags = np.repeat(numbers, scalar.counts)
            work.parts.append(ScalarPart(decoded.ids, tags, decoded.steps, wall_times, scalar.values))

    def _read_singly(self, work: _Work, ids: I64) -> None:
        starts, lengths = work.batch.starts[ids], work.batch.lengths[ids]
        crcs = crc32c_spans(np.frombuffer(self.data, np.uint8), starts, lengths)
        intact = crcs == work.checksums[ids]
        work.broken.extend(ids[~intact].tolist())
        points = _Points()
        for number, start, length in zip(ids[intact], starts[intact], lengths[intact], strict=True):
            event = self.data[start : start + length]
            try:
                self._read_event(work, points, int(number), event, event_layout(event))
            except WireError:
                work.unreadable.append(int(number))
        if points.records:
            work.parts.append(points.part())

    def _read_event(self, work: _Work, points: _Points, number: int, event: bytes, layout: Layout) -> None:
        step = read_integer(event, layout.step)
        wall_time = read_number(event, layout.wall_time)
        if layout.wall_time is not None:
            work.wall_times[number] = wall_time
        for scalar in layout.scalars:
            tag = self.scalars.tag_number(event[scalar.tag[0] : scalar.tag[1]])
            points.add(number, tag, step, wall_time, read_number(event, scalar.slot))
        for strings in layout.strings:
            self.texts.add_strings(event, strings, step, wall_time)
        for hparams in layout.hparams:
            self.texts.add_hparams(event, hparams, step, wall_time)

    def _finish(self, work: _Work) -> None:
        self.scalars.add_batch(work.parts)
        reasons = dict.fromkeys(work.broken, "checksum does not match")
        reasons |= dict.fromkeys(work.unreadable, "not a readable event")
        for number in sorted(reasons):
            place = f"record {work.batch.first + number} at byte {work.batch.starts[number] - HEADER}"
            self.note(f"{place}: {reasons[number]}, skipped")
        self.records += work.batch.starts.size - len(reasons)
        known = work.wall_times[np.isfinite(work.wall_times)]
        if known.size:
            self.first_wall_time = float(known[0]) if self.first_wall_time is None else self.first_wall_time
            self.last_wall_time = float(known[-1])


@dataclass(slots=True)
class _Work:
    """A batch while it is read; records go by their number within the batch."""

    batch: Batch
    checksums: NDArray[np.uint32]
    parts: list[ScalarPart] = field(default_factory=list)
    broken: list[int] = field(default_factory=list)
    unreadable: list[int] = field(default_factory=list)
    wall_times: NDArray[np.float64] = field(init=False)

    def __post_init__(self) -> None:
        self.wall_times = np.full(self.batch.starts.size, np.nan)


@dataclass(slots=True)
class _Points:
    """Scalars that were read one by one."""

    records: list[int] = field(default_factory=list)
    tags: list[int] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)
    wall_times: list[float] = field(default_factory=list)
    values: list[float] = field(default_factory=list)

    def add(self, record: int, tag: int, step: int, wall_time: float, value: float) -> None:
        self.records.append(record)
        self.tags.append(tag)
        self.steps.append(step)
        self.wall_times.append(wall_time)
        self.values.append(value)

    def part(self) -> ScalarPart:
        return ScalarPart(
            np.array(self.records, np.int64),
            np.array(self.tags, np.uint16),
            np.array(self.steps, np.int64),
            np.array(self.wall_times, np.float64),
            np.array(self.values, np.float64),
        )
