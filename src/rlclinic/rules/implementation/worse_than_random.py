"""The policy gets steadily worse than acting at random.

What it sees: From the start the return drifts one way, down, over most of the run and ends clearly below what random
actions earn on this task, while the updates are of a sane size until it has begun to sink.
Why it hurts: Something learns, and it learns the opposite: the sign of the advantage, of the loss or of the reward is
flipped, or the ratio is inverted.
Evidence needed: a return with at least 20 points; on a task that is not well known the untrained policy of the first
moments stands for random actions, and the fall must be larger.
Looks alike: A policy destroyed by large steps, which falls in moments (KL, entropy; off-policy, evaluations that
are low from the first on). Costs that add up when episodes get longer. Long noise below a random policy's return.
What to change: Check the sign: on a bandit with two arms the better one must win. Then the sign of the reward.
References: Ilyas et al. and the probe literature on flipped advantages; probe P5 (advantage sign).
"""

from __future__ import annotations

from rlclinic.facts.costs import longer_episodes_cost_more
from rlclinic.facts.evaluations import evaluations_hold, fell_before_evaluations
from rlclinic.facts.goal import known_task
from rlclinic.facts.policy_updates import clip_kl, clip_range
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.stretch import finite
from rlclinic.model.finding import Severity
from rlclinic.model.return_curve import ReturnCurve
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult, Sign
from rlclinic.signals._robust import median
from rlclinic.signals.drift import drift

RULE = Rule(
    "IMP06",
    needs=("return/train|return/eval",),
    algorithms=("ppo", "actor-critic", "continuous-q"),
    step=DecisionStep.TASK,
    means=(Sign.NOT_LEARNING,),
)


class Limits(RuleLimits):
    below: float = 0.5
    """Standard deviations of single random episodes by which the end must lie below their mean."""
    one_way: float = 0.7
    """Share of the curve's variance that one course downwards must explain."""
    clear: float = 4.0
    """Units of noise that the fall must exceed, and share of the start."""
    material: float = 0.25
    far_below: float = 6.0
    """Units of noise below the untrained policy where nobody knows what random actions earn."""
    climbed: float = 2.0
    """Units of noise, and share of the fall, by which the return may have risen before."""
    climbed_share: float = 0.35
    begun: float = 0.15
    """Share of the fall from which on the return has begun to sink."""
    complete: float = 0.9
    """Share of the fall at which it is as good as complete, and of the run in which that is a jump and no drift."""
    gradual: float = 0.15
    jumps: float = 5.0
    """Times the KL at which all ratios stand at the clip; beyond it updates are jumps. And the clip where none is
    known."""
    usual_clip: float = 0.2
    confidence: float = 0.7
    unseen: float = 0.4
    """The same where nobody knows the size of updates: large steps may have destroyed the policy as well."""
    fewest_points: int = 20


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Hold the end against random actions, and look how it came there."""
    task, curve, returns = known_task(facts), facts.curve, facts.run.returns
    # A language model begins with what it learned from text, not with random actions.
    if curve is None or returns is None or facts.is_language_model:
        return None
    # Less and less random actions alone lower the return of an untrained policy.
    if facts.series("epsilon") is not None or evaluations_hold(facts):
        return None
    if task is not None and task.random_mean is not None:
        bar, about = (
            task.random_mean - limits.below * (task.random_std or 0.0),
            f"random actions get {task.random_mean:.4g}",
        )
    else:
        bar, about = curve.start - limits.far_below * curve.noise, "it began with an untrained policy"
    if curve.points < limits.fewest_points or curve.final >= bar:
        return None
    # What learns the opposite does not come back.
    if curve.climb > max(limits.climbed * curve.noise, limits.climbed_share * -curve.gain) or curve.half.is_sure:
        return None
    if (
        -curve.gain < max(limits.clear * curve.noise, limits.material * abs(curve.start))
        or longer_episodes_cost_more(facts)
        or (facts.is_off_policy and fell_before_evaluations(facts))
        or _jumps(facts, curve, limits)
    ):
        return None
    way = drift(returns, centre="mean")
    begun, reached = (_first_below(curve, curve.start + part * curve.gain) for part in (limits.begun, limits.complete))
    jumped = reached - begun < limits.gradual * (returns.steps[-1] - returns.steps[0])
    if not way.enough or way.direction > 0 or not way.share >= limits.one_way:
        return None
    if jumped and not _walked(facts, reached, limits):
        return None
    summary = f"{returns.logged_as} fell steadily from {curve.start:.4g} to {curve.final:.4g}; {about}"
    evidence = (
        facts.evidence(returns.name, curve.final, bar, note="level at the end, against random actions"),
        facts.evidence(returns.name, way.share, limits.one_way, note="share that a steady decline explains"),
    )
    sure = limits.confidence if _kl_until(facts, reached) is not None else limits.unseen
    return RuleResult(Severity.WARNING, sure, summary, evidence, float(returns.steps[0]))


def _jumps(facts: RunFacts, curve: ReturnCurve, limits: Limits) -> bool:
    """Whether updates were jumps before the return had fallen; a policy that is lost may jump about afterwards."""
    size = _kl_until(facts, _first_below(curve, curve.start + limits.begun * curve.gain))
    return size is not None and size > _jump(facts, limits)


def _walked(facts: RunFacts, until: float, limits: Limits) -> bool:
    """Whether a fall that was over soon was made of updates of a sane size."""
    size = _kl_until(facts, until)
    return size is not None and size <= _jump(facts, limits)


def _jump(facts: RunFacts, limits: Limits) -> float:
    return limits.jumps * clip_kl(clip_range(facts) or limits.usual_clip)


def _kl_until(facts: RunFacts, until: float) -> float | None:
    series = facts.series("approx_kl")
    if series is None:
        return None
    steps, values = finite(series)
    before = values[steps <= until]
    return median(before) if before.size else None


def _first_below(curve: ReturnCurve, level: float) -> float:
    below = zip(curve.steps, curve.values, strict=True)
    return next((float(step) for step, value in below if value < level), float(curve.steps[-1]))
