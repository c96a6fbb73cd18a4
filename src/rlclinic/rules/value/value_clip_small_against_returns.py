"""The value clip is small against the returns, and the critic does not improve.

What it sees: A value clip, in units of the return, below a twentieth of the spread of the value targets, while
explained variance is below 0.3 at the end of the run; where it is logged, most values are clipped.
Why it hurts: The clip lets a prediction move by its width per batch at most. Where returns are hundreds of widths
away, the critic needs hundreds of batches for what one pass could do, and the returns move on meanwhile.
Evidence needed: the value clip, value_loss and explained_variance with at least 15 points.
Looks alike: The same clip beside a good critic is harmless, however large the clipped share is. Normalised returns
have a spread of order 1, which a clip of 0.2 fits.
What to change: Remove the value clip, or normalise returns so that its width means something.
References: Engstrom et al. 2020 (arXiv 2005.12729); Andrychowicz et al. 2021 (arXiv 2006.05990), section 3.4; ray
issue 8908.
"""

from __future__ import annotations

import math

from rlclinic.facts.critic import critic_of, returns_vary, target_scale
from rlclinic.facts.return_state import suffers
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.settings import setting_evidence
from rlclinic.model.finding import Evidence, Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "VAL05",
    needs=("clip_range/value|config:clip_range_vf|config:clip_value_loss", "explained_variance", "value_loss"),
    algorithms=("ppo",),
    step=DecisionStep.CRITIC,
)


class Limits(RuleLimits):
    small: float = 0.05
    """Clip width over the spread of the targets."""
    poor: float = 0.3
    """Explained variance at the end of a critic that does not get anywhere."""
    most: float = 0.3
    """Share of the values that are clipped, where it is logged."""
    after: float = 0.1
    late: float = 0.2
    min_points: int = 15


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Hold the clip width against the implied spread of returns."""
    width, critic, scale = _width(facts), critic_of(facts), target_scale(facts, limits.after)
    late, clipped = facts.late("explained_variance", limits.late), facts.level("clip_fraction/value", limits.after)
    if width is None or critic is None or scale is None or late is None or critic.steps.size < limits.min_points:
        return None
    if width > limits.small * scale or late.value > limits.poor or not returns_vary(facts, 1.0 - limits.late):
        return None
    if clipped is not None and clipped.value < limits.most:
        return None
    hurts = suffers(facts)
    share = f", {100 * clipped.value:.0f}% of the values are clipped" if clipped is not None else ""
    summary = (
        f"the value clip of {width:.3g} is {width / scale:.2g} of the spread of the value targets ({scale:.3g}) and "
        f"explained variance is {late.value:z.2f} at the end{share}"
    )
    evidence: list[Evidence] = [
        setting_evidence(
            facts, "clip_range_vf", width / scale, limits.small, note="clip width over sqrt(loss / (1 - EV))"
        ),
        facts.evidence("explained_variance", late.value, limits.poor, level=late, note="median of the end"),
    ]
    if clipped is not None:
        evidence.append(facts.evidence("clip_fraction/value", clipped.value, limits.most, level=clipped, note="median"))
    return RuleResult(
        Severity.WARNING if hurts else Severity.INFO, 0.6 if hurts else 0.5, summary, tuple(evidence), None
    )


def _width(facts: RunFacts) -> float | None:
    """How far a prediction may move, in units of the return."""
    if facts.run.config.get("clip_value_loss") is False:
        return None
    logged = facts.level("clip_range/value")
    width = logged.value if logged is not None else facts.setting("clip_range_vf")
    if width is None and facts.run.config.get("clip_value_loss") is True:
        width = facts.setting("clip_range")
    if width is None or not 0.0 < width < math.inf:
        return None
    # RLlib caps the squared error instead of the change of the prediction.
    return math.sqrt(width) if facts.run.framework == "rllib" else width
