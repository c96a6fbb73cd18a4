"""The policy was destroyed by large updates and has been calm since.

What it sees: KL (or the gradient norm) was high once; since then KL and entropy are near zero, and the return is
below its start. Or the entropy is near zero in the first row already, beside a return that is poor: a new policy is
near uniform, so that only the updates before that row can have made it deterministic.
Why it hurts: A deterministic policy gives no gradient, so it cannot come back. All metrics look calm because nothing
moves any more, which is easily taken for a learning rate that is too low.
Evidence needed: entropy, and approx_kl or grad_norm, with at least 12 points each, and a return. After an update of 1
nat or more 3 points are enough.
Looks alike: A converged policy: calm and deterministic as well, but with a good return. A policy that never moved: KL
was never high, and its entropy is still high. A resumed run begins deterministic, but with a good return.
What to change: Start again with a learning rate lower by a factor of 10, fewer epochs per batch or a target KL.
Resuming from the last checkpoint cannot help; one from before the burst may.
References: Schulman et al. 2017 (arXiv 1707.06347); Ahmed et al. 2019 (arXiv 1811.11214).
"""

from __future__ import annotations

import numpy as np

from rlclinic.facts.exploration import ceiling, ceiling_text, dead_from_start, is_density
from rlclinic.facts.goal import goal_of
from rlclinic.facts.goal_status import failed
from rlclinic.facts.policy_updates import share_replaced
from rlclinic.facts.return_state import ended_below_start, return_name
from rlclinic.facts.run_facts import RunFacts, WindowLevel
from rlclinic.facts.stretch import finite, lasting_from, moving_median, rounding
from rlclinic.model.finding import Severity
from rlclinic.model.return_curve import ReturnCurve
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult, Sign

RULE = Rule(
    "POL13",
    needs=("entropy", "approx_kl|grad_norm", "return/train|return/eval"),
    algorithms=("ppo", "actor-critic"),
    step=DecisionStep.UPDATE_SIZE,
    means=(Sign.POLICY_TOO_FAST, Sign.POLICY_DEAD),
)


class Limits(RuleLimits):
    dead: float = 0.05
    """Share of the greatest entropy below which a policy is as good as deterministic."""
    burst_kl: float = 0.05
    """Nats per update that count as a burst, and as calm."""
    calm_kl: float = 2e-3
    burst_gradient: float = 30.0
    """Highest over late level of the gradient norm, where KL is not logged."""
    end: float = 0.15
    """Share of the run at its end that must be calm."""
    width: int = 3
    min_points: int = 12


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Look for the burst before the calm."""
    entropy, curve, top = facts.series("entropy"), facts.curve, ceiling(facts)
    late = facts.late("entropy", limits.end)
    if entropy is None or curve is None or top is None or late is None or facts.is_language_model:
        return None
    steps, values = finite(entropy)
    if values.size < _fewest(facts, limits) or top <= 0.0 or is_density(facts) or late.value > limits.dead * top:
        return None
    if dead_from_start(facts):
        return _dead_at_once(facts, curve, late, top, limits)
    if not ended_below_start(facts):
        return None
    burst = _burst_of_kl(facts, limits) or _burst_of_gradients(facts, limits)
    if burst is None:
        return None
    name, highest, bar, calm = burst
    summary = (
        f"{name} reached {highest:.3g} and is {calm.value:.2g} now, entropy is {late.value:.2g} of "
        f"{ceiling_text(facts)}, and the return went from {curve.start:.4g} (best {curve.best:.4g}) to "
        f"{curve.final:.4g}: the policy is dead"
    )
    evidence = (
        facts.evidence(name, highest, bar, note="highest value"),
        facts.evidence(name, calm.value, level=calm, note="median of the end"),
        facts.evidence(
            "entropy", late.value / top, limits.dead, level=late, note="share of the greatest entropy at the end"
        ),
        facts.evidence(return_name(facts), curve.gain, -2 * curve.scatter, note="gain from start to end"),
    )
    return RuleResult(Severity.ERROR, 0.9, summary, evidence, lasting_from(steps, values <= limits.dead * top))


def _fewest(facts: RunFacts, limits: Limits) -> int:
    return limits.width if share_replaced(facts) else limits.min_points


def _dead_at_once(
    facts: RunFacts, curve: ReturnCurve, late: WindowLevel, top: float, limits: Limits
) -> RuleResult | None:
    """The burst came before the first row; what is left of it is a policy that no longer chooses."""
    if not ended_below_start(facts) and (goal_of(facts) is None or not failed(facts)):
        return None
    steps, values = finite(facts.run.series["entropy"])
    summary = (
        f"entropy is {values[0]:.2g} of {ceiling_text(facts)} in the first row already and {late.value:.2g} at the "
        f"end, and the return went from {curve.start:.4g} to {curve.final:.4g}: the first updates left a dead policy"
    )
    evidence = (
        facts.evidence(
            "entropy", float(values.max()) / top, limits.dead, note="share of the greatest entropy, at most"
        ),
        facts.evidence(return_name(facts), curve.gain, note="gain from start to end"),
    )
    return RuleResult(Severity.ERROR, 0.8, summary, evidence, float(steps[0]))


def _burst_of_kl(facts: RunFacts, limits: Limits) -> tuple[str, float, float, WindowLevel] | None:
    kl, calm = facts.series("approx_kl"), facts.late("approx_kl", limits.end)
    if kl is None or calm is None:
        return None
    _, values = finite(kl)
    if values.size < _fewest(facts, limits) or max(abs(calm.value), rounding(kl)) > limits.calm_kl:
        return None
    highest = float(values.max())
    return ("approx_kl", highest, limits.burst_kl, calm) if highest >= limits.burst_kl else None


def _burst_of_gradients(facts: RunFacts, limits: Limits) -> tuple[str, float, float, WindowLevel] | None:
    norm, calm = facts.series("grad_norm"), facts.late("grad_norm", limits.end)
    if norm is None or calm is None or facts.series("approx_kl") is not None:
        return None
    _, values = finite(norm)
    if values.size < limits.min_points:
        return None
    highest = float(np.max(moving_median(values, limits.width)))
    bar = limits.burst_gradient * calm.value
    return ("grad_norm", highest, bar, calm) if highest > max(bar, 0.0) else None
