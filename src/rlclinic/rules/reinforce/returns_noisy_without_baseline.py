"""The noise of raw returns hides the gradient, and no baseline takes it away.

What it sees: REINFORCE without a baseline or normalised returns, whose return scatters at least as much from point to
point as it ever climbed, and did not improve.
Why it hurts: Each action is credited with the whole return. Its variance grows with the level of the return, so most
of every step is noise.
Evidence needed: a return with at least 20 points, and a log or config that would show a baseline.
Looks alike: A noisy return that still rises: slow, not broken. Evaluation over few episodes scatters for its own
reasons.
What to change: Subtract a baseline (the mean return of the batch is the simplest, a value network the usual),
normalise returns per batch, use reward-to-go, and more episodes per update.
References: Williams 1992; Greensmith et al. 2004 (JMLR 5); Sutton and Barto 2018, section 13.4.
"""

from __future__ import annotations

from rlclinic.facts.goal_status import failed
from rlclinic.facts.reinforce import baseline_of, is_reinforce
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult

RULE = Rule("RNF01", needs=("return/train|return/eval",), algorithms=("actor-critic",))


class Limits(RuleLimits):
    fewest_points: int = 20
    hides: float = 1.0
    """Scatter of a point over the climb of the smoothed return."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare the scatter of the return with its climb."""
    curve = facts.curve
    if curve is None or curve.points < limits.fewest_points or not is_reinforce(facts) or baseline_of(facts):
        return None
    climb = max(curve.climb, curve.noise, 1e-12)
    ratio = curve.point_noise / climb
    if ratio < limits.hides or not failed(facts):
        return None
    summary = (
        f"the return scatters by {curve.point_noise:.3g} from point to point (start {curve.start:.4g}, best level "
        f"{curve.best:.4g}, end {curve.final:.4g}); no baseline is seen in log or config"
    )
    evidence = (facts.evidence("return/train", ratio, limits.hides, note="scatter of a point over the climb"),)
    return RuleResult(Severity.WARNING, 0.5, summary, evidence)
