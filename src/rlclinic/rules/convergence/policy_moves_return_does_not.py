"""The policy changed a great deal, and the return did not respond.

What it sees: Entropy moved by a good part of its range in updates of ordinary size, while the return stayed where it
began, or where random actions are.
Why it hurts: What the policy does has no influence on what it earns, or the gradient follows noise: actions without
effect, a reward that does not depend on them, observations that do not tell the state, or a bug in the advantages.
Evidence needed: entropy of a policy with a known number of actions, approx_kl, and a return with 30 points.
Looks alike: A policy destroyed by large updates, or one that became deterministic (other rules). A return that is
exactly constant. A slow start: the run must have had the time to learn.
What to change: Act at random and by a fixed action and compare the returns (`rlclinic examine`); if they do not differ,
the environment ignores actions. If they differ and the critic explains nothing, look at the observations.
References: Andy Jones, Debugging RL, Without the Agonizing Pain (probe environments).
"""

from __future__ import annotations

from rlclinic.facts.goal_status import failed
from rlclinic.facts.policy_updates import clip_kl, clip_range
from rlclinic.facts.return_state import has_fallen, return_name
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "CNV09",
    needs=("entropy", "approx_kl", "config:n_actions", "return/train|return/eval"),
    algorithms=("ppo", "actor-critic"),
    step=DecisionStep.ENVIRONMENT,
)


class Limits(RuleLimits):
    moved: float = 0.2
    """Share of the greatest entropy by which it must have moved, and that must be left: none left is another
    finding."""
    left: float = 0.15
    least_kl: float = 0.02
    """Median KL in multiples of the one at which all ratios stand at the clip: smaller hardly moves, larger
    destroys."""
    most_kl: float = 2.0
    usual_clip: float = 0.2
    same_return: float = 5.0
    """Units of noise within which the return must stay."""
    min_points: int = 30


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Set the way of the policy beside the way of the return."""
    curve, top = facts.curve, facts.max_entropy
    early, late, kl = facts.early("entropy"), facts.late("entropy"), facts.level("approx_kl")
    if curve is None or top is None or early is None or late is None or kl is None:
        return None
    if curve.points < limits.min_points or not curve.span or not failed(facts) or has_fallen(facts):
        return None
    pace = kl.value / clip_kl(clip_range(facts) or limits.usual_clip)
    moved = abs(late.value - early.value)
    if not limits.least_kl < pace < limits.most_kl or moved < limits.moved * top or late.value < limits.left * top:
        return None
    if curve.span > limits.same_return * curve.noise:
        return None
    summary = (
        f"entropy went from {early.value:.3g} to {late.value:.3g} nats (of {top:.3g}) in updates of KL {kl.value:.2g}; "
        f"the return stayed between {curve.values.min():.4g} and {curve.values.max():.4g} "
        f"(noise {curve.noise:.2g})"
    )
    evidence = (
        facts.evidence(
            "entropy", moved, limits.moved * top, level=late, note="change from the first to the last tenth"
        ),
        facts.evidence(return_name(facts), curve.span, limits.same_return * curve.noise, note="range, against noise"),
    )
    return RuleResult(Severity.WARNING, 0.7, summary, evidence)
