"""The critic's first error is larger than any return makes it: it is far off before it has learned.

What it sees: The first value loss exceeds the square of the largest return of the run, and the loss has since fallen to
a small part of it, within what returns can make.
Why it hurts: A fresh network answers inputs of order one with outputs of order one. An error beyond all returns means
inputs that are hundreds of times larger: activations saturate, and a first step of the usual size changes everything.
Evidence needed: value_loss with at least 10 points, and a return of order one or more.
Looks alike: A learning rate so high that the first updates already drove the critic off: then the loss does not fall.
A loss that is summed over a batch, or a return that is logged per step.
What to change: Print the largest absolute number of ten observations; normalise observations (VecNormalize) or divide
them by their bounds.
References: LeCun et al. 1998, Efficient BackProp (inputs of order one); Andrychowicz et al. 2021 (arXiv 2006.05990).
"""

from __future__ import annotations

import numpy as np

from rlclinic.facts.goal_status import learns
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.stretch import finite
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult
from rlclinic.signals._robust import median

RULE = Rule("VAL15", needs=("value_loss", "return/train|return/eval"), step=DecisionStep.CRITIC)


class Limits(RuleLimits):
    beyond: float = 2.0
    """First loss over the square of the largest return; clean runs begin below 0.1."""
    fell: float = 0.1
    """Share of it that the middle loss may be."""
    grasped: float = 0.5
    """Middle loss over that square, beyond which the critic fits another return than the one that is logged."""
    ordinary: float = 1.0
    """Largest return below which a fresh critic is off by more anyway."""
    fewest_points: int = 10


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Hold the first loss against the returns, and what became of it."""
    losses, curve = facts.series("value_loss"), facts.curve
    if losses is None or curve is None or facts.is_language_model or learns(facts):
        return None
    steps, values = finite(losses)
    largest = float(np.abs(curve.values).max())
    if values.size < limits.fewest_points or largest < limits.ordinary:
        return None
    ratio, middle = float(values[0]) / largest / largest, median(values)
    if ratio < limits.beyond or middle > min(limits.fell * float(values[0]), limits.grasped * largest * largest):
        return None
    summary = (
        f"the first value loss is {values[0]:.4g}, {ratio:.3g} times the square of the largest return ({largest:.4g}), "
        f"and fell to {middle:.3g}: an untrained critic is so far off only where its inputs are large"
    )
    evidence = (facts.evidence("value_loss", ratio, limits.beyond, note="first loss over the largest return squared"),)
    return RuleResult(Severity.WARNING, 0.8, summary, evidence, float(steps[0]))
