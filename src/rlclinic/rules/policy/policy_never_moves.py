"""The policy is the same from the first update to the last.

What it sees: The entropy of the policy is one number, to the last digit, in every row, while the value loss goes on
changing and the return does not improve, or every evaluation gives the same return.
Why it hurts: Updates are made and the policy gets none of them: its parameters are not in the optimiser, its loss is
detached, its gradient is masked, or its rate is zero.
Evidence needed: entropy and value_loss with at least 6 points, entropy not rounded to a few digits; a return.
Looks alike: A Gaussian policy with a fixed spread, whose entropy is constant although its mean learns: there the return
moves. A rate that is far too small moves the entropy in its last digits (kl-vanishes).
What to change: Compare the policy's weights before and after one update. If they are equal, look at what the optimiser
holds, at `detach` and `no_grad`, and at the sign and the mask of the policy loss.
References: Probe P5 and the static contract of gradient flow (S0c).
"""

from __future__ import annotations

import numpy as np

from rlclinic.facts.evaluations import evaluates_the_same
from rlclinic.facts.return_state import suffers
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.stretch import finite
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult, Sign

RULE = Rule(
    "POL16",
    needs=("entropy", "value_loss", "return/train|return/eval"),
    algorithms=("ppo", "actor-critic"),
    step=DecisionStep.UPDATE_SIZE,
    means=(Sign.POLICY_FROZEN,),
)


class Limits(RuleLimits):
    rounding: float = 2e-6
    """A few roundings of a 32-bit float, as a share of the level."""
    fewest_points: int = 6


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare the largest and the smallest entropy."""
    loss = facts.series("value_loss")
    if loss is None or not is_frozen(facts, limits) or not (suffers(facts) or evaluates_the_same(facts)):
        return None
    _, losses = finite(loss)
    if losses.size < limits.fewest_points or np.ptp(losses) == 0.0:
        return None
    entropy = facts.run.series["entropy"]
    _, values = finite(entropy)
    summary = f"{entropy.logged_as} is {values[0]:.6g} in all {values.size} rows while the value loss goes on changing"
    span, bar = float(np.ptp(values)), limits.rounding * float(np.abs(values).max())
    evidence = (facts.evidence("entropy", span, bar, note="largest minus smallest"),)
    return RuleResult(Severity.ERROR, 0.9 if evaluates_the_same(facts) else 0.85, summary, evidence, None)


def is_frozen(facts: RunFacts, limits: Limits = LIMITS) -> bool:
    """Whether the entropy is one number, to the last digit, in every row."""
    entropy = facts.series("entropy")
    if entropy is None or entropy.decimals is not None:
        return False
    _, values = finite(entropy)
    level = float(np.abs(values).max())
    return values.size >= limits.fewest_points and level > 0.0 and float(np.ptp(values)) <= limits.rounding * level
