"""More and more tokens are clipped and each update moves the policy further, while the score falls.

What it sees: Clip fraction and the KL of single updates both grew several times, to a level at which the clip works on
much of the batch, and the score falls.
Why it hurts: The later mini-batches of a rollout train on what another policy wrote. Clipped tokens give no gradient,
the others a wrong one.
Evidence needed: clip_fraction and, where it is logged, approx_kl with at least 12 points each, and the score.
Looks alike: One update per rollout, where both are about zero by construction; a clip fraction that is high and steady,
as wide batches with token-level clipping have it.
What to change: Fewer mini-batches or epochs per rollout, then a lower learning rate; fresher rollouts where they are
made asynchronously.
References: Schulman et al. 2017 (arXiv 1707.06347); AReaL documentation: fewer mini-batches where importance weights
leave 1.
"""

from __future__ import annotations

from rlclinic.facts.growth import growth
from rlclinic.facts.language_model import is_falling, told
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult, Sign

RULE = Rule(
    "LMR28",
    needs=("clip_fraction", "return/train"),
    algorithms=("language-model",),
    step=DecisionStep.UPDATE_SIZE,
    means=(Sign.POLICY_TOO_FAST,),
    causes={"too-many-epochs": 2.4, "learning-rate-too-high": 2.4, "stale-data": 1.6},
)


class Limits(RuleLimits):
    grew: float = 3.0
    """Late over early clip fraction, and KL."""
    many: float = 0.1
    """Share of tokens that are clipped: common values are 0.001 to 0.03."""
    jumps: float = 0.02
    """Nats per update: what a clip range of 0.2 stands for."""


LIMITS = Limits()
NOTE = "late over early"


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Hold the growth of both against the score."""
    clipped, moved = growth(facts.series("clip_fraction")), growth(facts.series("approx_kl"))
    if clipped is None or not is_falling(facts) or clipped.factor < limits.grew or clipped.late.value < limits.many:
        return None
    summary = f"clip fraction grew from {clipped.early.value:.2g} to {clipped.late.value:.2g}"
    evidence = [facts.evidence("clip_fraction", clipped.factor, limits.grew, level=clipped.late, note=NOTE)]
    if moved is None:
        # TRL logs no KL of single updates.
        if "approx_kl" in facts.run:
            return None
        return RuleResult(Severity.WARNING, 0.6, f"{summary} while {told(facts)}", tuple(evidence), clipped.onset_step)
    if moved.factor < limits.grew or moved.late.value < limits.jumps:
        return None
    summary += f" and the KL of single updates from {moved.early.value:.2g} to {moved.late.value:.2g} nats"
    evidence.append(facts.evidence("approx_kl", moved.factor, limits.grew, level=moved.late, note=NOTE))
    onset = min(clipped.onset_step, moved.onset_step)
    return RuleResult(Severity.WARNING, 0.75, f"{summary} while {told(facts)}", tuple(evidence), onset)
