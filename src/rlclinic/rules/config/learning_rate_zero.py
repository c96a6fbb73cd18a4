"""The learning rate or the number of updates is zero: nothing is trained.

What it sees: The config sets a learning rate, epochs or gradient steps of zero, or every logged learning rate is
exactly zero.
Why it hurts: The parameters never change; whatever the return does is the luck of the episodes.
Evidence needed: the config, or learning_rate with at least 3 points.
Looks alike: A rate printed with so few decimals that it reads as zero; the last point of a schedule that ends at zero;
a part that is frozen on purpose beside one that trains.
What to change: Set the rate (3e-4 for PPO, 1e-4 to 1e-3 for Q-learning, 1e-6 for language models) and at least one
epoch or gradient step.
References: Stable-Baselines3 and TRL defaults.
"""

from __future__ import annotations

import numpy as np

from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.settings import setting_evidence
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult, Sign

RULE = Rule(
    "CFG06",
    needs=("learning_rate|config:learning_rate|config:n_epochs|config:gradient_steps",),
    means=(Sign.MISCONFIGURED,),
)


class Limits(RuleLimits):
    min_points: int = 3


LIMITS = Limits()
SETTINGS = ("learning_rate", "n_epochs", "gradient_steps")


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Look for zeros in the config, then in the log."""
    logged = _logged_zero(facts, limits)
    for name in SETTINGS:
        value = facts.setting(name)
        if value != 0 or (name == "learning_rate" and logged is False):
            continue
        key = facts.run.config.settings[name].native_key
        evidence = (setting_evidence(facts, name, 0.0, 0.0, note="set to zero"),)
        return RuleResult(Severity.ERROR, 0.95, f"{key} is 0: the policy is never updated", evidence)
    if not logged:
        return None
    rate = facts.run.series["learning_rate"]
    summary = f"all {len(rate)} logged values of {rate.logged_as} are exactly 0: the policy is never updated"
    evidence = (facts.evidence("learning_rate", 0.0, 0.0, note="largest logged rate"),)
    return RuleResult(Severity.ERROR, 0.9, summary, evidence, float(rate.steps[0]))


def _logged_zero(facts: RunFacts, limits: Limits) -> bool | None:
    """Whether the rate in force was zero throughout; None where the log cannot tell."""
    series = facts.series("learning_rate")
    if series is None:
        return None
    values = series.values[np.isfinite(series.values)]
    if values.max(initial=0.0) > 0:
        return False
    return True if values.size >= limits.min_points and series.decimals is None else None
