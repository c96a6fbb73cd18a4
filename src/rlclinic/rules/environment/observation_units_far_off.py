"""Observations are far larger or smaller than 1.

What it sees: The typical size of the numbers of the observation lies some hundred times above or below 1; or the
largest differs from the smallest by more than 100 times, which is a note.
Why it hurts: Networks start with weights for inputs of size 1: large ones saturate them, small ones do not move them.
Evidence needed: an examination, or a training that was watched with Observe; continuous observations that are no
images.
Looks alike: Images, which trainers divide by 255; an observation that a wrapper of the trainer normalises later.
What to change: Normalise the observations (VecNormalize, NormalizeObservation), or divide each by its usual size.
References: Andrychowicz et al. 2021 (arXiv 2006.05990); four-phase method, step 2.3.
"""

from __future__ import annotations

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.measured import measured
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "ENV35",
    needs=("environment:observation",),
    step=DecisionStep.ENVIRONMENT,
    causes={"observations-unnormalised": 7.0},
)


class Limits(RuleLimits):
    large: float = 80.0
    """Median root mean square of the numbers that change."""
    small: float = 0.005
    """The same, from below."""
    apart: float = 100.0
    """Largest over smallest standard deviation that is a note."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare the sizes with 1 and with each other."""
    env = facts.measured
    seen = env.observation
    assert seen is not None
    if seen.kind != "box" or facts.run.config.get("normalize_obs"):
        return None
    size, apart = seen.typical_size, seen.scale_ratio
    if size > limits.large or size < limits.small:
        threshold = limits.large if size > limits.large else limits.small
        summary = f"the numbers of the observation have a typical size of {size:.3g}"
        return RuleResult(Severity.WARNING, 0.95, summary, (measured("typical size", size, threshold, env.steps),))
    if not apart > limits.apart:
        return None
    summary = f"the largest spread among the numbers of the observation is {apart:.3g} times the smallest"
    return RuleResult(
        Severity.INFO, 0.15, summary, (measured("largest over smallest spread", apart, limits.apart, env.steps),)
    )
