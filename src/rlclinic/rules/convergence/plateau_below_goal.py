"""The return improved and then stayed flat, with its goal not reached or not known.

What it sees: A clear climb, and then at least a quarter of the run within noise of one level, which is not the
goal. Says since when, and at what level.
Why it hurts: The steps after that changed nothing; more of the same will not either.
Evidence needed: a return with at least 12 points.
Looks alike: A solved task (the level is the goal, the task's maximum, or success in nearly every episode). A slow
rise inside the noise. A plateau before a second climb is common on sparse and locomotion tasks early in a run.
What to change: Read the findings on entropy and exploration first, then the critic; a flat return with a dead
policy needs exploration, one with a lively policy needs a better critic or a smaller final learning rate.
References: Andrychowicz et al. 2021 (arXiv 2006.05990) on what moves the final return.
"""

from __future__ import annotations

from rlclinic.facts.goal import goal_of, goal_reached, had_time, reference_steps
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.saturation import saturation
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult, Sign
from rlclinic.rules.words import steps_text
from rlclinic.signals.plateau import plateau

RULE = Rule("CNV01", needs=("return/train|return/eval",), step=DecisionStep.TASK, means=(Sign.PLATEAU,))


class Limits(RuleLimits):
    flat_share: float = 0.25
    """Share of the log that must be flat."""
    sure: float = 0.5
    """Probability that what is left of a rise along it is within that distance, either way."""
    near: float = 0.1
    """Distance from the final level that still counts as flat, as a share of the climb."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Find since when the level has not changed."""
    curve, returns = facts.curve, facts.run.returns
    if curve is None or returns is None or not curve.enough or not curve.climbed:
        return None
    near = max(1.5 * curve.noise, limits.near * curve.climb)
    if curve.rising or curve.leans_up or curve.rises_in_the_end or not had_time(facts):
        return None
    if curve.gain < 3 * curve.noise or curve.drop > 2 * near:
        return None
    flat = plateau(returns, tolerance=2.0 * near / max(curve.span, 1e-12), centre="mean")
    if not flat.enough or not flat.share >= limits.flat_share or flat.confidence < limits.sure:
        return None
    since, share = flat.since_step, flat.share
    goal = goal_of(facts)
    reached = goal_reached(facts)
    if (reached is not None and reached.held) or (goal is None and saturation(facts) is not None):
        return None
    below = goal is not None and curve.final < goal.level
    summary = (
        f"{returns.logged_as} rose from {curve.start:.4g} and has stayed at {curve.final:.4g} since "
        f"{steps_text(facts, since)} (the last {100 * share:.0f}% of the log)"
    )
    summary += f", below the goal of {goal.level:.4g}" if goal is not None and below else ""
    evidence = (
        facts.evidence(returns.name, curve.final, goal.level if goal is not None else None, note="level at the end"),
        facts.evidence(returns.name, curve.late_rise, near, note="change over the last third, against flat"),
    )
    severity = Severity.WARNING if below and _had_its_steps(facts) else Severity.INFO
    return RuleResult(severity, 0.8, summary, evidence, since)


def _had_its_steps(facts: RunFacts) -> bool:
    needed, taken = reference_steps(facts), facts.run.env_steps
    return needed is None or taken is None or taken >= needed
