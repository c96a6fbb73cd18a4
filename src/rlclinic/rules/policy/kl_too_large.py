"""Single updates change the policy further than their batch can justify.

What it sees: KL of one update of 0.3 nats or more for a tenth of the run, ten times what the clip range stands for, or
of 1 nat and more in most of its updates, which replace the policy however the return moves; or KL of three times what
the clip range stands for most of the time, beside a return that is stuck or has fallen; or a burst of KL far above the
run's own level after which the return fell and stayed down.
Why it hurts: The surrogate objective holds near the old policy only. At 0.5 nats probability ratios differ from 1 by
order one: the update is a jump, and a jump into a bad policy also ruins the data of the next batches.
Evidence needed: approx_kl with at least 10 points, 3 where most are above 1 nat.
Looks alike: KL of 0.02 to 0.15 with many action dimensions or a wide clip is common in working runs: there it stays
about what the clip stands for. A run that solves its task with such jumps, or holds its best. One spike that the return
survives is harmless. KL to a reference model is another quantity.
What to change: Lower the learning rate by a factor of 3 to 10; fewer epochs per batch; a target KL of 0.02 as a
brake.
References: Schulman et al. 2015 (arXiv 1502.05477); Schulman et al. 2017 (arXiv 1707.06347), section 4.
"""

from __future__ import annotations

import numpy as np

from rlclinic.facts.evaluations import lost_evaluations
from rlclinic.facts.policy_updates import clip_kl, clip_range, replaces_policy
from rlclinic.facts.return_state import (
    ended_below_start,
    has_fallen,
    reached_goal,
    return_name,
    stuck_short,
    suffers,
)
from rlclinic.facts.returns import level_at
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.stretch import finite, longest, moving_median
from rlclinic.model.finding import Evidence, Severity
from rlclinic.model.series import FloatArray
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult, Sign
from rlclinic.signals._robust import median

RULE = Rule(
    "POL04",
    needs=("approx_kl",),
    algorithms=("ppo", "actor-critic"),
    step=DecisionStep.UPDATE_SIZE,
    means=(Sign.POLICY_TOO_FAST,),
)


class Limits(RuleLimits):
    large: float = 0.3
    """Nats per update. 0.5 means ratios off by a factor of e about the mean; working runs stay below 0.15."""
    meaningless: float = 0.5
    beyond_clip: float = 10.0
    """Times the KL at which all ratios stand at the clip."""
    mostly_beyond: float = 3.0
    """The same for updates that leave the clip most of the time; working runs stay about 1, which the clip keeps
    them to."""
    moves: float = 0.05
    """Nats below which a policy does not jump, however tight the clip."""
    settling: float = 0.25
    """Share of the run, at its start, that may be lively."""
    share: float = 0.1
    """Share of the points that must lie above, and the points of a moving median that ignores single spikes."""
    width: int = 3
    burst: float = 0.1
    """A burst: nats, and times the median of the run."""
    burst_factor: float = 10.0
    min_points: int = 10
    held: float = 0.1
    """Share of the climb that may be missing at the end of a run that holds its best."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Look for updates that are too large in themselves, then for a burst that broke the run."""
    kl = facts.series("approx_kl")
    if kl is None:
        return None
    steps, values = finite(kl)
    replaced = replaces_policy(facts)
    if values.size < limits.min_points and not replaced:
        return None
    calm = moving_median(values, limits.width)
    clip = clip_range(facts)
    bar = (
        min(max(limits.large, limits.beyond_clip * clip_kl(clip)), limits.meaningless)
        if clip is not None
        else limits.large
    )
    above = calm >= bar
    if replaced or above.sum() >= max(3, limits.share * calm.size):
        return _sustained(facts, steps[limits.width - 1 :], calm, bar, limits)
    if clip is not None and (suffers(facts) or stuck_short(facts) or lost_evaluations(facts) is not None):
        found = _mostly_beyond(facts, steps[limits.width - 1 :], calm, clip, limits)
        if found is not None:
            return found
    return _burst(facts, steps[limits.width - 1 :], calm, median(values), limits)


