"""One metric of a run held against that of another run, and the best run of an environment by a metric."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rlclinic.comparison.pool import Pool, on_scale, read_or_none
from rlclinic.facts.metric_summary import better_or_worse, end_level
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.run import Run
from rlclinic.model.series import Series

# Differences within this share of the two values are equal.
EQUAL = 1e-3
# Runs that are read whole to find the best by a metric; of more the newest count.
MOST_RUNS = 300


@dataclass(frozen=True, slots=True)
class AgainstBaseline:
    """The ends of one metric of two runs."""

    value: float | None
    """Mean of the last tenth."""
    baseline: float | None
    status: str
    """better, worse, equal, different (where no direction is better) or unknown."""
    at_equal_steps: tuple[float, float, float] | None
    """The last step that both have, and both values there: runs of different length are compared there."""

    @property
    def difference(self) -> float | None:
        return self.value - self.baseline if self.value is not None and self.baseline is not None else None


@dataclass(frozen=True, slots=True)
class BestByMetric:
    """The runs of an environment by the end of a metric, the best first."""

    ranked: tuple[tuple[float, Run, Series], ...]
    looked_at: int
    skipped: tuple[str, ...]
    """Why the others do not count."""


def against_baseline(series: Series, baseline: Series) -> AgainstBaseline:
    """Hold a metric against the same one of another run."""
    here, there = end_level(series), end_level(baseline)
    return AgainstBaseline(here, there, _status(series.name, here, there), _at_equal_steps(series, baseline))


def best_by_metric(
    pool: Pool, name: str, metric: Callable[[Run], Series | None], *, minimize: bool = False
) -> BestByMetric:
    """Rank the runs of a pool; `metric` chooses the series of each, which is called `name`."""
    newest = sorted(pool.pairs, key=lambda pair: -float(pair[1].get("started_at") or 0.0))[:MOST_RUNS]
    found: list[tuple[float, Run, Series]] = []
    skipped: list[str] = []
    for ref, _ in newest:
        run = read_or_none(ref)
        series = metric(run) if run is not None else None
        value = end_level(series) if series is not None else None
        if run is None or series is None or value is None:
            skipped.append(f"{ref.path.name}: no {name}")
        elif not on_scale(run):
            skipped.append(f"{ref.path.name}: its returns are on another scale than the task's")
        else:
            found.append((value, run, series))
    ranked = sorted(found, key=lambda item: item[0], reverse=not minimize)
    return BestByMetric(tuple(ranked), len(newest), tuple(skipped))


def _status(name: str, here: float | None, there: float | None) -> str:
    if here is None or there is None:
        return "unknown"
    if abs(here - there) <= EQUAL * max(abs(here), abs(there)):
        return "equal"
    return better_or_worse(name, here - there, ("better", "worse", "different", "different"))


def _at_equal_steps(here: Series, there: Series) -> tuple[float, float, float] | None:
    if here.axis != there.axis or not len(here) or not len(there):
        return None
    step = min(float(here.steps[-1]), float(there.steps[-1]))
    first, second = (float(np.interp(step, series.steps, series.values)) for series in (here, there))
    return step, first, second
