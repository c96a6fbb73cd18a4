"""The target KL ends nearly every update before it has begun.

What it sees: A target KL far below what a healthy update changes, and a counter that shows only a small part of the
updates that the config implies. Without a config, one pass over each rollout with next to no KL.
Why it hurts: The first minibatch already exceeds the limit, so that each batch is used for one step instead of dozens:
the policy creeps, and the critic, which stops with it, never learns.
Evidence needed: target_kl in the config, the counter of updates, and the settings that imply how many there should be.
Looks alike: A target KL that is reached in some updates, which is its purpose. A run that has just begun.
What to change: Raise the target KL to 0.01 to 0.03, or remove it and watch approx_kl.
References: Achiam 2018, Spinning Up, PPO (target KL 0.01); Dossa et al. 2021 on KL-based early stopping.
"""

from __future__ import annotations

import numpy as np

from rlclinic.facts.goal_status import failed, is_open
from rlclinic.facts.policy_updates import clip_kl, clip_range
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.settings import positive, setting_evidence
from rlclinic.facts.stretch import finite
from rlclinic.model.finding import Severity
from rlclinic.rules.data.updates_fewer_than_expected import COUNTERS, made_and_implied
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "POL14", needs=("updates", "config:target_kl|approx_kl"), algorithms=("ppo",), step=DecisionStep.UPDATE_SIZE
)


class Limits(RuleLimits):
    few: float = 0.3
    """Share of the implied updates that were made."""
    tiny: float = 0.1
    """Target KL as a share of the KL at which all ratios stand at the clip (0.02 for a clip of 0.2)."""
    usual_clip: float = 0.2
    fewest_points: int = 10


LIMITS = Limits()
# Frameworks whose counter counts passes over a rollout.
COUNT_PASSES = COUNTERS | {"rlclinic"}


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Hold the limit against the clip, and the made updates against the implied ones."""
    limit, counted = positive(facts, "target_kl"), made_and_implied(facts)
    if not facts.run.config.settings:
        return _by_the_log(facts, limits)
    if limit is None or counted is None:
        return None
    made, implied = counted
    bar = limits.tiny * clip_kl(clip_range(facts) or limits.usual_clip)
    if limit > bar or made > limits.few * implied:
        return None
    summary = (
        f"target_kl is {limit:.2g} (0.01 to 0.03 is common) and only {made:,.0f} of the {implied:,.0f} updates "
        "that the config implies were made: nearly every update is cut short"
    )
    evidence = (
        setting_evidence(facts, "target_kl", limit, bar, note="against a tenth of clip range squared / 2"),
        facts.evidence("updates", made / implied, limits.few, note="made over implied updates"),
    )
    severity = Severity.ERROR if failed(facts) else Severity.WARNING
    return RuleResult(severity, 0.85, summary, evidence)


def _by_the_log(facts: RunFacts, limits: Limits) -> RuleResult | None:
    """One pass over every rollout, where several are usual, that moves the policy by next to nothing."""
    counted, level = facts.series("updates"), facts.level("approx_kl")
    if (
        counted is None
        or level is None
        or len(counted) < limits.fewest_points
        or facts.run.framework not in COUNT_PASSES
    ):
        return None
    bar = limits.tiny * clip_kl(clip_range(facts) or limits.usual_clip)
    if not bool(np.all(np.diff(finite(counted)[1]) == 1.0)) or not 0.0 < level.value < bar or not is_open(facts):
        return None
    summary = (
        f"{counted.logged_as} grows by one pass a rollout (3 to 20 are common) at a KL of {level.value:.2g} nats: as "
        "if a limit of the KL ended every update at once"
    )
    evidence = (
        facts.evidence("updates", 1.0, note="passes over a rollout"),
        facts.evidence("approx_kl", level.value, bar, level=level, note="median, in nats"),
    )
    return RuleResult(Severity.WARNING, 0.5, summary, evidence)
