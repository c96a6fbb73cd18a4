"""The policy became deterministic while the return was no better than at the start.

What it sees: Entropy stays below a tenth of the greatest possible for a fifth of the run or more, and the return at
the end of that stretch is no better than at the start of the run, or fell during it. For continuous actions: the
entropy fell by 2.3 nats per action dimension (a tenth of the width) without a gain.
Why it hurts: A policy that no longer tries other actions cannot find better ones; whatever it does now it keeps.
Evidence needed: entropy with at least 12 points and a return. Continuous policies: the action shape as well.
Looks alike: Convergence: entropy falls while the return climbs, or after the task is solved. A density may have
negative entropy by right; only its fall counts, per action dimension. A resumed policy that begins deterministic:
judged only where the goal is known.
What to change: Raise the entropy bonus by a factor of 3, or lower the learning rate if KL is high as well. For SAC
look at the temperature instead.
References: Ahmed et al. 2019 (arXiv 1811.11214); Andrychowicz et al. 2021 (arXiv 2006.05990), section 3.8.
"""

from __future__ import annotations

import math

from rlclinic.facts.exploration import action_dimensions, ceiling, ceiling_text, is_density
from rlclinic.facts.goal import goal_of
from rlclinic.facts.return_state import has_fallen, is_flat, reached_goal, return_name
from rlclinic.facts.returns import level_at
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.stretch import finite, longest
from rlclinic.model.finding import Severity
from rlclinic.model.return_curve import ReturnCurve
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult, Sign
from rlclinic.signals.resample import resample

RULE = Rule(
    "POL01",
    needs=("entropy", "return/train|return/eval"),
    algorithms=("ppo", "actor-critic"),
    step=DecisionStep.EXPLORATION,
    means=(Sign.POLICY_TOO_FAST, Sign.POLICY_DEAD),
)


class Limits(RuleLimits):
    nearly_none: float = 0.1
    """Share of the initial (or greatest possible) entropy below which hardly any exploration is left."""
    long: float = 0.2
    """Share of the run that the stretch without exploration must cover."""
    min_points: int = 12
    bins: int = 100


LIMITS = Limits()
# Nats per action dimension: a Gaussian of a tenth of its first width.
NARROWER = math.log(10.0)


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Find the longest stretch without exploration, and what the return did in it."""
    entropy, curve, top = facts.series("entropy"), facts.curve, ceiling(facts)
    if entropy is None or curve is None or top is None or len(finite(entropy)[0]) < limits.min_points:
        return None
    if facts.is_language_model or reached_goal(facts):
        return None
    if is_density(facts):
        return _narrowed(facts, curve)
    binned = resample(entropy, limits.bins)
    floor = limits.nearly_none * top
    stretch = longest(binned.values < floor)
    if top <= 0.0 or stretch is None or stretch[1] - stretch[0] < max(3, limits.long * len(binned)):
        return None
    began_low = binned.values[: max(1, stretch[0])].max() < 2.0 * floor
    if began_low and goal_of(facts) is None:
        return None
    start, end = float(binned.steps[stretch[0]]), float(binned.steps[stretch[1] - 1])
    before, after = level_at(curve, start), level_at(curve, end)
    gained = after - curve.start > 3.0 * curve.scatter
    fell = before - after > max(4.0 * curve.scatter, 0.4 * (before - curve.start))
    if (gained and not fell) or (curve.improved and not has_fallen(facts)):
        return None
    low = float(min(binned.values[stretch[0] : stretch[1]].mean(), floor))
    summary = (
        f"entropy fell to {low:.3g} ({100 * low / top:.1f}% of {ceiling_text(facts)}) from step {start:,.0f} to "
        f"{end:,.0f}; the return went from {curve.start:.4g} at the start of the run to "
        f"{before:.4g} before that stretch and {after:.4g} after it"
    )
    evidence = (
        facts.evidence(
            "entropy", low / top, limits.nearly_none, note="mean share of the greatest entropy in the stretch"
        ),
        facts.evidence(
            return_name(facts), after - curve.start, 3 * curve.scatter, note="gain by the end of the stretch"
        ),
    )
    return RuleResult(Severity.WARNING, 0.65 if curve.still_rising else 0.8, summary, evidence, start)


def _narrowed(facts: RunFacts, curve: ReturnCurve) -> RuleResult | None:
    """The same for a density: only the fall per action dimension counts."""
    dimensions, early, late = action_dimensions(facts), facts.early("entropy"), facts.late("entropy")
    if dimensions is None or early is None or late is None or not (is_flat(facts) or has_fallen(facts)):
        return None
    fall = (early.value - late.value) / dimensions
    if fall < NARROWER:
        return None
    summary = (
        f"entropy fell from {early.value:.3g} to {late.value:.3g}, {fall:.2g} nats per action dimension, while the "
        f"return went from {curve.start:.4g} to {curve.final:.4g}"
    )
    evidence = (
        facts.evidence("entropy", fall, NARROWER, level=late, note="fall in nats per action dimension"),
        facts.evidence(return_name(facts), curve.gain, 3 * curve.scatter, note="gain from start to end"),
    )
    return RuleResult(Severity.WARNING, 0.7, summary, evidence, None)
