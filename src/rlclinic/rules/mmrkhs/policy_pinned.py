"""The proximal terms hold the policy where it started.

What it sees: KL per update below 1e-4 nats and an MMD at its noise floor over the whole run, while the return is
flat.
Why it hurts: The policy never leaves its first version: 1/eta (or beta) is so large that the best step is no step.
Evidence needed: approx_kl with at least 12 points, mmd where it is logged, and a return.
Looks alike: A learning rate near zero does the same; so does a solved task. KL rounded to 0.000 is not known to be
small.
What to change: Raise eta tenfold, or let it grow with the iteration; lower beta. If nothing moves then, look at the
learning rate and at the gradient of each loss term.
References: Gupta and Mahajan 2026 (arXiv 2603.17875), equation 7.2: the step grows with eta.
"""

from __future__ import annotations

from rlclinic.facts.mmrkhs import NEARLY_ZERO, gets_nowhere, is_mmrkhs, is_pinned
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult

RULE = Rule("MMR02", needs=("approx_kl", "return/train|return/eval"), algorithms=("actor-critic",))


class Limits(RuleLimits):
    noise_floor: float = 0.003
    """MMD of identical policies, estimated from 8 sample pairs per state."""
    fewest_points: int = 12


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Look at KL, MMD and the return over the whole run."""
    kl, level, curve = facts.series("approx_kl"), facts.level("approx_kl"), facts.curve
    if kl is None or level is None or curve is None or len(kl) < limits.fewest_points or not is_mmrkhs(facts):
        return None
    mmd = facts.level("mmd")
    if not is_pinned(facts) or (mmd is not None and mmd.value > limits.noise_floor) or not gets_nowhere(facts):
        return None
    distance = f" and mmd {mmd.value:.2g}" if mmd is not None else ""
    summary = (
        f"KL per update is {level.value:.2g} nats{distance} all run long, and the return stays at "
        f"{curve.start:.4g} to {curve.final:.4g}"
    )
    evidence = (facts.evidence("approx_kl", abs(level.value), NEARLY_ZERO, level=level, note="median of the run"),)
    return RuleResult(Severity.WARNING, 0.7, summary, evidence)
