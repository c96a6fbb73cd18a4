"""Updates grow over the whole run until they leave the region of the clip.

What it sees: KL of single updates grows steadily by a factor of five or more, to twice what the clip range stands
for, while the return is flat or has fallen.
Why it hurts: As a policy becomes sharper, the same step changes it more. Without a falling learning rate or a brake
the updates end as jumps; late collapses begin like this. Data that is reused across batches shows the same picture.
Evidence needed: approx_kl with at least 15 points, the clip range, and a return.
Looks alike: Continuous policies that narrow while they improve: KL grows within the clip and the return rises.
What to change: Let the learning rate fall over the run, set a target KL, use fewer epochs; check that the rollout
buffer is emptied between updates.
References: Schulman et al. 2017 (arXiv 1707.06347); Andrychowicz et al. 2021 (arXiv 2006.05990), section 3.7.
"""

from __future__ import annotations

from rlclinic.facts.growth import growth
from rlclinic.facts.policy_updates import clip_kl, clip_range
from rlclinic.facts.return_state import suffers
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.stretch import finite
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult, Sign

RULE = Rule(
    "POL12",
    needs=("approx_kl", "clip_range|config:clip_range", "return/train|return/eval"),
    algorithms=("ppo",),
    step=DecisionStep.UPDATE_SIZE,
    means=(Sign.POLICY_TOO_FAST,),
)


class Limits(RuleLimits):
    grown: float = 5.0
    """Late over early KL."""
    steady: float = 0.7
    """Rank correlation with time that counts as growing all along."""
    beyond_clip: float = 2.0
    """Times the KL at which all ratios stand at the clip."""
    min_points: int = 15


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Measure how far and how steadily KL grew."""
    kl, curve, clip = facts.series("approx_kl"), facts.curve, clip_range(facts)
    grown = growth(kl)
    if kl is None or curve is None or clip is None or grown is None or len(finite(kl)[0]) < limits.min_points:
        return None
    bar = limits.beyond_clip * clip_kl(clip)
    if grown.factor < limits.grown or grown.steadiness < limits.steady or grown.late.value < bar or not suffers(facts):
        return None
    summary = (
        f"KL of single updates grew {grown.factor:.3g} times, from {grown.early.value:.2g} to {grown.late.value:.2g} "
        f"nats, while the return went from {curve.start:.4g} (best {curve.best:.4g}) to {curve.final:.4g}"
    )
    evidence = (
        facts.evidence("approx_kl", grown.factor, limits.grown, level=grown.late, note="late over early level"),
        facts.evidence(
            "approx_kl", grown.late.value, bar, note=f"against {limits.beyond_clip:g} times clip range squared / 2"
        ),
        facts.evidence("approx_kl", grown.steadiness, limits.steady, note="rank correlation with time"),
    )
    return RuleResult(Severity.WARNING, 0.6, summary, evidence, grown.onset_step)
