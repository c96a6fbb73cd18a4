"""The return swings by a large part of its range.

What it sees: After a climb the return lost at least 40% of its whole range, well beyond its noise, and won a good
part of it back; twice or more, or once without coming back to its best.
Why it hurts: What the policy learns does not last: the checkpoint at the end is a matter of luck.
Evidence needed: a return with at least 12 points.
Looks alike: Noise of single episodes or of few evaluation episodes. One dip that is fully recovered. A curriculum
or self-play opponent that changes the task. Penalties of
training alone: evaluations that hold their best show it.
What to change: Smaller policy steps: lower the learning rate or let it decay, fewer epochs, larger batch; for
Q-learning a slower target network and a larger buffer. Keep the best checkpoint.
References: Engstrom et al. 2020 (arXiv 2005.12729); Mnih et al. 2015 on target networks.
"""

from __future__ import annotations

from rlclinic.facts.evaluations import evaluations_hold
from rlclinic.facts.goal import goal_reached
from rlclinic.facts.returns import MATERIAL_FALL
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.model.return_curve import ReturnCurve
from rlclinic.model.series import Series
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult, Sign
from rlclinic.rules.words import steps_text
from rlclinic.signals.oscillation import oscillation

RULE = Rule("CNV03", needs=("return/train|return/eval",), means=(Sign.UNSTABLE, Sign.RETURN_FELL))


class Limits(RuleLimits):
    recovered: float = 0.25
    """Share of the range that must come back for a fall to be a swing and not a loss."""
    harmless: float = 0.2
    """Share of the range by which the end may miss the best after a single dip that did no harm."""
    regular: float = 0.7
    """Likeness of the half periods from which on swings have a rhythm, and turns that it takes."""
    fewest_turns: int = 6


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Count falls that were followed by a recovery."""
    curve, returns = facts.curve, facts.run.returns
    if curve is None or returns is None or not curve.enough:
        return None
    least = max(curve.doubt, limits.recovered * curve.span)
    swings = [fall for fall in curve.falls if fall.recovered >= least]
    if not swings:
        return None
    worst = max(swings, key=lambda fall: fall.depth)
    began, ended = steps_text(facts, worst.from_step), steps_text(facts, worst.to_step)
    summary = (
        f"{returns.logged_as} fell from {worst.high:.4g} at {began} to {worst.low:.4g} at {ended} and rose again by "
        f"{worst.recovered:.4g}; {_times(len(swings))} in this run{_rhythm(facts, returns, limits)}"
    )
    bar = max(curve.doubt, MATERIAL_FALL * curve.span)
    evidence = (
        facts.evidence(returns.name, worst.depth, bar, note="largest fall, against noise and 40% of the range"),
        facts.evidence(returns.name, worst.recovered, least, note="what came back"),
    )
    severity = Severity.WARNING if _harmful(facts, curve, len(swings), limits) else Severity.INFO
    return RuleResult(severity, 0.75, summary, evidence, swings[0].from_step)


def _harmful(facts: RunFacts, curve: ReturnCurve, swings: int, limits: Limits) -> bool:
    reached = goal_reached(facts)
    if (reached is not None and reached.held) or evaluations_hold(facts):
        return False
    return swings > 1 or curve.drop > limits.harmless * curve.span


def _rhythm(facts: RunFacts, returns: Series, limits: Limits) -> str:
    """How often it swings, where the swings are regular: a schedule or a buffer that turns over looks like this."""
    swing = oscillation(returns, centre="mean")
    if not swing.enough or not swing.regularity >= limits.regular or swing.turns < limits.fewest_turns:
        return ""
    return f", about every {steps_text(facts, swing.period)}"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} such falls"
