"""The MMD penalty outweighs the policy objective.

What it sees: The weighted MMD penalty is at least ten times the size of the policy loss over the last half, while the
return is poor. Or updates change next to nothing (KL below 1e-4 nats), and of that little the penalty takes a good part
of what the objective gains: a large weight drives the MMD itself to zero, so that its size alone shows nothing.
Why it hurts: The step is chosen to keep the policy where it is. Advantages hardly count.
Evidence needed: mmd and policy_loss with at least 12 points, and a return.
Looks alike: A policy loss near zero because advantages are normalised and the policy is close to its optimum. An MMD
at its noise floor (about 0.001 with few sample pairs), which pulls nowhere. Updates that another term or a tiny
learning rate holds back: there the penalty is next to nothing against the policy loss.
What to change: Lower beta (mmd_coef), widen the kernel (mmd_bandwidth), take more samples or the closed form.
References: Gupta and Mahajan 2026 (arXiv 2603.17875), equation 7.1.
"""

from __future__ import annotations

from rlclinic.facts.mmrkhs import gets_nowhere, is_mmrkhs, is_pinned
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.settings import positive
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult

RULE = Rule("MMR01", needs=("mmd", "policy_loss", "return/train|return/eval"), algorithms=("actor-critic",))


class Limits(RuleLimits):
    outweighs: float = 10.0
    """Penalty over the size of the policy loss."""
    holds: float = 0.25
    """The same for a policy that hardly moves. The gain grows with the step and the penalty with its square: where
    the penalty is what ends the step, it stands at half of the gain."""
    noise_floor: float = 0.003
    """MMD of identical policies, estimated from 8 sample pairs per state: no penalty at all."""
    fewest_points: int = 12


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Hold the weighted penalty of the last half against the policy loss."""
    mmd, loss, late = facts.series("mmd"), facts.series("policy_loss"), facts.late("mmd", 0.5)
    curve = facts.curve
    if mmd is None or loss is None or late is None or curve is None or len(mmd) < limits.fewest_points:
        return None
    weighted = "penalty" in mmd.logged_as.lower()
    weight = 1.0 if weighted else positive(facts, "mmd_coef") or 1.0
    penalty = weight * late.value
    size = _size_of_late_loss(facts)
    if size is None or not is_mmrkhs(facts) or not gets_nowhere(facts):
        return None
    pinned, ratio = is_pinned(facts), penalty / max(size, 1e-12)
    bar = limits.holds if pinned else limits.outweighs
    if ratio < bar or (not pinned and late.value < limits.noise_floor):
        return None
    kl = facts.level("approx_kl")
    moved = f", KL per update is {kl.value:.2g} nats" if pinned and kl is not None else ""
    summary = (
        f"the MMD penalty is {penalty:.3g} over the last half, {ratio:.3g} times the size of the policy loss "
        f"({size:.3g}){moved}; the return went from {curve.start:.4g} to {curve.final:.4g}"
    )
    evidence = (
        facts.evidence("mmd", penalty, bar * size, level=late, note=f"median of the last half, weight {weight:g}"),
    )
    return RuleResult(Severity.WARNING, 0.65, summary, evidence)


def _size_of_late_loss(facts: RunFacts) -> float | None:
    """A loss about zero has a spread: its typical size is not its median."""
    late = facts.late("policy_loss", 0.5)
    return None if late is None else max(abs(late.value), late.spread)
