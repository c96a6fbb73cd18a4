"""Gradients arrive, and no part of the network moves.

What it sees: The policy's entropy is one number in every row, the value loss does not fall and the critic explains no
more than at the start, while gradients that stay the same are logged at an ordinary learning rate.
Why it hurts: Between the gradient and the weights the update is lost: clipped to nothing, multiplied by a zero rate, or
stepped by an optimiser that holds other tensors.
Evidence needed: entropy, value_loss, explained_variance, a gradient norm and a return, with at least 6 points.
Looks alike: A policy that gets no gradient beside a critic that learns (policy-never-moves alone). A rate that is far
too small: there the logged rate says so.
What to change: Raise max_grad_norm to 0.5 or more; print the size of one optimiser step; compare the parameters that
the optimiser holds with those of the network.
References: Engstrom et al. 2020 (arXiv 2005.12729), on gradient clipping as part of the algorithm.
"""

from __future__ import annotations

import numpy as np

from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.stretch import finite
from rlclinic.model.finding import Severity
from rlclinic.rules.policy.policy_never_moves import LIMITS as FROZEN
from rlclinic.rules.policy.policy_never_moves import is_frozen
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "OPT12",
    needs=("entropy", "value_loss", "explained_variance", "grad_norm|grad_norm/actor|grad_norm/critic"),
    algorithms=("ppo", "actor-critic"),
    step=DecisionStep.GRADIENTS,
)


class Limits(RuleLimits):
    explains: float = 0.2
    """Rise of the explained variance of a critic that has learned something; an untrained one explains a part by
    chance."""
    fell: float = 0.5
    """Late over early value loss below which it fell."""
    first: float = 0.05
    """Share of the run that is its beginning: a critic learns its first lesson at once."""
    other: float = 3.0
    """Times by which a gradient that stays the same may differ from start to end."""
    tiny_rate: float = 1e-6
    """A rate below which nothing is expected to move."""
    no_gradient: float = 1e-6


LIMITS = Limits()
# The policy's own first: that of the critic alone moves no policy.
GRADIENTS = ("grad_norm/actor", "grad_norm", "grad_norm/critic")


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Ask whether the critic stands as still as the policy, and whether both had gradients."""
    name = next((name for name in GRADIENTS if facts.level(name) is not None), GRADIENTS[0])
    gradient = facts.level(name)
    before, explained = facts.early("explained_variance", limits.first), facts.late("explained_variance", 0.5)
    early, late = facts.early("value_loss", limits.first), facts.late("value_loss", 0.25)
    if gradient is None or before is None or explained is None or early is None or late is None:
        return None
    rate = facts.level("learning_rate")
    if not is_frozen(facts) or gradient.points < FROZEN.fewest_points or gradient.value <= limits.no_gradient:
        return None
    if explained.value - before.value > limits.explains or _changed(facts, name, limits):
        return None
    if late.value < limits.fell * early.value or (rate is not None and rate.value < limits.tiny_rate):
        return None
    _, entropies = finite(facts.run.series["entropy"])
    summary = (
        f"gradients of {gradient.value:.3g} arrive, but the entropy is {entropies[0]:.6g} throughout and the value "
        f"loss went from {early.value:.4g} to {late.value:.4g}"
    )
    evidence = (
        facts.evidence("entropy", float(np.ptp(entropies)), 0.0, note="largest minus smallest"),
        facts.evidence(
            "value_loss", late.value, limits.fell * early.value, level=late, note="median of the last quarter"
        ),
        facts.evidence(name, gradient.value, limits.no_gradient, note="median"),
    )
    return RuleResult(Severity.ERROR, 0.85, summary, evidence, None)


def _changed(facts: RunFacts, name: str, limits: Limits) -> bool:
    """Whether the gradient became another: then some weights did move."""
    first, last = facts.early(name, limits.first), facts.late(name, 0.25)
    if first is None or last is None or first.value <= 0.0 or last.value <= 0.0:
        return False
    return not 1.0 / limits.other < last.value / first.value < limits.other
