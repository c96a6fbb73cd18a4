"""Rollouts are thrown away before they count: environments that do not start, calls that time out.

What it sees: A tenth or more of the rollouts is lost at the end of the run, for a reason that is logged.
Why it hurts: The batch is smaller than configured; where a lost rollout is scored, it is scored 0, and a fault of the
machine is learned as a wrong answer.
Evidence needed: rollouts_lost as a share, or as counts beside the batch and group size, with at least 12 points.
Looks alike: Responses cut at their cap, which are counted elsewhere; a few retries.
What to change: Look at the log of the environment's server: images that cannot be pulled, a registry or disk that is
full, a time limit below what a task takes. Leave lost rollouts out of the loss.
References: LegoX/Lego-RL, trajectory_filter/reason/env_setup_failed and invalid_ratio below 0.1.
"""

from __future__ import annotations

from rlclinic.facts.language_model import change, told
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.settings import positive
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "LMR36",
    needs=("rollouts_lost|rollouts_lost/*",),
    algorithms=("language-model", "ppo"),
    step=DecisionStep.ENVIRONMENT,
    causes={"rollouts-fail": 7.0},
)


class Limits(RuleLimits):
    many: float = 0.1
    """Share of lost rollouts from which on the batch is clearly smaller than configured."""
    half: float = 0.5
    """Share from which on what is lost decides what is learned."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Find the reason for which most are lost."""
    prompts, group = positive(facts, "prompts_per_batch"), positive(facts, "group_size")
    found = []
    for name, series in facts.run.series.items():
        levels = change(facts, name) if name.partition("/")[0] == "rollouts_lost" else None
        counted = levels is not None and (series.highest or 0.0) > 1.0
        if levels is None or (counted and (prompts is None or group is None)):
            continue
        rollouts = (prompts or 1.0) * (group or 1.0) if counted else 1.0
        found.append((levels[1].value / rollouts, levels[0].value / rollouts, name))
    # Of the whole and its parts the part that is as large tells more.
    late, early, name = max(found, key=lambda item: (round(item[0], 3), "/" in item[2]), default=(0.0, 0.0, ""))
    if late < limits.many:
        return None
    logged = facts.run.series[name].logged_as
    summary = (
        f"{logged}: {100 * late:.3g}% of the rollouts are lost at the end ({100 * early:.3g}% early); {told(facts)}"
    )
    evidence = (facts.evidence(name, late, limits.many, note="share of rollouts, median of the last 15%"),)
    return RuleResult(Severity.ERROR if late >= limits.half else Severity.WARNING, 0.85, summary, evidence)
