"""Gradient clipping leaves only a small part of nearly every step.

What it sees: The norm before clipping lies at least 100 times above max_grad_norm in 90% of the rows.
Why it hurts: With one clip over actor and critic a huge value gradient takes the whole step, and the policy hardly
moves. With plain SGD the learning rate in force is a hundredth of the one configured.
Evidence needed: grad_norm before clipping, and max_grad_norm in the config.
Looks alike: Normal clipping: norms a few or ten times above the clip in every row are common in healthy PPO runs, and
Adam makes up for a constant factor. Norms logged after clipping.
What to change: Scale or normalise rewards (the value loss is the usual reason), lower the value-loss weight, or clip
actor and critic apart; then raise max_grad_norm.
References: Andrychowicz et al. 2021 (arXiv 2006.05990), section 3.7.
"""

from __future__ import annotations

import numpy as np

from rlclinic.facts.goal_status import failed
from rlclinic.facts.gradients import gradient_norms
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.settings import positive, setting_evidence
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult
from rlclinic.signals._robust import median

RULE = Rule("OPT03", needs=("grad_norm", "config:max_grad_norm"), step=DecisionStep.GRADIENTS)


class Limits(RuleLimits):
    far_above: float = 100.0
    """Norm over max_grad_norm."""
    nearly_all: float = 0.9
    """Share of the rows."""
    fewest_points: int = 12


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Hold the norm of the whole network against the clip."""
    clip = positive(facts, "max_grad_norm")
    whole = next((series for series in gradient_norms(facts) if series.name == "grad_norm"), None)
    if clip is None or whole is None or len(whole) < limits.fewest_points:
        return None
    ratios = whole.values[np.isfinite(whole.values)] / clip
    above = float(np.mean(ratios > limits.far_above))
    if above < limits.nearly_all:
        return None
    middle = median(ratios)
    bad = failed(facts)
    summary = (
        f"{whole.logged_as} is {middle:.3g} times max_grad_norm ({clip:g}) in the middle row and more than "
        f"{limits.far_above:.0f} times in {100 * above:.0f}% of {ratios.size} rows"
    )
    evidence = (
        facts.evidence("grad_norm", middle, limits.far_above, note="median of norm over max_grad_norm"),
        setting_evidence(facts, "max_grad_norm", clip, note="clip in force"),
    )
    return RuleResult(Severity.WARNING if bad else Severity.INFO, 0.6 if bad else 0.4, summary, evidence)
