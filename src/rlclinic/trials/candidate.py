"""A configuration under trial in an optimisation: its scores by seed, and the step from which it cannot win any more.

A score is the number of env steps to the goal. A rival that has not got there after as many steps as the best
configuration needed has lost, whatever it would do later, so its run is cut there: the adaptive capping of ParamILS
(Hutter et al. 2009, doi:10.1613/jair.2861).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

from rlclinic.lab.recipe import Recipe
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.optimisation import Origin
from rlclinic.model.trial import Outcome, OutcomeState


@dataclass
class Candidate:
    """A configuration under trial."""

    number: int
    origin: Origin
    reason: str
    changes: dict[str, object]
    trial: Any
    """Optuna's trial."""
    before: tuple[Path, ...] = ()
    """Runs whose prescriptions led here, the first ones first."""
    scores: dict[int, float] = field(default_factory=dict)
    """By seed; of a run that was cut a bound from below."""
    given_up: bool = False
    """Whether a run of it was cut or pruned."""

    @property
    def mean(self) -> float:
        """Mean score; infinite before the first run."""
        return sum(self.scores.values()) / len(self.scores) if self.scores else math.inf

    def reaches(self, recipe: Recipe) -> bool:
        """Whether no run of it is known to have missed the goal within its budget."""
        return recipe.threshold is not None and bool(self.scores) and max(self.scores.values()) <= recipe.total_steps


@dataclass(frozen=True)
class Waiting:
    """Changes that wait for their turn."""

    origin: Origin
    reason: str
    changes: dict[str, object]
    source: float
    """The score of the run whose diagnosis asked for them: what promises most comes first."""
    before: tuple[Path, ...] = ()


def score_of(outcome: Outcome, recipe: Recipe) -> float:
    """Steps to the goal; a run that did not reach it scores worse than any that did. Lower is better."""
    whole = float(recipe.total_steps)
    if outcome.state is OutcomeState.STOPPED and outcome.steps:
        # At least one step more than it was given.
        return outcome.steps + 1.0
    if outcome.state is not OutcomeState.DONE:
        return 3.0 * whole
    goal = recipe.threshold
    if goal is None:
        return -outcome.auc
    if outcome.steps_to_threshold is not None:
        return outcome.steps_to_threshold
    start = outcome.curve[0][1] if outcome.curve else outcome.final_return
    missing = (goal - outcome.auc) / max(abs(goal - start), 1e-9)
    return whole * (1.0 + min(max(missing, 0.0), 2.0))


def cap_of_first_run(best: Candidate, seed: int, recipe: Recipe) -> int | None:
    """Where the first run of a rival is cut: beyond the best's mean and its score on the same seed."""
    return _cap(max(best.mean, best.scores.get(seed, 0.0)), recipe)


def cap_of_confirmation(rival: Candidate, best: Candidate, seeds: Sequence[int], recipe: Recipe) -> int | None:
    """Where a further seed of a rival is cut: what it may still use to beat the best's sum over the seeds."""
    if any(seed not in best.scores for seed in seeds):
        return None
    return _cap(_sum(best.scores, seeds) - _sum(rival.scores, seeds), recipe)


def cap_of_comparison(rival: Candidate, recipe: Recipe) -> int | None:
    """Where further seeds of the best are cut: slower than all runs of the rival is all that a rank test asks."""
    return _cap(max(rival.scores.values()), recipe)


def _cap(score: float, recipe: Recipe) -> int | None:
    """A score as a number of steps; None where it is no number of steps within a run."""
    is_step = recipe.threshold is not None and recipe.stop_at_threshold and 0 < score < recipe.total_steps
    return math.ceil(score) if is_step else None


def _sum(scores: Mapping[int, float], seeds: Sequence[int]) -> float:
    return sum(scores[seed] for seed in seeds if seed in scores)
