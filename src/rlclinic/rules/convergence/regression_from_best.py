"""The return ended clearly below its best level.

What it sees: The level at the end is below the best level by more than noise and by at least a fifth of the climb
(a warning from 35 % on), but still well above the start.
Why it hurts: The last policy is worse than one the run already had; training on made it worse.
Evidence needed: a return with at least 12 points.
Looks alike: One bad last evaluation (the middle of at least three points counts). Noise of a mean over few
episodes. A curriculum that raised the difficulty.
What to change: Use the best checkpoint. For the next run lower the learning rate or let it decay, and look at the
findings on KL, epochs and Q-values, which usually moved first.
References: Engstrom et al. 2020 (arXiv 2005.12729); SB3 issue 324 (PPO collapses after reaching the optimum).
"""

from __future__ import annotations

from dataclasses import dataclass

from rlclinic.facts.course import CLEAR, course_of
from rlclinic.facts.goal import goal_of, reach_of
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.result import RuleResult
from rlclinic.rules.rule import Rule, Sign
from rlclinic.rules.words import steps_text
from rlclinic.signals.collapse import collapse

RULE = Rule("CNV04", needs=("return/train|return/eval",), means=(Sign.UNSTABLE, Sign.RETURN_FELL))


@dataclass(frozen=True, slots=True)
class Limits:
    """What the rule judges by."""

    noticed: float = 0.2
    """Share of the climb whose loss is worth a note, and a warning."""
    lost: float = 0.35
    left: float = 0.3
    """Share of the climb that must be left; with less the return is back where it began."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare the end with the best level."""
    course, returns = course_of(facts), facts.run.returns
    if course is None or returns is None or not course.enough or not course.climbed:
        return None
    outcome = course.outcome
    least = max(CLEAR * course.unit, limits.noticed * outcome.climb)
    if course.drop < least or course.gain < limits.left * outcome.climb:
        return None
    goal = goal_of(facts)
    reach = reach_of(facts, goal) if goal is not None else None
    held = reach is not None and reach.held
    summary = (
        f"{returns.logged_as} was {outcome.peak:.4g} at {steps_text(facts, outcome.peak_step)} and ended at "
        f"{course.end:.4g}: {100 * course.drop / outcome.climb:.0f} % of the climb from {outcome.start:.4g} is lost"
    )
    mild = course.drop < limits.lost * outcome.climb
    lost = collapse(returns, centre="mean")
    summary += "; it is rising again" if course.rising else ""
    evidence = (
        facts.evidence(returns.name, course.drop, least, note="best level minus the level at the end"),
        facts.evidence(returns.name, course.gain, limits.left * outcome.climb, note="what is left of the climb"),
        facts.evidence(returns.name, lost.drop_low, 0.0, note="fall from the best, lower end of its 95 % interval"),
    )
    severity = Severity.INFO if held or mild or course.rising else Severity.WARNING
    return RuleResult(severity, 0.8 if lost.drop_low > 0.0 else 0.65, summary, evidence, outcome.peak_step)
