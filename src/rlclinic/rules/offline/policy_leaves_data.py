"""The policy does what its data do not show, and does badly.

What it sees: In states of the data, many of the policy's actions are farther from the recorded ones than these are from
each other, or they went far away from them after they had been near; the evaluations end below the goal.
Why it hurts: Nobody knows what such actions bring. Their values are extrapolated, errors upwards are chosen, and
nothing in the data corrects them.
Evidence needed: offline/actions_outside, offline/action_distance and return/eval.
Looks alike: A policy that is better than its data and has to differ from them: it reaches the goal. One that has hardly
been trained: its values have not moved either.
What to change: More weight for staying near the data, a method that never asks about other actions (IQL, filtered
cloning), or data with such actions.
References: Fujimoto et al. 2019 (arXiv 1812.02900); Kumar et al. 2020 (arXiv 2006.04779).
"""

from __future__ import annotations

from rlclinic.facts.offline import Offline, offline_of
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult

RULE = Rule(
    "OFL01",
    needs=("return/eval", "offline/actions_outside"),
    algorithms=("q-learning", "continuous-q"),
    causes={"conservatism-too-weak": 4.0, "q-overestimation": 0.8, "dataset-coverage-poor": 0.5},
)


class Limits(RuleLimits):
    outside: float = 0.4
    """Share of its actions that the data do not show; of the data's own it is 0.05."""
    left: float = 2.0
    """Distance from the actions in the data, against that when it was least."""
    apart: float = 0.25
    """Least distance that counts as far, in half ranges or as a share of choices."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Judge the share of actions outside the data."""
    found = offline_of(facts)
    if found is None or not found.short or found.actions_outside is None:
        return None
    if found.actions_outside < limits.outside:
        return _went_away(facts, found, limits)
    summary = f"{100 * found.actions_outside:.0f}% of the policy's actions are unlike any in the data; {found.told}"
    evidence = (facts.evidence("offline/actions_outside", found.actions_outside, limits.outside),)
    return RuleResult(Severity.WARNING, 0.75, summary, evidence)


def _went_away(facts: RunFacts, found: Offline, limits: Limits) -> RuleResult | None:
    if found.distance is None or found.nearest is None or found.distance < limits.apart:
        return None
    bar = limits.left * found.nearest
    if found.distance < bar:
        return None
    summary = (
        f"the policy's actions were {found.nearest:.2f} from those in the data and are {found.distance:.2f} away now; "
        f"{found.told}"
    )
    evidence = (facts.evidence("offline/action_distance", found.distance, bar),)
    return RuleResult(Severity.WARNING, 0.7, summary, evidence)
