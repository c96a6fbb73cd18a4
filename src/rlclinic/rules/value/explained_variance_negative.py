"""The critic predicts returns worse than a constant would.

What it sees: Explained variance below -0.1 over the last 60% of the run, at three of four points, on returns that
vary.
Why it hurts: Advantages are returns minus predictions. Predictions that are worse than their mean add noise to every
advantage, and the policy follows that noise.
Evidence needed: explained_variance with at least 15 points after the first updates; value_loss and a return tell
whether the returns vary.
Looks alike: The first updates of any run. Returns that are nearly constant (a solved task, a pinned episode length):
then explained variance means nothing. Very small rollouts scatter around zero.
What to change: Look at the scale of returns first (normalise rewards, or scale them to the order of 1), then at value
clipping and the critic's learning rate. A larger or smaller network is a guess before that.
References: Schulman et al. 2016 (arXiv 1506.02438); Andrychowicz et al. 2021 (arXiv 2006.05990), section 3.4.
"""

from __future__ import annotations

import numpy as np

from rlclinic.facts.critic import returns_vary
from rlclinic.facts.return_state import suffers
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.stretch import finite, lasting_from
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule("VAL01", needs=("explained_variance",), algorithms=("ppo", "actor-critic"), step=DecisionStep.CRITIC)


class Limits(RuleLimits):
    worse: float = -0.1
    """Explained variance that is worse than the scatter of an untrained critic around zero."""
    most: float = 0.75
    """Share of the points that must lie below zero."""
    after: float = 0.4
    """Where the judged window begins, as a share of the run: critics start at random."""
    min_points: int = 15


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Judge the later part of the run."""
    series, level = facts.series("explained_variance"), facts.level("explained_variance", limits.after)
    if series is None or level is None or level.points < limits.min_points:
        return None
    steps, values = finite(series)
    share = float(np.mean(values[int(limits.after * values.size) :] < 0.0))
    if level.value > limits.worse or share < limits.most or not returns_vary(facts, limits.after):
        return None
    hurts = suffers(facts)
    curve = facts.curve
    beside = f"; the return went from {curve.start:.4g} to {curve.final:.4g}" if curve is not None else ""
    summary = (
        f"explained variance is {level.value:z.2f} over the last {100 * (1 - limits.after):.0f}% of the run and below "
        f"zero at {100 * share:.0f}% of its points (0.5 or more is common){beside}"
    )
    evidence = (
        facts.evidence("explained_variance", level.value, limits.worse, level=level, note="median of the later part"),
        facts.evidence("explained_variance", share, limits.most, level=level, note="share of points below zero"),
    )
    severity = Severity.WARNING if hurts else Severity.INFO
    return RuleResult(severity, 0.75 if hurts else 0.6, summary, evidence, lasting_from(steps, values < 0.0))
