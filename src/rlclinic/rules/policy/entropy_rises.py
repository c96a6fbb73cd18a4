"""The policy becomes more random over the run while the return falls or stalls.

What it sees: Entropy rose from its lowest level by a sixth of the greatest entropy or more (for continuous actions by
0.5 nats per dimension) and stays there, while the return is flat or has fallen.
Why it hurts: The bonus, or noise in the gradient, pushes the policy towards random actions faster than the reward
pulls it back; what was learned is being undone.
Evidence needed: entropy with at least 15 points and a return.
Looks alike: A policy that explores again and improves: the return rises. A curriculum or a change of the task can
raise the entropy for a while. An entropy that returns to its start after a dip of a few points is noise.
What to change: Lower the entropy bonus by a factor of 3 to 10; if KL is high as well, lower the learning rate first.
References: Andrychowicz et al. 2021 (arXiv 2006.05990), section 3.8.
"""

from __future__ import annotations

import numpy as np

from rlclinic.facts.exploration import action_dimensions, ceiling, is_density
from rlclinic.facts.return_state import return_name, suffers
from rlclinic.facts.returns import level_at
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.stretch import finite
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult
from rlclinic.signals.resample import resample

RULE = Rule(
    "POL03",
    needs=("entropy", "return/train|return/eval"),
    algorithms=("ppo", "actor-critic"),
    step=DecisionStep.EXPLORATION,
)

# Share of ln(number of actions) by which the entropy must rise.
RISE = 1 / 6


class Limits(RuleLimits):
    rise_per_dimension: float = 0.5
    """Nats per action dimension: a Gaussian 1.65 times as wide."""
    min_points: int = 15
    bins: int = 20
    """Bins of the curve: each is a median, so that single points do not make a lowest level."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Measure the rise from the lowest level to the end."""
    entropy, curve, top = facts.series("entropy"), facts.curve, ceiling(facts)
    if entropy is None or curve is None or top is None or facts.is_language_model:
        return None
    if len(finite(entropy)[0]) < limits.min_points or not suffers(facts):
        return None
    if not np.ptp(curve.values):
        return None
    needed = _needed(facts, top, limits)
    if needed is None:
        return None
    binned = resample(entropy, limits.bins)
    lowest = int(np.argmin(binned.values[: max(1, round(0.7 * len(binned)))]))
    late = facts.late("entropy", 0.2)
    if late is None or late.value - binned.values[lowest] < needed:
        return None
    step = float(binned.steps[lowest])
    since = level_at(curve, step)
    if curve.final - since > 3.0 * curve.scatter:
        return None
    rise = late.value - float(binned.values[lowest])
    summary = (
        f"entropy rose from {binned.values[lowest]:.3g} at step {step:,.0f} to {late.value:.3g} at the end while the "
        f"return went from {since:.4g} to {curve.final:.4g}"
    )
    evidence = (
        facts.evidence("entropy", rise, needed, level=late, note="rise from the lowest level to the last fifth"),
        facts.evidence(return_name(facts), curve.final - since, 3 * curve.scatter, note="change over the same time"),
    )
    return RuleResult(Severity.WARNING, 0.65, summary, evidence, step)


def _needed(facts: RunFacts, top: float, limits: Limits) -> float | None:
    """The rise that counts: in shares of the greatest entropy, or per dimension of a density."""
    if not is_density(facts):
        return RISE * top if top > 0.0 else None
    early, late = facts.early("action_std/mean"), facts.late("action_std/mean")
    dimensions = action_dimensions(facts)
    if dimensions is not None:
        return limits.rise_per_dimension * dimensions
    wider = early is not None and late is not None and late.value > np.exp(limits.rise_per_dimension) * early.value
    return limits.rise_per_dimension if wider else None