def _sustained(facts: RunFacts, steps: FloatArray, calm: FloatArray, bar: float, limits: Limits) -> RuleResult:
    above = calm >= bar
    level = median(calm[above])
    first = longest(above)
    onset = float(steps[first[0]]) if first is not None else None
    ruined = level >= limits.meaningless and ended_below_start(facts)
    broken = ruined or (replaces_policy(facts) and not reached_goal(facts))
    severity = Severity.ERROR if broken else Severity.INFO if _holds_its_best(facts, limits) else Severity.WARNING
    confidence = 0.9 if broken else (0.8 if suffers(facts) else 0.65)
    summary = (
        f"KL of single updates is {level:.3g} nats in {100 * above.mean():.0f}% of the run (0.001 to 0.05 is common)"
        f"{_return(facts)}"
    )
    evidence: list[Evidence] = [facts.evidence("approx_kl", level, bar, note="median of the points above, in nats")]
    curve = facts.curve
    if curve is not None:
        evidence.append(facts.evidence(return_name(facts), curve.gain, note="gain from start to end"))
    return RuleResult(severity, confidence, summary, tuple(evidence), onset)


def _holds_its_best(facts: RunFacts, limits: Limits) -> bool:
    """Whether the return climbed and stands where it was best, and evaluations with it: jumps that do no harm."""
    curve = facts.curve
    if curve is None or suffers(facts) or lost_evaluations(facts) is not None:
        return False
    return curve.improved and curve.drop <= max(curve.scatter, limits.held * curve.climb)


def _mostly_beyond(
    facts: RunFacts, steps: FloatArray, calm: FloatArray, clip: float, limits: Limits
) -> RuleResult | None:
    """Updates that leave the clip as a rule: the clip no longer limits them."""
    settled = calm[int(limits.settling * calm.size) :]
    level, bar = median(settled), max(limits.moves, limits.mostly_beyond * clip_kl(clip))
    if level < bar:
        return None
    first = longest(calm >= bar)
    summary = (
        f"KL of single updates is {level:.3g} nats after the first quarter, {level / clip_kl(clip):.3g} times what a "
        f"clip range of {clip:.3g} should allow{_return(facts)}"
    )
    note = f"median after the first quarter, in nats, against {limits.mostly_beyond:g} times clip range squared / 2"
    evidence = (facts.evidence("approx_kl", level, bar, note=note),)
    onset = float(steps[first[0]]) if first is not None else None
    return RuleResult(Severity.WARNING, 0.75, summary, evidence, onset)


def _burst(facts: RunFacts, steps: FloatArray, calm: FloatArray, usual: float, limits: Limits) -> RuleResult | None:
    curve, peak = facts.curve, int(np.argmax(calm))
    bar = max(limits.burst, limits.burst_factor * max(usual, 0.0))
    if curve is None or calm[peak] < bar or not has_fallen(facts):
        return None
    step = float(steps[peak])
    before, later = level_at(curve, step), curve.final
    if before - later < max(4.0 * curve.scatter, 0.3 * abs(curve.climb)):
        return None
    summary = (
        f"KL of single updates rose to {calm[peak]:.3g} nats at step {step:,.0f} (median of the run {usual:.2g}); the "
        f"return fell from {before:.4g} there to {later:.4g}"
    )
    evidence = (
        facts.evidence("approx_kl", float(calm[peak]), bar, note="highest median of three points, in nats"),
        facts.evidence(return_name(facts), later - before, -4 * curve.scatter, note="change since the burst"),
    )
    return RuleResult(Severity.WARNING, 0.65, summary, evidence, step)


def _return(facts: RunFacts) -> str:
    curve = facts.curve
    return f"; the return went from {curve.start:.4g} to {curve.final:.4g}" if curve is not None else ""
