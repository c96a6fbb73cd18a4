"""The return ended clearly below its best level.

What it sees: The level at the end is below the best level by more than noise and by at least a fifth of the climb
(a warning from 35% on), but still well above the start.
Why it hurts: The last policy is worse than one the run already had; training on made it worse.
Evidence needed: a return with at least 12 points.
Looks alike: One bad last evaluation (the middle of at least three points counts). Noise of a mean over few
episodes. A curriculum that raised the difficulty.
What to change: Use the best checkpoint. For the next run lower the learning rate or let it decay, and look at the
findings on KL, epochs and Q-values, which usually moved first.
References: Engstrom et al. 2020 (arXiv 2005.12729); SB3 issue 324 (PPO collapses after reaching the optimum).
"""

from __future__ import annotations

from rlclinic.facts.costs import longer_episodes_cost_more
from rlclinic.facts.evaluations import evaluations_hold
from rlclinic.facts.goal import goal_reached
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.model.return_curve import ReturnCurve
from rlclinic.model.series import Series
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult, Sign
from rlclinic.rules.words import first_level_words, steps_text
from rlclinic.signals.collapse import collapse

RULE = Rule("CNV04", needs=("return/train|return/eval",), means=(Sign.UNSTABLE, Sign.RETURN_FELL))


class Limits(RuleLimits):
    noticed: float = 0.2
    """Share of the climb whose loss is worth a note."""
    surely: float = 0.25
    """The same that is worth a warning where it is lost beyond doubt."""
    lost: float = 0.35
    """The same that is worth a warning in any case."""
    left: float = 0.3
    """Share of the climb that must be left; with less the return is back where it began."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare the end with the best level."""
    curve, returns = facts.curve, facts.run.returns
    if curve is None or returns is None or not curve.enough:
        return None
    if not curve.climbed:
        return _declined(facts, curve, returns)
    least = max(curve.least_fall, limits.noticed * curve.climb)
    if curve.drop < least or curve.gain < limits.left * curve.climb:
        return None
    reached = goal_reached(facts)
    held = reached is not None and reached.held
    summary = (
        f"{returns.logged_as} was {curve.best:.4g} at {steps_text(facts, curve.best_step)} and ended at "
        f"{curve.final:.4g}: {100 * curve.drop / curve.climb:.0f}% of the climb from {curve.start:.4g} is lost"
    )
    mild = curve.drop < limits.lost * curve.climb and curve.drop - curve.doubt < limits.surely * curve.climb
    mild = mild and not curve.falling
    lost = collapse(returns, centre="mean")
    summary += "; it is rising again" if curve.rising else ""
    evidence = (
        facts.evidence(returns.name, curve.drop, least, note="best level minus the level at the end"),
        facts.evidence(returns.name, curve.gain, limits.left * curve.climb, note="what is left of the climb"),
        facts.evidence(returns.name, lost.drop_low, 0.0, note="fall from the best, lower end of its 95% interval"),
    )
    severity = Severity.INFO if held or mild or curve.rising else Severity.WARNING
    return RuleResult(severity, 0.8 if lost.drop_low > 0.0 else 0.65, summary, evidence, curve.best_step)


def _declined(facts: RunFacts, curve: ReturnCurve, returns: Series) -> RuleResult | None:
    """A return that never climbed and lost a part of the level that it began with."""
    if not curve.fell_below_start or longer_episodes_cost_more(facts) or evaluations_hold(facts):
        return None
    lost = curve.first_level - curve.final
    summary = f"{returns.logged_as} {first_level_words(curve)} and declined to {curve.final:.4g}"
    evidence = (facts.evidence(returns.name, lost, curve.doubt, note="first level minus the level at the end"),)
    return RuleResult(Severity.WARNING, 0.75, summary, evidence, curve.best_step)
