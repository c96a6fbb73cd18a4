"""Evaluations scatter so much that their trend cannot be seen.

What it sees: The training return clearly climbed, but from one evaluation to the next the return jumps by about as
much as it gained over the whole run.
Why it hurts: The best checkpoint is the luckiest one, and a regression cannot be told from noise.
Evidence needed: a training return that climbed, and at least 5 evaluations.
Looks alike: A task whose episodes really differ that much (success or failure): only more episodes help.
What to change: More episodes per evaluation (four times as many halve the scatter), and the same seeds each time.
References: Agarwal et al. 2021 (arXiv 2108.13264); Colas et al. 2018 (arXiv 1806.08295).
"""

from __future__ import annotations

import math

import numpy as np

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.model.numbers import TO_SIGMA
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult
from rlclinic.signals._robust import median

RULE = Rule("EVA05", needs=("return/train", "return/eval"))


class Limits(RuleLimits):
    fewest_evaluations: int = 5
    hidden: float = 0.5
    """Scatter of one evaluation over the climb of their smoothed level."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare the scatter of evaluations with the climb of their level."""
    series, train = facts.series("return/eval"), facts.curve_of("return/train")
    if series is None or series.caveat or train is None or not train.climbed:
        return None
    values = series.values[np.isfinite(series.values)]
    if values.size < limits.fewest_evaluations:
        return None
    scatter = TO_SIGMA * median(np.abs(np.diff(values))) / math.sqrt(2.0)
    curve = facts.curve_of("return/eval")
    climb = max(curve.climb, 0.0) if curve is not None else 0.0
    if scatter <= 0 or scatter < limits.hidden * climb:
        return None
    summary = (
        f"{series.logged_as} varies by {scatter:.3g} from one evaluation to the next; its best level lies "
        f"{climb:.3g} above its first, that of {facts.run.series['return/train'].logged_as} {train.climb:.3g}"
    )
    note = "scatter of one evaluation, against half the climb of their level"
    evidence = (facts.evidence("return/eval", scatter, limits.hidden * climb, note=note),)
    return RuleResult(Severity.INFO, 0.75, summary, evidence)
