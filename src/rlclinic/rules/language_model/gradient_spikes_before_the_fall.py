"""Gradient norms spike, and the score falls and does not come back.

What it sees: Gradient norms far above the run's own level shortly before or while the score falls for good.
Why it hurts: One step along such a gradient can leave everything that was learned, clipped or not: its direction is
that of a few extreme ratios or rewards.
Evidence needed: grad_norm with at least 12 points, and a score that fell.
Looks alike: Spikes that the score survives; a norm that is high from the start, as long rows have it: there is no
absolute bound.
What to change: Go back to the checkpoint before the first spike; a third of the learning rate; bound or mask extreme
ratios, and skip steps with a norm far above the running median.
References: huggingface/trl#2980; OpenRLHF#931 (a ratio of 5e8); volcengine/verl#2626, #2535.
"""

from __future__ import annotations

import numpy as np

from rlclinic.facts.language_model import MIN_POINTS, is_falling, told
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.stretch import finite
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult, Sign

RULE = Rule(
    "LMR29",
    needs=("grad_norm", "return/train"),
    algorithms=("language-model", "ppo"),
    step=DecisionStep.GRADIENTS,
    means=(Sign.POLICY_TOO_FAST,),
    causes={"learning-rate-too-high": 3.0, "gradient-explosion": 3.0, "kl-penalty-too-weak": 0.5},
)


class Limits(RuleLimits):
    spike: float = 8.0
    """Times the median of the norms up to there."""
    fewest: int = 2
    """Spikes: a single one is survived as a rule."""
    near: float = 0.2
    """Share of the run before the fall in which the first must lie."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Look for spikes near the beginning of the fall."""
    series, curve = facts.series("grad_norm"), facts.curve
    if series is None or curve is None or not is_falling(facts):
        return None
    steps, norms = finite(series)
    if norms.size < MIN_POINTS:
        return None
    usual = float(np.median(norms[: max(MIN_POINTS // 2, norms.size // 3)]))
    fall = float(curve.steps[int(np.argmax(curve.values))])
    since = fall - limits.near * float(steps[-1] - steps[0])
    spikes = np.flatnonzero((norms > limits.spike * usual) & (steps >= since))
    if usual <= 0.0 or spikes.size < limits.fewest:
        return None
    largest = int(spikes[np.argmax(norms[spikes])])
    factor = float(norms[largest]) / usual
    summary = (
        f"{series.logged_as} reaches {norms[largest]:.3g} at step {steps[largest]:,.0f}, {factor:.3g} times its early "
        f"median, in {spikes.size} updates about the fall; {told(facts)}"
    )
    evidence = (facts.evidence("grad_norm", factor, limits.spike, note="largest norm over the early median"),)
    return RuleResult(Severity.WARNING, 0.75, summary, evidence, float(steps[spikes[0]]))
