"""What evaluations show that a mean over past training episodes shows late or not at all: a level that was lost, or a
policy that never changes."""

from __future__ import annotations

import math

import numpy as np

from rlclinic.facts.return_state import reached_goal
from rlclinic.facts.run_facts import RunFacts, fact
from rlclinic.facts.stretch import finite
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.return_curve import ReturnCurve
from rlclinic.model.series import Series

FEWEST_EVALUATIONS = 12
# Share of their climb that may be missing at the end of evaluations that hold their best.
HELD = 0.25
# Evaluations of which none differs, and a few roundings of a 32-bit float, as a share of the level.
FEWEST_SAME, ROUNDING = 5, 2e-6
# Share of a fall by which evaluations may differ that were made when it was over.
OVER = 0.15
# Share of the climb of the evaluations that must be lost.
LOST = 0.4
# Share of its level that this climb must be: on the same few episodes a policy that hardly moves wanders by less.
MATERIAL = 0.15
# Standard errors of the difference of both levels; the best of several levels is one or two above its true value.
CLEAR = 4.0
# Env steps that the first few updates of any algorithm take.
FIRST_UPDATES = 5_000.0
# Evaluations behind the best level, and share of them, at least as many, behind the level at the end.
BEHIND_BEST = 5
END = 0.2


@dataclass(frozen=True, slots=True)
class Lost:
    """A level of the evaluations that was lost again."""

    series: Series
    curve: ReturnCurve
    end: float
    points: int
    """Evaluations behind the end."""
    bar: float
    """What the loss had to exceed."""

    @property
    def drop(self) -> float:
        return self.curve.best - self.end


@fact
def lost_evaluations(facts: RunFacts) -> Lost | None:
    """Compare the best level of five evaluations with the last ones; None where nothing is lost for good."""
    series, returns = facts.series("return/eval"), facts.run.returns
    curve = facts.curve_of("return/eval")
    if series is None or returns is None or curve is None or curve.points < FEWEST_EVALUATIONS:
        return None
    if returns.name == series.name or series.caveat or reached_goal(facts):
        return None
    steps, values = finite(series)
    last = max(BEHIND_BEST, round(END * values.size))
    if curve.best_step > float(steps[-last]):
        # The best level is that of the end itself, or of one lucky evaluation there.
        return None
    error = curve.point_noise * math.sqrt(1.0 / BEHIND_BEST + 1.0 / last)
    found = Lost(series, curve, float(np.mean(values[-last:])), last, max(CLEAR * error, LOST * curve.climb))
    climbed = curve.climb > MATERIAL * max(abs(curve.start), abs(curve.best))
    return found if climbed and found.drop >= found.bar else None


@fact
def fell_before_evaluations(facts: RunFacts) -> bool:
    """Whether evaluations stand where they end from the first one on: a mean over past episodes that still falls shows
    late what was over by then."""
    series, curve = facts.series("return/eval"), facts.curve
    if series is None or curve is None or series.caveat:
        return False
    _, values = finite(series)
    return values.size >= FEWEST_SAME and float(np.ptp(values)) < OVER * max(-curve.gain, 0.0)


@fact
def evaluations_hold(facts: RunFacts) -> bool:
    """Whether evaluations climbed clearly and stand near their best: what training lost is not lost in the policy.

    Rare penalties, a random opponent or a curriculum lower the return of training alone.
    """
    series, returns = facts.series("return/eval"), facts.run.returns
    curve = facts.curve_of("return/eval")
    if series is None or returns is None or curve is None or series.caveat or returns.name == series.name:
        return False
    clear = max(CLEAR * curve.point_noise, 3.0 * curve.scatter)
    return curve.points >= FEWEST_SAME and curve.climb > clear and curve.drop <= HELD * curve.climb


def evaluations_surely_rose(facts: RunFacts) -> bool:
    """Whether they did, and held it: the mean over training episodes may be too slow or too noisy to say so."""
    curve = facts.curve_of("return/eval")
    return curve is not None and curve.surely_gained and evaluations_hold(facts)


def began_unseen(facts: RunFacts) -> bool:
    """Whether evaluations alone tell the return, and the first came when the policy had long been trained."""
    series, returns = facts.series("return/eval"), facts.run.returns
    if series is None or returns is None or returns.name != series.name or series.axis != "env_steps":
        return False
    trained = facts.series("return/train")
    seen = trained is not None and not trained.caveat and float(trained.steps[0]) < float(series.steps[0])
    return not seen and float(series.steps[0]) > FIRST_UPDATES


def evaluates_the_same(facts: RunFacts, share: float = 0.0) -> bool:
    """Whether all evaluations gave the same mean of episodes that differ, or nearly: to a share of what these do."""
    returns, spread = facts.series("return/eval"), facts.late("return/eval_std", 1.0)
    if returns is None or (spread is not None and spread.value == 0.0):
        return False
    _, values = finite(returns)
    level = float(np.abs(values).max())
    # A policy that never arrives gets the same whole number each time; a mean of different episodes has digits.
    told = spread is not None or float(values[0]) != round(float(values[0]), 2)
    bar = max(ROUNDING * level, share * spread.value if spread is not None else 0.0)
    return values.size >= FEWEST_SAME and told and float(np.ptp(values)) <= bar
