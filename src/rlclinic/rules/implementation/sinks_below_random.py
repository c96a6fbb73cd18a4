"""The policy gets steadily worse than acting at random.

What it sees: From the start the return drifts one way, down, over most of the run and ends clearly below what random
actions earn on this task, while the updates are of a sane size until it has begun to sink.
Why it hurts: Something learns, and it learns the opposite: the sign of the advantage, of the loss or of the reward is
flipped, or the ratio is inverted.
Evidence needed: a return with at least 20 points; on a task that is not well known the untrained policy of the first
moments stands for random actions, and the fall must be larger.
Looks alike: A policy destroyed by large steps, which falls at once (KL, entropy). Costs that add up when episodes get
longer. Long noise below a random policy's return.
What to change: Check the sign: on a bandit with two arms the better one must win. Then the sign of the reward.
References: Ilyas et al. and the probe literature on flipped advantages; probe P5 (advantage sign).
"""

from __future__ import annotations

import numpy as np

from rlclinic.facts.costs import longer_episodes_cost_more
from rlclinic.facts.course import Course, course_of
from rlclinic.facts.evaluations import evaluations_hold
from rlclinic.facts.goal import known_task
from rlclinic.facts.policy_updates import clip_kl, clip_range
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.stretch import finite
from rlclinic.model.finding import Severity
from rlclinic.rules.result import RuleResult
from rlclinic.signals.drift import drift

# Standard deviations of single random episodes by which the end must lie below their mean.
BELOW = 0.5
# Share of the curve's variance that one course downwards must explain.
ONE_WAY = 0.7
# Units of noise that the fall must exceed, and share of the start.
CLEAR, MATERIAL = 4.0, 0.25
# Units of noise below the untrained policy where nobody knows what random actions earn.
FAR_BELOW = 6.0
# Units of noise, and share of the fall, by which the return may have risen before.
CLIMBED, CLIMBED_SHARE = 2.0, 0.35
# Share of the fall from which on the return has begun to sink.
BEGUN = 0.15
# Share of the fall at which it is as good as complete, and of the run before which that makes it a jump, not a drift.
COMPLETE, GRADUAL = 0.9, 0.15
# Times the KL at which all ratios stand at the clip; beyond it updates are jumps. And the clip where none is known.
JUMPS = 5.0
USUAL_CLIP = 0.2
FEWEST_POINTS = 20


def check(facts: RunFacts) -> RuleResult | None:
    """Hold the end against random actions, and look how it came there."""
    task, course, returns = known_task(facts), course_of(facts), facts.run.returns
    if course is None or returns is None:
        return None
    # Less and less random actions alone lower the return of an untrained policy.
    if facts.series("epsilon") is not None or evaluations_hold(facts):
        return None
    if task is not None and task.random_mean is not None:
        bar, about = task.random_mean - BELOW * (task.random_std or 0.0), f"random actions get {task.random_mean:.4g}"
    else:
        bar, about = course.outcome.start - FAR_BELOW * course.unit, "it began with an untrained policy"
    if course.outcome.points < FEWEST_POINTS or course.end >= bar:
        return None
    if course.outcome.climb > max(CLIMBED * course.unit, CLIMBED_SHARE * -course.gain):
        return None
    if (
        -course.gain < max(CLEAR * course.unit, MATERIAL * abs(course.outcome.start))
        or longer_episodes_cost_more(facts)
        or _jumps(facts, course)
    ):
        return None
    way = drift(returns, centre="mean")
    reached = _first_below(course, course.outcome.start + COMPLETE * course.gain)
    early = reached - returns.steps[0] < GRADUAL * (returns.steps[-1] - returns.steps[0])
    if not way.enough or way.direction > 0 or not way.share >= ONE_WAY:
        return None
    if early and not _walked(facts, reached):
        return None
    summary = f"{returns.logged_as} sank from {course.outcome.start:.4g} to {course.end:.4g}, step by step; {about}"
    evidence = (
        facts.evidence(returns.name, course.end, bar, note="level at the end, against random actions"),
        facts.evidence(returns.name, way.share, ONE_WAY, note="share of the course that one way down explains"),
    )
    return RuleResult(Severity.WARNING, 0.7, summary, evidence, float(returns.steps[0]))


def _jumps(facts: RunFacts, course: Course) -> bool:
    """Whether updates were jumps before the return had fallen; a policy that is lost may jump about afterwards."""
    size = _kl_until(facts, _first_below(course, course.outcome.start + BEGUN * course.gain))
    return size is not None and size > _jump(facts)


def _walked(facts: RunFacts, until: float) -> bool:
    """Whether a fall that was over soon was made of updates of a sane size."""
    size = _kl_until(facts, until)
    return size is not None and size <= _jump(facts)


def _jump(facts: RunFacts) -> float:
    return JUMPS * clip_kl(clip_range(facts) or USUAL_CLIP)


def _kl_until(facts: RunFacts, until: float) -> float | None:
    series = facts.series("approx_kl")
    if series is None:
        return None
    steps, values = finite(series)
    before = values[steps <= until]
    return float(np.median(before)) if before.size else None


def _first_below(course: Course, level: float) -> float:
    below = zip(course.outcome.steps, course.outcome.curve, strict=True)
    return next((float(step) for step, value in below if value < level), float(course.outcome.steps[-1]))
