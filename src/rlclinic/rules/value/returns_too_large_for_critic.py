"""Returns are so large that the value loss outweighs everything else.

What it sees: The spread of value targets implied by loss and explained variance, sqrt(loss / (1 - EV)), is 30 or more
in units of the network's output, explained variance stays poor to the end, and gradients are clipped hard where that
is known.
Why it hurts: A value head starts near zero and moves by about the learning rate per step, so hundreds of units take
very long. Until then the value gradient fills the norm clip, and the policy gets a tiny share of every step: a huge
reward scale looks like a tiny learning rate.
Evidence needed: value_loss and explained_variance with at least 15 points; grad_norm before clipping and its clip
help.
Looks alike: Large returns that the critic explains well: no harm. Short runs. A poor critic on returns of order 1.
What to change: Normalise rewards by a running estimate (VecNormalize and the like) or divide them so that discounted
returns are of the order of 1 to 10; separate networks or a smaller value-loss weight keep the policy's share.
References: van Hasselt et al. 2016 (arXiv 1602.07714); Engstrom et al. 2020 (arXiv 2005.12729); ray issue 8908.
"""

from __future__ import annotations

from rlclinic.facts.critic import critic_of, returns_vary, target_scale
from rlclinic.facts.goal import had_time
from rlclinic.facts.goal_status import barely_moved
from rlclinic.facts.return_state import suffers
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Evidence, Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult, Sign

RULE = Rule(
    "VAL04",
    needs=("explained_variance", "value_loss"),
    algorithms=("ppo", "actor-critic"),
    step=DecisionStep.CRITIC,
    means=(Sign.RETURNS_TOO_LARGE,),
)


class Limits(RuleLimits):
    large: float = 30.0
    """Spread of the targets in units of the value head, whose output starts of order 1. CartPole's returns spread
    by 10 to 20 and are learned without help."""
    poor: float = 0.2
    """Explained variance over the run, and at its end, of a critic that did not catch up."""
    poor_at_end: float = 0.5
    clipped_hard: float = 10.0
    """Gradient norm over its clip that leaves the policy a tenth of a step."""
    hopeless: float = 300.0
    """Spread beyond which a critic that explains nothing all along keeps a return from more than creeping up."""
    explains_nothing: float = 0.05
    after: float = 0.1
    min_points: int = 15


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compute the implied spread of returns and ask whether the critic coped."""
    critic, scale = critic_of(facts), target_scale(facts, limits.after)
    over, late = facts.level("explained_variance", limits.after), facts.late("explained_variance", 0.15)
    loss = facts.level("value_loss", limits.after)
    if critic is None or scale is None or over is None or late is None or loss is None:
        return None
    if (
        critic.steps.size < limits.min_points
        or scale < limits.large
        or over.value > limits.poor
        or late.value > limits.poor_at_end
    ):
        return None
    squeeze = _squeeze(facts, limits)
    if (squeeze is not None and squeeze < limits.clipped_hard) or not returns_vary(facts, limits.after):
        return None
    hopeless = (
        scale >= limits.hopeless and max(over.value, late.value) < limits.explains_nothing and barely_moved(facts)
    )
    hurts, curve = hopeless or (suffers(facts) and had_time(facts)), facts.curve
    clipped = f", gradients are {squeeze:.3g} times the clip (median)" if squeeze is not None else ""
    beside = f"; the return went from {curve.start:.4g} to {curve.final:.4g}" if curve is not None else ""
    summary = (
        f"value targets spread by about {scale:.3g} (value loss {loss.value:.3g}), explained variance is "
        f"{over.value:z.2f} over the run and {late.value:z.2f} at the end{clipped}{beside}"
    )
    evidence: list[Evidence] = [
        facts.evidence(
            "value_loss", scale, limits.large, level=loss, note="sqrt(loss / (1 - explained variance)), median"
        ),
        facts.evidence("explained_variance", over.value, limits.poor, level=over, note="median after the first tenth"),
    ]
    if squeeze is not None:
        evidence.append(facts.evidence("grad_norm", squeeze, limits.clipped_hard, note="median over max_grad_norm"))
    sure = 0.1 if squeeze is not None else 0.0
    severity = Severity.WARNING if hurts else Severity.INFO
    return RuleResult(severity, (0.65 if hurts else 0.5) + sure, summary, tuple(evidence), None)


def _squeeze(facts: RunFacts, limits: Limits) -> float | None:
    """Gradient norm before clipping over its clip; None where either is unknown."""
    norm, clip, series = (
        facts.level("grad_norm", limits.after),
        facts.setting("max_grad_norm"),
        facts.series("grad_norm"),
    )
    if norm is None or series is None or not clip or clip <= 0.0 or "after clipping" in series.caveat:
        return None
    return norm.value / clip
