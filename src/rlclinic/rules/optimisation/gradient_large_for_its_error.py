"""The critic's gradient is far larger than its error explains.

What it sees: The gradient norm of the critic divided by the square root of the value loss lies an order of magnitude
above that of ordinary runs, all along.
Why it hurts: A gradient is error times input. Where the error is ordinary the inputs are huge: observations of very
different scales. One dimension then decides every step, and a common clip leaves nothing for the rest.
Evidence needed: grad_norm (of the critic, or before a common clip) and value_loss, 12 points each.
Looks alike: Large rewards, which raise error and gradient alike and leave their ratio. A norm logged after clipping.
Very wide networks, whose norms are a few times larger.
What to change: Normalise observations (VecNormalize, NormalizeObservation), or divide each dimension by its range.
References: Andrychowicz et al. 2021 (arXiv 2006.05990), section 3.4; hill-a/stable-baselines#806.
"""

from __future__ import annotations

import math

from rlclinic.facts.goal_status import failed
from rlclinic.facts.run_facts import RunFacts, WindowLevel
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "OPT10",
    needs=("grad_norm/critic|grad_norm", "value_loss"),
    algorithms=("ppo", "actor-critic"),
    step=DecisionStep.GRADIENTS,
)


class Limits(RuleLimits):
    large: float = 50.0
    """Gradient norm over the root of the value loss. Fifty recorded runs on four tasks have 0.6 to 18."""
    quarters: int = 3
    """Share of the points that must lie above, by windows of a quarter."""
    min_points: int = 12


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare gradient and error in every quarter."""
    name = next((name for name in ("grad_norm/critic", "grad_norm") if _sound(facts, name, limits)), None)
    if name is None or facts.is_language_model:
        return None
    windows = [(index / 4, (index + 1) / 4) for index in range(4)]
    ratios = [_ratio(facts.level(name, *part), facts.level("value_loss", *part)) for part in windows]
    known = [ratio for ratio in ratios if ratio is not None]
    norm, loss = facts.level(name), facts.level("value_loss")
    if norm is None or loss is None or sum(ratio > limits.large for ratio in known) < limits.quarters:
        return None
    ratio = sorted(known)[len(known) // 2]
    summary = (
        f"{facts.run[name].logged_as} is {norm.value:.3g} with a value loss of {loss.value:.3g}: {ratio:.3g} times "
        "the error (1 to 20 is common), as if the inputs were that large"
    )
    evidence = (
        facts.evidence(name, ratio, limits.large, level=norm, note="gradient norm over the root of the value loss"),
        facts.evidence("value_loss", loss.value, level=loss, note="median"),
    )
    bad = failed(facts)
    return RuleResult(Severity.WARNING, 0.75 if bad else 0.6, summary, evidence, norm.first_step)


def _sound(facts: RunFacts, name: str, limits: Limits) -> bool:
    series = facts.series(name)
    return series is not None and len(series) >= limits.min_points and "after clipping" not in series.caveat


def _ratio(norm: WindowLevel | None, loss: WindowLevel | None) -> float | None:
    if norm is None or loss is None or loss.value <= 0.0:
        return None
    return norm.value / math.sqrt(loss.value)
