"""Explained variance says nothing here: the returns hardly vary any more.

What it sees: Explained variance is low, jumps about or is NaN at the end of the run, and so is the variance of the
returns: below 0.5% of what it was, or every logged return is the same.
Why it hurts: It does not. With nothing to explain, the ratio compares noise with noise; a solved task and an episode
length pinned at its limit both look like this.
Evidence needed: explained_variance with at least 12 points, and value_loss or a return.
Looks alike: A critic that fails on returns that vary.
What to change: Nothing. Judge the critic by its value loss, or by its predictions on episodes that differ.
References: definition of explained variance, 1 - Var(error) / Var(target), for a target without variance.
"""

from __future__ import annotations

import numpy as np

from rlclinic.facts import critic as _critic
from rlclinic.facts.critic import critic_of, returns_vary
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult

RULE = Rule(
    "VAL09", needs=("explained_variance", "value_loss|return/train|return/eval"), algorithms=("ppo", "actor-critic")
)


class Limits(RuleLimits):
    low: float = 0.5
    """Explained variance that would alarm if the returns varied."""
    late: float = 0.2
    min_points: int = 12


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Ask whether the end of the run has any variance to explain."""
    series = facts.series("explained_variance")
    if series is None or len(series) < limits.min_points or returns_vary(facts, 1.0 - limits.late):
        return None
    end = series.values[int((1.0 - limits.late) * len(series)) :]
    seen = end[np.isfinite(end)]
    level = facts.late("explained_variance", limits.late)
    if level is not None and level.value >= limits.low and seen.size == end.size:
        return None
    shown = f"{level.value:.3g}" if level is not None else "not a number"
    why = _why(facts, limits)
    summary = f"explained variance is {shown} over the last fifth, but {why}: it says nothing about the critic"
    value = level.value if level is not None else float("nan")
    evidence = (facts.evidence("explained_variance", value, limits.low, level=level, note="median of the last fifth"),)
    return RuleResult(Severity.INFO, 0.8, summary, evidence, None)


def _why(facts: RunFacts, limits: Limits) -> str:
    critic, curve = critic_of(facts), facts.curve
    if critic is not None:
        left = critic.left(1.0 - limits.late, 1.0)
        if left < _critic.STILL:
            return f"only {100 * left:.2g}% of the earlier variance of the value targets is left"
    return f"all returns there are about {curve.final:.4g}" if curve is not None else "returns hardly vary there"
