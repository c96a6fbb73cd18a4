"""Episodes that a time limit cut are marked as terminal in the data.

What it sees: Most episodes of the data end with a terminal step exactly at the time limit of the environment.
Why it hurts: The learner takes the last state for worthless. States like it are met in mid-episode too, so that values
contradict each other.
Evidence needed: offline/cut_as_end.
Looks alike: A task that ends by itself at a fixed time.
What to change: Mark such steps as truncated; keep terminal for what ends the task.
References: Pardo et al. 2018 (arXiv 1712.00378).
"""

from __future__ import annotations

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult

RULE = Rule(
    "OFL08",
    needs=("offline/cut_as_end",),
    algorithms=("q-learning", "continuous-q"),
    causes={"truncation-as-termination": 6.0},
)


class Limits(RuleLimits):
    share: float = 0.5
    """Of the episodes."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Judge how episodes of the data end."""
    found = facts.late("offline/cut_as_end", 1.0)
    if found is None or found.value < limits.share:
        return None
    summary = f"{100 * found.value:.0f}% of the episodes in the data are marked as terminal at the time limit"
    evidence = (facts.evidence("offline/cut_as_end", found.value, limits.share),)
    return RuleResult(Severity.WARNING, 0.8, summary, evidence)
