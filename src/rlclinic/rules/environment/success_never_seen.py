"""No episode of the whole run succeeded.

What it sees: A success or win rate that is exactly zero at every point.
Why it hurts: What the task is about was never seen, so nothing leads there; whatever the return does, it is about
something else.
Evidence needed: a success rate with at least 20 points.
Looks alike: The first part of a run on a hard task. A rate that was never wired up and stays at its default.
What to change: Find out whether success can happen at all: run a scripted policy, or start close to the goal. Then give
a reward on the way there, a curriculum that begins with easy starts, or demonstrations.
References: Andrychowicz et al. 2017 (arXiv 1707.01495); Florensa et al. 2017 (arXiv 1707.05300).
"""

from __future__ import annotations

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult
from rlclinic.rules.words import steps_text

RULE = Rule("ENV14", needs=("success_rate|success_rate/eval",), step=DecisionStep.REWARD)


class Limits(RuleLimits):
    fewest_points: int = 20


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """See whether every rate is zero."""
    found = [series for name in ("success_rate/eval", "success_rate") if (series := facts.series(name)) is not None]
    points = max((len(series) for series in found), default=0)
    if points < limits.fewest_points or any(series.highest for series in found):
        return None
    rising = facts.curve is not None and facts.curve.rising
    summary = f"{found[0].logged_as} is 0 at all {points} points, over {steps_text(facts, facts.run.steps)}"
    evidence = (facts.evidence(found[0].name, 0.0, 0.0, note="highest rate of success"),)
    return RuleResult(Severity.INFO if rising else Severity.WARNING, 0.8, summary, evidence)
