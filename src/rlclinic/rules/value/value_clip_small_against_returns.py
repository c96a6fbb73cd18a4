"""The value clip is small against the returns, and the critic does not get anywhere.

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
from rlclinic.rules.result import RuleResult

# Clip width over the spread of the targets.
SMALL = 0.05
# Explained variance at the end of a critic that does not get anywhere.
POOR = 0.3
# Share of the values that are clipped, where it is logged.
MOST = 0.3
AFTER = 0.1
LATE = 0.2
MIN_POINTS = 15


def check(facts: RunFacts) -> RuleResult | None:
    """Hold the clip width against the implied spread of returns."""
    width, critic, scale = _width(facts), critic_of(facts), target_scale(facts, AFTER)
    late, clipped = facts.late("explained_variance", LATE), facts.level("clip_fraction/value", AFTER)
    if width is None or critic is None or scale is None or late is None or critic.steps.size < MIN_POINTS:
        return None
    if width > SMALL * scale or late.value > POOR or not returns_vary(facts, 1.0 - LATE):
        return None
    if clipped is not None and clipped.value < MOST:
        return None
    hurts = suffers(facts)
    share = f", {100 * clipped.value:.0f} % of the values are clipped" if clipped is not None else ""
    summary = (
        f"the value clip of {width:.3g} is {width / scale:.2g} of the spread of the value targets ({scale:.3g}) and "
        f"explained variance is {late.value:.2g} at the end{share}"
    )
    evidence: list[Evidence] = [
        setting_evidence(facts, "clip_range_vf", width / scale, SMALL, note="clip width over sqrt(loss / (1 - EV))"),
        facts.evidence("explained_variance", late.value, POOR, level=late, note="median of the end"),
    ]
    if clipped is not None:
        evidence.append(facts.evidence("clip_fraction/value", clipped.value, MOST, level=clipped, note="median"))
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
