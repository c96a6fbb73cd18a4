"""The runs of one environment below a folder, from the index where their files have not changed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from rlclinic.facts.goal import known_task
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.task_departure import departure
from rlclinic.model.errors import RlclinicError
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.return_curve import ReturnCurve
from rlclinic.model.run import Run
from rlclinic.readers.discover import RunRef
from rlclinic.readers.open import read_ref
from rlclinic.reference.algorithms import algorithm_name
from rlclinic.reference.tasks import task_of
from rlclinic.store.index import RunIndex
from rlclinic.store.listing import list_runs

# Runs that are read whole to find the best: the summaries know single values only, which are noisy.
CANDIDATES = 6
# Share of the range of the candidates within which two ends are alike.
ALIKE = 0.02


@dataclass(frozen=True, slots=True)
class Pool:
    """Summaries of the runs of one environment."""

    root: str
    pairs: tuple[tuple[RunRef, dict[str, Any]], ...]
    unread: int = 0
    """Runs of whatever environment that were not looked at."""

    def __len__(self) -> int:
        return len(self.pairs)


def pool_of(
    root: Path,
    environment: str,
    algorithm: str = "",
    *,
    index: RunIndex | None = None,
    progress: Callable[[int, int], None] | None = None,
    most: int | None = None,
) -> Pool:
    """The runs below a folder whose environment, and algorithm where one is given, are these.

    Runs that the index does not know are read, `most` of them at most.
    """
    listing = list_runs(root, index=index, progress=progress, most=most)
    pairs = zip(listing.refs, listing.summaries, strict=True)
    return Pool(
        str(root),
        tuple(
            (ref, row)
            for ref, row in pairs
            if str(row["environment"]).lower() == environment.lower()
            and (not algorithm or str(row["algorithm"]).upper() == (algorithm_name(algorithm) or algorithm.upper()))
        ),
        listing.unread,
    )


def best_run(pool: Pool, leave_out: frozenset[str] = frozenset()) -> Run | None:
    """The run that ended highest among those with the highest single returns, `leave_out` naming places to pass by.

    Runs whose returns are on another scale than the task's (a wrapper multiplies the reward) do not count.
    """
    others = [pair for pair in pool.pairs if place_of(pair[0].path) not in leave_out]
    scored = [pair for pair in others if pair[1]["return"]["best"] is not None]
    scored.sort(key=lambda pair: -float(pair[1]["return"]["best"]))
    found: list[tuple[ReturnCurve, Run]] = []
    for ref, _ in scored:
        run = read_or_none(ref)
        if run is not None and on_scale(run) and (curve := RunFacts(run).curve) is not None:
            found.append((curve, run))
        if len(found) == CANDIDATES:
            break
    if not found:
        return None
    ends = [curve.final for curve, _ in found]
    # Of runs that end alike the one that was there sooner is better.
    alike = max(ends) - ALIKE * max(max(ends) - min(curve.start for curve, _ in found), 0.0)
    return max((pair for pair in found if pair[0].final >= alike), key=lambda pair: float(pair[0].values.mean()))[1]


def place_of(path: Path) -> str:
    """Where a run lies, however it was named."""
    return str(path.absolute())


def read_or_none(ref: RunRef) -> Run | None:
    """One unreadable run must not lose the others."""
    try:
        return read_ref(ref)
    except RlclinicError:
        return None


def on_scale(run: Run) -> bool:
    """Whether the returns of a well-known task are on its scale; True where the task is not known."""
    facts = RunFacts(run)
    off = departure(facts)
    return task_of(run.environment) is None or (known_task(facts) is not None and (off is None or off.scale is None))
