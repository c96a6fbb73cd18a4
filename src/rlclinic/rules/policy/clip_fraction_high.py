"""Most probability ratios are clipped, and the policy still moves beyond the clip.

What it sees: A clip fraction of 0.4 or more in every later quarter of the run, together with a KL of three times or
more what the clip range stands for.
Why it hurts: Clipped samples give no gradient, so most of the batch is ignored, while the rest drives the policy out
of the region that the clip was meant to keep. Learning becomes noisy or breaks.
Evidence needed: clip_fraction and approx_kl with at least 10 points each, and the clip range.
Looks alike: A tight clip makes high fractions harmless: then KL is small. Fractions of 0.1 to 0.3 are common. A high
fraction in the first updates alone is common as well.
What to change: Lower the learning rate by a factor of 3, or halve the epochs per batch; a larger batch helps if it is
small.
References: Schulman et al. 2017 (arXiv 1707.06347); Engstrom et al. 2020 (arXiv 2005.12729).
"""

from __future__ import annotations

from rlclinic.facts.policy_updates import clip_kl, clip_range
from rlclinic.facts.return_state import suffers
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.stretch import finite, lasting_from
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult, Sign

RULE = Rule(
    "POL06",
    needs=("clip_fraction", "approx_kl", "clip_range|config:clip_range"),
    algorithms=("ppo",),
    step=DecisionStep.UPDATE_SIZE,
    means=(Sign.POLICY_TOO_FAST,),
)


class Limits(RuleLimits):
    most: float = 0.4
    """Share of the samples that give no gradient."""
    beyond_clip: float = 3.0
    """Times the KL at which all ratios stand at the clip."""
    moves: float = 0.01
    """Nats per update below which a policy does not move too fast, however tight the clip."""
    min_points: int = 10


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Hold the clip fraction of the later quarters against KL and clip range."""
    fraction, clip = facts.series("clip_fraction"), clip_range(facts)
    if fraction is None or clip is None or len(finite(fraction)[0]) < limits.min_points:
        return None
    kl = facts.level("approx_kl", 0.25)
    quarters = [level for i in range(1, 4) if (level := facts.level("clip_fraction", i / 4, (i + 1) / 4)) is not None]
    if kl is None or kl.points < limits.min_points // 2 or not quarters:
        return None
    lowest = min(quarters, key=lambda level: level.value)
    bar = max(limits.moves, limits.beyond_clip * clip_kl(clip))
    if lowest.value < limits.most or kl.value < bar:
        return None
    hurts = suffers(facts)
    steps, values = finite(fraction)
    summary = (
        f"clip fraction is {lowest.value:.2f} or more in every later quarter (0.05 to 0.3 is common) and KL "
        f"{kl.value:.3g} nats, {kl.value / clip_kl(clip):.3g} times what a clip range of {clip:.3g} should allow"
    )
    evidence = (
        facts.evidence(
            "clip_fraction", lowest.value, limits.most, level=lowest, note="median of the lowest later quarter"
        ),
        facts.evidence("approx_kl", kl.value, bar, level=kl, note="median after the first quarter, in nats"),
    )
    severity = Severity.WARNING if hurts else Severity.INFO
    return RuleResult(severity, 0.75 if hurts else 0.6, summary, evidence, lasting_from(steps, values >= limits.most))
