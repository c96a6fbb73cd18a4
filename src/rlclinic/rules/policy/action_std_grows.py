"""The action noise grows without bound while the return does not rise.

What it sees: The standard deviation of the actions ends at three times its early level or more, still growing, and
the return is flat, has fallen, or is not logged at all; or at ten times, and the return does not rise any more.
Why it hurts: Actions far outside the range are clipped: the policy then pushes at the limits at random, and its
gradient no longer says anything about the actions that were taken.
Evidence needed: action_std/mean with at least 15 points. Without a return only a fivefold growth counts.
Looks alike: A policy that widens for a while and comes back. Growth beside a rising return.
What to change: Lower the entropy bonus by a factor of 10 or set it to zero, bound the log standard deviation from
above, and check that a squashed or clipped action is what the log-probability is computed for.
References: Andrychowicz et al. 2021 (arXiv 2006.05990), section 3.2; Stable-Baselines3 issue 1593.
"""

from __future__ import annotations

from rlclinic.facts.growth import growth
from rlclinic.facts.return_state import reached_goal, return_name, suffers
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.stretch import finite
from rlclinic.model.finding import Evidence, Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule("POL09", needs=("action_std/mean",), algorithms=("ppo", "actor-critic"), step=DecisionStep.EXPLORATION)


class Limits(RuleLimits):
    grown: float = 3.0
    """Late over early width, with a return that does not rise, and without any return."""
    grown_unseen: float = 5.0
    grown_far: float = 10.0
    """Growth that leaves any action range behind, whatever the return gained before."""
    steady: float = 0.8
    """Rank correlation with time that counts as growing all along."""
    min_points: int = 15


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Measure how far and how steadily the width grew."""
    width, curve = facts.series("action_std/mean"), facts.curve
    grown = growth(width)
    if width is None or grown is None or len(finite(width)[0]) < limits.min_points:
        return None
    needed = limits.grown if curve is not None else limits.grown_unseen
    if grown.factor < needed or grown.steadiness < limits.steady or _does_well(facts, grown.factor, limits):
        return None
    beside = (
        f"while the return went from {curve.start:.4g} to {curve.final:.4g}"
        if curve is not None
        else "and no return is logged beside it"
    )
    summary = (
        f"action std ({width.logged_as}) grew {grown.factor:.3g} times, from {grown.early.value:.3g} to "
        f"{grown.late.value:.3g}, {beside}"
    )
    evidence: list[Evidence] = [
        facts.evidence("action_std/mean", grown.factor, needed, level=grown.late, note="late over early level"),
        facts.evidence("action_std/mean", grown.steadiness, limits.steady, note="rank correlation with time"),
    ]
    if curve is not None:
        gain = facts.evidence(return_name(facts), curve.gain, 3 * curve.scatter, note="gain from start to end")
        evidence.append(gain)
    return RuleResult(Severity.WARNING, 0.8, summary, tuple(evidence), grown.onset_step)


def _does_well(facts: RunFacts, factor: float, limits: Limits) -> bool:
    """Whether the return speaks against harm: it rises, is at its goal, or gained while the growth is moderate."""
    curve = facts.curve
    if curve is None or suffers(facts):
        return False
    return factor < limits.grown_far or curve.rising or reached_goal(facts)
