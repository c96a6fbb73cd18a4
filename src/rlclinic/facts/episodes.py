"""Returns and lengths of episodes, single ones where a monitor kept them, else the logged means at equal steps."""

from __future__ import annotations

import numpy as np

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.series import FloatArray, Series
from rlclinic.reference.tasks import Task, task_of


@dataclass(frozen=True, slots=True)
class Pairs:
    """Return and length of the same episodes."""

    returns: FloatArray
    lengths: FloatArray
    steps: FloatArray
    are_single: bool
    """Whether each point is one episode rather than a mean over many."""


def pairs_of(facts: RunFacts) -> Pairs | None:
    """Return and length, paired; None where they cannot be paired."""
    episodes = facts.run.episodes
    if episodes is not None and len(episodes):
        return _finite(Pairs(episodes.returns, episodes.lengths, episodes.end_steps, are_single=True))
    return _paired(facts.series("return/train"), facts.series("episode_length"))


def evaluated_pairs(facts: RunFacts) -> Pairs | None:
    """The same of evaluations."""
    return _paired(facts.series("return/eval"), facts.series("episode_length/eval"))


def _paired(returns: Series | None, lengths: Series | None) -> Pairs | None:
    if returns is None or lengths is None or returns.caveat or returns.axis != lengths.axis:
        return None
    if len(returns) != len(lengths) or not np.array_equal(returns.steps, lengths.steps):
        return None
    return _finite(Pairs(returns.values, lengths.values, returns.steps, are_single=False))


def single_returns(facts: RunFacts) -> FloatArray | None:
    """Returns of single episodes in the order in which they ended; None where only means were logged."""
    episodes = facts.run.episodes
    if episodes is not None and len(episodes):
        return episodes.returns[np.isfinite(episodes.returns)]
    series = facts.series("return/train")
    if series is None or series.caveat or "single episode" not in series.window:
        return None
    return series.values[np.isfinite(series.values)]


def episodes_played(facts: RunFacts) -> float | None:
    """How many episodes the run played; None where neither they nor their length were logged."""
    single, run = single_returns(facts), facts.run
    if single is not None:
        # The pasted middle of a log names its episodes by their number.
        counted = run.returns is not None and run.returns.axis == "episodes"
        return max(float(single.size), float(run.returns.steps[-1])) if counted and run.returns else float(single.size)
    if run.step_axis == "episodes" and run.returns is not None:
        return run.steps
    lasted = facts.level("episode_length")
    return run.env_steps / lasted.value if run.env_steps and lasted is not None and lasted.value > 0.0 else None


def task_by_name(facts: RunFacts) -> Task | None:
    """The well-known task by its name alone: how its episodes end does not depend on what a wrapper pays."""
    return task_of(facts.run.environment) if facts.run.environment else None


def return_name(facts: RunFacts) -> str:
    """The canonical name of the series that the outcome is about."""
    series = facts.run.returns
    return series.name if series is not None else "return/train"


def _finite(pairs: Pairs) -> Pairs | None:
    kept = np.isfinite(pairs.returns) & np.isfinite(pairs.lengths)
    if not kept.any():
        return None
    return Pairs(pairs.returns[kept], pairs.lengths[kept], pairs.steps[kept], pairs.are_single)
