"""The gradient norm of the network, or of a part of it, fell to almost nothing.

What it sees: A norm that ends at least 500 times below its early level while the return is poor.
Why it hurts: Nothing changes any more. A saturated policy, dead units or advantages without variance leave no
gradient to recover by.
Evidence needed: grad_norm or grad_norm/<part> with at least 12 points, and a return.
Looks alike: A solved task: constant returns leave no gradient, and none is needed. A critic whose loss fell as well
has fitted its targets. A learning rate that ends at zero does not change the gradient. A printed 0.000 is only known
to be below its rounding.
What to change: Look at entropy first: a policy that became deterministic has no gradient. Lower the learning rate,
raise the entropy bonus, check activations and the scale of observations.
References: Glorot and Bengio 2010; Lyle et al. 2023 (arXiv 2303.01486) on lost plasticity.
"""

from __future__ import annotations

import numpy as np

from rlclinic.facts.goal_status import failed
from rlclinic.facts.gradients import gradient_norms
from rlclinic.facts.growth import growth
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.stretch import rounding
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule("OPT02", needs=("grad_norm|grad_norm/*", "return/train|return/eval"), step=DecisionStep.GRADIENTS)


class Limits(RuleLimits):
    vanished: float = 2e-3
    """Late over early norm."""
    fewest_points: int = 12


LIMITS = Limits()
OF_THE_CRITIC = ("critic", "value", "qf")


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Find a norm that fell to almost nothing."""
    curve = facts.curve
    if curve is None or not failed(facts):
        return None
    for series in gradient_norms(facts):
        late = facts.late(series.name)
        # A policy may saturate within the first tenth of a run, and a first row may be an outlier.
        starts = (facts.early(series.name, 0.1), facts.early(series.name, 0.3))
        before = max((level.value for level in starts if level is not None), default=0.0)
        if late is None or len(series) < limits.fewest_points:
            continue
        after = max(late.value, rounding(series))
        if before <= 0 or after > limits.vanished * before * _explained(facts, series.name):
            continue
        below = np.flatnonzero(~(series.values <= max(limits.vanished * before, rounding(series))))
        onset = float(series.steps[min(int(below[-1]) + 1, len(series) - 1)]) if below.size else float(series.steps[0])
        summary = (
            f"{series.logged_as} fell from {before:.3g} to {late.value:.3g} while the return went from "
            f"{curve.start:.4g} to {curve.final:.4g}"
        )
        evidence = (
            facts.evidence(series.name, after / before, limits.vanished, level=late, note="late over early norm"),
        )
        return RuleResult(Severity.WARNING, 0.7, summary, evidence, onset)
    return None


def _explained(facts: RunFacts, name: str) -> float:
    """Share of its early size that a gradient of the value loss keeps when that loss falls: errors fall as its root."""
    if not any(part in name for part in OF_THE_CRITIC) and name != "grad_norm":
        return 1.0
    fitted = growth(facts.series("value_loss"))
    return min(1.0, fitted.factor**0.5) if fitted is not None else 1.0
