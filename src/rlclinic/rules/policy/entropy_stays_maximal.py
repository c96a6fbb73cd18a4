"""The policy is as random as at its start although the run was long, and the return is flat.

What it sees: In every part of the run the entropy is within 3% of its greatest value, and the return is flat; or it
stays within 10% of ln(number of actions) while the return stopped far below a known goal. A note where a run that
learns ended its budget as random as that, with an entropy bonus.
Why it hurts: A policy that acts at random has learned nothing: the entropy bonus outweighs the reward, the policy
gets no useful gradient, or the updates are too small.
Evidence needed: entropy with at least 20 points and a return.
Looks alike: The first part of any run, and a sparse task before the first reward: only a run that used a third of its
budget or more is judged. A fixed action noise never changes its entropy and is not judged.
What to change: If the bonus is large, lower it by a factor of 10. If KL and clip fraction are near zero, the updates
are too small. Else look for the signal: rewards that depend on actions, observations that are not constant.
References: Mnih et al. 2016 (arXiv 1602.01783), section 4; Ahmed et al. 2019 (arXiv 1811.11214).
"""

from __future__ import annotations

import numpy as np

from rlclinic.facts.exploration import ceiling, uniform
from rlclinic.facts.goal import goal_of, had_time
from rlclinic.facts.goal_status import is_open
from rlclinic.facts.return_state import is_flat, reached_goal, return_name
from rlclinic.facts.run_facts import RunFacts, WindowLevel
from rlclinic.facts.settings import positive
from rlclinic.facts.stretch import finite
from rlclinic.model.finding import Severity
from rlclinic.model.return_curve import ReturnCurve
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "POL02",
    needs=("entropy", "return/train|return/eval"),
    algorithms=("ppo", "actor-critic"),
    step=DecisionStep.EXPLORATION,
)


class Limits(RuleLimits):
    uniform: float = 0.97
    """Share of the greatest entropy: a two-action policy of 0.60/0.40 has 0.97."""
    nearly_uniform: float = 0.9
    """The same for a run that learned something and then stopped; 0.68/0.32 has 0.90."""
    far_from_goal: float = 0.3
    """Share of the way to the goal beyond which a rather random policy is doing its work."""
    min_points: int = 20


LIMITS = Limits()
# Share of the budget that must be used before a lack of progress counts.
USED = 1 / 3


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Hold the entropy of each quarter against the greatest possible one."""
    entropy, curve, equal = facts.series("entropy"), facts.curve, uniform(facts)
    top = equal if equal is not None else ceiling(facts)
    if entropy is None or curve is None or top is None or facts.is_language_model:
        return None
    _, values = finite(entropy)
    if values.size < limits.min_points or top <= 0.0 or np.ptp(values) == 0.0 or reached_goal(facts):
        return None
    if facts.progress is not None and facts.progress < USED:
        return None
    quarters = [level for i in range(4) if (level := facts.level("entropy", i / 4, (i + 1) / 4)) is not None]
    lowest = min(quarters, key=lambda level: level.value)
    if lowest.value >= limits.uniform * top and had_time(facts) and is_flat(facts):
        return _sighting(facts, curve, lowest, top, limits.uniform, 0.75)
    if equal is None or lowest.value < limits.nearly_uniform * equal:
        return None
    if _stopped_far_from_goal(facts, curve, limits):
        return _sighting(facts, curve, lowest, equal, limits.nearly_uniform, 0.6)
    if positive(facts, "ent_coef") is None or not is_open(facts):
        return None
    return _sighting(facts, curve, lowest, equal, limits.nearly_uniform, 0.5, Severity.INFO)


def _stopped_far_from_goal(facts: RunFacts, curve: ReturnCurve, limits: Limits) -> bool:
    goal = goal_of(facts)
    far = goal is not None and goal.share(curve.best) <= limits.far_from_goal
    return far and had_time(facts) and not curve.still_rising


def _sighting(
    facts: RunFacts,
    curve: ReturnCurve,
    lowest: WindowLevel,
    top: float,
    threshold: float,
    confidence: float,
    severity: Severity = Severity.WARNING,
) -> RuleResult:
    of_what = "of ln(number of actions)" if uniform(facts) is not None else "of its highest"
    summary = (
        f"entropy never fell below {lowest.value:.4g} ({100 * lowest.value / top:.1f}% {of_what}, {top:.4g}) while "
        f"the return went from {curve.start:.4g} to {curve.final:.4g}"
    )
    evidence = (
        facts.evidence("entropy", lowest.value / top, threshold, level=lowest, note="median of the lowest quarter"),
        facts.evidence(return_name(facts), curve.gain, 3 * curve.scatter, note="gain from start to end"),
    )
    return RuleResult(severity, confidence, summary, evidence, None)
