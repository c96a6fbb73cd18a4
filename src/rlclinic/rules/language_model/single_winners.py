"""Hardly any group has more than one right answer.

What it sees: The largest advantage stands at the most that a group can give, which one winner among all others makes,
while the score is low.
Why it hurts: Each update rests on a few lucky answers; most groups have none and teach nothing.
Evidence needed: the largest advantage with at least 12 points, the group size, and the score.
Looks alike: A score that is high, where a single loser gives the same size with the other sign.
What to change: Easier prompts first, more samples per prompt, a reward for partial success.
References: Shao et al. 2024 (GRPO, arXiv 2402.03300); Yu et al. 2025 (DAPO, arXiv 2503.14476), dynamic sampling.
"""

from __future__ import annotations

import math

import numpy as np

from rlclinic.facts.language_model import MIN_POINTS, is_falling, is_progressing, told, training
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.settings import positive
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "LMR22",
    needs=("advantage/abs_max", "return/train", "config:group_size"),
    algorithms=("language-model",),
    step=DecisionStep.ADVANTAGES,
    causes={"task-too-hard": 1.2, "zero-variance-groups": 1.0, "group-too-small": 0.8},
)


class Limits(RuleLimits):
    near: float = 0.02
    """Share of the ceiling within which an advantage stands at it."""
    mostly: float = 0.8
    """Share of the late points."""
    low: float = 0.15
    """Share of the best single score below which right answers are rare."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare the largest advantage with (n - 1) / sqrt(n)."""
    size, series, score = positive(facts, "group_size"), facts.series("advantage/abs_max"), training(facts)
    best = facts.series("return/train_max")
    if size is None or size < 3 or series is None or len(series) < MIN_POINTS or score is None:
        return None
    if is_progressing(facts) or is_falling(facts):
        return None
    if facts.run.config.get("normalize_by_std") is False:
        return None
    top = best.highest if best is not None and best.highest else None
    if top is None or top <= 0.0 or score.end > limits.low * top:
        return None
    ceiling = (size - 1.0) / math.sqrt(size)
    values = series.values[np.isfinite(series.values)]
    late = values[-max(1, values.size // 3) :]
    at = float(np.mean(np.abs(late - ceiling) <= limits.near * ceiling))
    if at < limits.mostly:
        return None
    summary = (
        f"the largest advantage is {ceiling:.3g}, the most that a group of {size:.0f} can give, at {100 * at:.3g}% of "
        f"the last points: single winners; {told(facts)}"
    )
    evidence = (facts.evidence("advantage/abs_max", at, limits.mostly, note="share of late points at the ceiling"),)
    return RuleResult(Severity.WARNING, 0.6, summary, evidence)
