"""The runs of a history as configs over their seeds, with the numbers by which they are judged."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rlclinic.comparison.interquartile_mean import interquartile_mean
from rlclinic.comparison.outcomes import END, speed, wall_seconds
from rlclinic.comparison.seeds import over_seeds, same_config
from rlclinic.comparison.settings import learning_settings
from rlclinic.facts.goal import goal_of
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.history import PastConfig
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.run import Run
from rlclinic.signals.area import area
from rlclinic.signals.crossing import crossing
from rlclinic.signals.level import level

# A run shorter than this share of the middle one is a start that was given up, not a result.
TOO_SHORT = 0.5


@dataclass(frozen=True, slots=True)
class PastRun:
    """One run of the history."""

    run: Run
    final: float
    area: float
    """Mean return up to a common step."""
    reached: float | None
    swing: float


def past_runs(runs: Sequence[Run]) -> list[PastRun]:
    """The runs that ended with a return, none of them far shorter than the others."""
    with_return = [run for run in runs if run.returns is not None and run.returns.last is not None]
    if not with_return:
        return []
    lengths = [float(run.returns.last_step or 0.0) for run in with_return if run.returns is not None]
    least = TOO_SHORT * float(np.median(lengths))
    kept = [run for run, length in zip(with_return, lengths, strict=True) if length >= least]
    until = min(length for length in lengths if length >= least)
    return [found for run in kept if (found := _past_run(run, until)) is not None]


def past_configs(past: Sequence[PastRun]) -> list[PastConfig]:
    """One per config, the best first: by final return, then by mean return."""
    configs = [_config([past[index] for index in members]) for members in same_config([item.run for item in past])]
    return sorted(configs, key=lambda item: (-_coarse(item.final, configs), -item.area))


def _past_run(run: Run, until: float) -> PastRun | None:
    facts, returns = RunFacts(run), run.returns
    curve = facts.curve
    if returns is None or curve is None:
        return None
    goal = goal_of(facts)
    reached = None if goal is None else crossing(returns, goal.level).reached_step
    climb = max(curve.climb, 4.0 * curve.scatter)
    end = level(returns, END, centre="mean").value
    return PastRun(run, end, area(returns, until).mean, reached, max(0.0, curve.drop) / climb)


def _config(members: Sequence[PastRun]) -> PastConfig:
    runs = [item.run for item in members]
    finals = [item.final for item in members]
    reached = [item.reached for item in members if item.reached is not None]
    speeds = [value for run in runs if (value := speed(run)) is not None]
    seconds = [value for run in runs if (value := wall_seconds(run)) is not None]
    return PastConfig(
        label=over_seeds(runs[0].id, len(runs)),
        paths=tuple(run.path for run in runs),
        framework=runs[0].framework,
        algorithm=runs[0].algorithm,
        steps=float(np.median([run.steps for run in runs])),
        final=interquartile_mean(finals),
        final_low=min(finals),
        final_high=max(finals),
        area=interquartile_mean([item.area for item in members]),
        steps_to_threshold=float(np.median(reached)) if 2 * len(reached) >= len(runs) and reached else None,
        swing=float(np.mean([item.swing for item in members])),
        fps=float(np.median(speeds)) if speeds else None,
        seconds=float(np.median(seconds)) if seconds else None,
        settings=learning_settings(runs[0]),
    )


def _coarse(final: float, configs: Sequence[PastConfig]) -> float:
    """A final return in fiftieths of the range of all: ends that are alike are ranked by their mean return."""
    finals = [item.final for item in configs]
    step = (max(finals) - min(finals)) / 50.0
    return round((final - min(finals)) / step) if step > 0 else 0.0
