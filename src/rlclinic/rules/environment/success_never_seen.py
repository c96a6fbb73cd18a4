"""Hardly any episode of the whole run succeeded.

What it sees: A success or win rate that is zero at every point, or stays below a tenth and does not rise.
Why it hurts: What the task is about was hardly ever seen, so nothing leads there; whatever the return does, it is about
something else.
Evidence needed: a success rate with at least 20 points, or 6 of a run that had the time to improve.
Looks alike: The first part of a run on a hard task. A rate that was never wired up and stays at its default.
What to change: Find out whether success can happen at all: run a scripted policy, or start close to the goal. Then give
a reward on the way there, a curriculum that begins with easy starts, or demonstrations.
References: Andrychowicz et al. 2017 (arXiv 1707.01495); Florensa et al. 2017 (arXiv 1707.05300).
"""

from __future__ import annotations

from rlclinic.facts.goal import had_time
from rlclinic.facts.returns import return_curve
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.model.series import Series
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult
from rlclinic.rules.words import steps_text

RULE = Rule("ENV14", needs=("success_rate|success_rate/eval",), step=DecisionStep.REWARD)


class Limits(RuleLimits):
    fewest_points: int = 20
    fewest_in_time: int = 6
    """The same of a run that had the time to improve, where each point may stand for many episodes."""
    rare: float = 0.1
    """Rate that some episodes reach by luck."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """See whether every rate is zero, or low and no higher at the end than at the start."""
    found = [series for name in ("success_rate/eval", "success_rate") if (series := facts.series(name)) is not None]
    points, highest = (max(map(of, found), default=0) for of in (len, lambda series: series.highest or 0.0))
    least = limits.fewest_in_time if had_time(facts) else limits.fewest_points
    if points < least or highest > limits.rare or any(map(_rose, found)):
        return None
    rising = facts.curve is not None and facts.curve.rising
    level = f"never above {100 * highest:.2g}%" if highest else f"0 at all {points} points"
    summary = f"{found[0].logged_as} is {level}, over {steps_text(facts, facts.run.steps)}"
    evidence = (facts.evidence(found[0].name, highest, limits.rare, note="highest rate of success"),)
    return RuleResult(Severity.INFO if rising else Severity.WARNING, 0.6 if highest else 0.8, summary, evidence)


def _rose(series: Series) -> bool:
    curve = return_curve(series)
    return curve is not None and (curve.rose or curve.leans_up)
