"""The entropy lies outside what a choice among so many actions can have.

What it sees: Entropy below zero, or above ln(number of actions), for a policy that chooses among a known number of
actions, at nearly every point.
Why it hurts: No distribution has such an entropy. The sum runs over the wrong axis, the sign is flipped, or log-probs
are not normalised; the entropy bonus then pushes the policy somewhere else than to exploration.
Evidence needed: entropy, and the number of actions in the config.
Looks alike: Continuous policies, whose entropy may be negative. Several choices per step, whose entropies add up. A
bonus that is logged in place of the entropy.
What to change: Compute the entropy as -sum p ln p over the actions and average over the batch; compare with the
distribution class of the framework on one batch.
References: DLR-RM/stable-baselines3 1.0 (entropy summed over action dimensions); Ajax (mean over dimensions).
"""

from __future__ import annotations

import numpy as np

from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.stretch import finite, rounding
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult
from rlclinic.signals._robust import median

RULE = Rule(
    "IMP03", needs=("entropy", "config:n_actions"), algorithms=("ppo", "actor-critic"), step=DecisionStep.EXPLORATION
)


class Limits(RuleLimits):
    beyond: float = 0.05
    """Share of the greatest entropy that rounding and averaging cannot explain."""
    nearly_all: float = 0.9
    """Share of the points that must lie outside."""
    fewest_points: int = 5


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Count the points outside of the legal range."""
    series, most = facts.series("entropy"), facts.max_entropy
    if series is None or most is None or facts.is_language_model or facts.run.config.get("action_shape"):
        return None
    steps, values = finite(series)
    slack = limits.beyond * most + rounding(series)
    outside = (values < -slack) | (values > most + slack)
    if values.size < limits.fewest_points or float(outside.mean()) < limits.nearly_all:
        return None
    level, first = median(values[outside]), float(steps[int(outside.argmax())])
    bound = 0.0 if level < 0.0 else most
    summary = (
        f"{series.logged_as} gives an entropy of {level:.3g} nats; a choice among "
        f"{round(np.exp(most)):d} actions has 0 to {most:.3g}"
    )
    evidence = (facts.evidence("entropy", level, bound, note="median of the points outside, against the bound"),)
    return RuleResult(Severity.WARNING, 0.6, summary, evidence, first)
