"""All runs below a root, as summaries: from the index where their files have not changed."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import field
from heapq import nlargest
from pathlib import Path
from typing import Any

from rlclinic.model.errors import RlclinicError
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.summary import run_summary
from rlclinic.readers.discover import RunRef, find
from rlclinic.readers.no_links import ROOT, confine
from rlclinic.readers.open import read_ref
from rlclinic.readers.redaction.redact import redact
from rlclinic.reference.algorithms import algorithm_name
from rlclinic.store.children import spawning
from rlclinic.store.index import RunIndex, default_path

# Below this many runs a pool of processes costs more than it saves.
POOL_FROM = 24
CHUNK = 8


@dataclass(frozen=True, slots=True)
class Listing:
    """The runs below a root."""

    root: str
    summaries: tuple[dict[str, Any], ...] = ()
    errors: tuple[dict[str, Any], ...] = ()
    from_index: int = 0
    refs: tuple[RunRef, ...] = field(default=(), repr=False)
    unread: int = 0
    """Runs that lie there, too, and were not looked at."""

    def newest(self, environment: str = "", algorithm: str = "") -> list[tuple[float, dict[str, Any]]]:
        """When runs were started (else last written) and their summaries, newest first.

        `environment` and `algorithm` are parts of the names, in upper or lower case.
        """
        found = [
            (_when(ref, row), row)
            for ref, row in zip(self.refs, self.summaries, strict=True)
            if _in(environment, row["environment"]) and _in(algorithm_name(algorithm) or algorithm, row["algorithm"])
        ]
        return sorted(found, key=lambda pair: pair[0], reverse=True)

    def chosen(self, sort: str, *, reverse: bool = False, environment: str = "", **values: str) -> list[dict[str, Any]]:
        """The summaries with these values, sorted by a column; runs without a value in it stand last either way.

        `environment` is a part of the name; an empty value fits any run.
        """
        rows = [
            row
            for row in self.summaries
            if _in(environment, row["environment"])
            and all(not value or str(row[key]).lower() == value.lower() for key, value in values.items())
        ]
        with_value = [row for row in rows if _column(row, sort) is not None]
        rest = [row for row in rows if _column(row, sort) is None]
        return sorted(with_value, key=lambda row: _column(row, sort), reverse=reverse) + rest


def list_runs(
    root: str | Path,
    *,
    index: RunIndex | None = None,
    progress: Callable[[int, int], None] | None = None,
    most: int | None = None,
) -> Listing:
    """Find and summarise every run below a root; `progress` hears how many of how many are read.

    Of runs that the index does not know the newest are read, `most` of them at most.
    """
    store = index or RunIndex(default_path())
    refs = find(Path(root))
    known = store.lookup(refs)
    unknown = [ref for ref in refs if ref.name not in known]
    fresh = unknown if most is None else nlargest(most, unknown, key=_written)
    read: dict[str, dict[str, Any]] = {}
    errors: list[dict[str, Any]] = []
    for ref, (summary, error) in zip(fresh, _summaries(fresh, progress), strict=True):
        if summary is not None:
            read[ref.name] = summary
        else:
            errors.append({"path": redact(ref.name), "message": redact(error)})
    if read:
        store.store([(ref, read[ref.name]) for ref in fresh if ref.name in read])
    found = {**known, **read}
    return Listing(
        redact(str(root)),
        tuple(found[ref.name] for ref in refs if ref.name in found),
        tuple(errors),
        len(known),
        tuple(ref for ref in refs if ref.name in found),
        len(unknown) - len(fresh),
    )


def _summaries(
    refs: Sequence[RunRef], progress: Callable[[int, int], None] | None
) -> list[tuple[dict[str, Any] | None, str]]:
    results: list[tuple[dict[str, Any] | None, str]] = []
    workers = min(os.cpu_count() or 1, 8)
    if len(refs) < POOL_FROM or workers < 2:
        for ref in refs:
            results.append(_summary(ref))
            if progress:
                progress(len(results), len(refs))
        return results
    from concurrent.futures import ProcessPoolExecutor

    with spawning(), ProcessPoolExecutor(workers, initializer=confine, initargs=(ROOT.get(),)) as pool:
        for result in pool.map(_summary, refs, chunksize=CHUNK):
            results.append(result)
            if progress:
                progress(len(results), len(refs))
    return results


def _summary(ref: RunRef) -> tuple[dict[str, Any] | None, str]:
    """A worker's answer is data in any case: one unreadable run must not lose the others."""
    try:
        return run_summary(read_ref(ref)), ""
    except RlclinicError as error:
        return None, str(error)


def _in(part: str, name: object) -> bool:
    return part.lower() in str(name).lower()


def _column(row: dict[str, Any], name: str) -> Any:
    if name in ("last", "best"):
        return row["return"][name]
    return row["started_at" if name == "started" else name]


def _when(ref: RunRef, row: dict[str, Any]) -> float:
    started = row.get("started_at")
    if isinstance(started, int | float):
        return float(started)
    return _written(ref) / 1e9


def _written(ref: RunRef) -> int:
    """When a file of it was last written, in nanoseconds."""
    return max((changed for _, _, changed in ref.fingerprint), default=0)
