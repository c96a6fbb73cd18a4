"""The run became much slower.

What it sees: Env steps per second over the last fifth of the run, against those between a fifth and two fifths of
it. A speed that the framework averages since the start is turned back into the speed of each stretch.
Why it hurts: The rest of the budget takes longer than planned; a speed that falls without end is a leak (growing
memory, lists or logs that grow, a simulator that slows down).
Evidence needed: speed, elapsed time or wall times, with at least 20 points.
Looks alike: The fast warm-up of off-policy algorithms before the first update. Longer episodes with costlier steps.
Another program on the same machine. Single pauses (the middle of many stretches counts).
What to change: Compare time per rollout and per update at the beginning and at the end; watch the memory of the
process.
References: none needed.
"""

from __future__ import annotations

import numpy as np

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.model.series import FloatArray, Series
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult
from rlclinic.signals._robust import median

RULE = Rule("PRC04", needs=("fps|time/elapsed|return/train|return/eval",))


class Limits(RuleLimits):
    fewest_points: int = 20
    slower: float = 0.5
    """Late over early speed."""
    far_slower: float = 0.25
    coarse: float = 50.0
    """Speeds below this, per second, are too coarse to be turned back when they are printed as whole numbers."""


LIMITS = Limits()
# Shares of the steps that are compared; the first fifth holds warm-up and caches.
EARLY = (0.2, 0.4)
LATE = (0.8, 1.0)


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare the speed early and late."""
    found = _speeds(facts, limits)
    if found is None:
        return None
    name, steps, speeds = found
    if steps.size < limits.fewest_points:
        return None
    early, late = _middle(steps, speeds, EARLY), _middle(steps, speeds, LATE)
    if early is None or late is None or early <= 0 or late / early >= limits.slower or _warms_up(facts, steps):
        return None
    logged = facts.run.series[name].logged_as if name in facts.run.series else name
    summary = f"{late:,.0f} steps per second over the last fifth, {early:,.0f} over the second fifth (from {logged})"
    evidence = (facts.evidence(name, late / early, limits.slower, note="late speed over early speed"),)
    severity = Severity.WARNING if late / early < limits.far_slower else Severity.INFO
    return RuleResult(severity, 0.75, summary, evidence, float(steps[0] + LATE[0] * (steps[-1] - steps[0])))


def _speeds(facts: RunFacts, limits: Limits) -> tuple[str, FloatArray, FloatArray] | None:
    """Steps and speeds of stretches, from the best source there is."""
    elapsed, fps = facts.series("time/elapsed"), facts.series("fps")
    if elapsed is not None and len(elapsed) >= limits.fewest_points and elapsed.axis == "env_steps":
        return _rates("time/elapsed", elapsed.steps, elapsed.values, limits)
    if fps is not None and len(fps) >= limits.fewest_points:
        if fps.window != "since the start":
            return "fps", fps.steps, fps.values
        if fps.axis == "env_steps" and float(np.nanmin(fps.values)) > limits.coarse:
            return _rates("fps", fps.steps, fps.steps / fps.values, limits)
    timed = _timed(facts, limits)
    return _rates(timed.name, timed.steps, timed.wall_times, limits) if timed is not None else None


def _timed(facts: RunFacts, limits: Limits) -> Series | None:
    returns = facts.run.returns
    if returns is None or returns.wall_times is None or returns.axis != "env_steps":
        return None
    return returns if len(returns) >= limits.fewest_points else None


def _rates(
    name: str, steps: FloatArray, seconds: FloatArray | None, limits: Limits
) -> tuple[str, FloatArray, FloatArray] | None:
    """Steps per second between about forty points: neighbours are too close for whole seconds."""
    if seconds is None:
        return None
    finite = np.isfinite(seconds) & np.isfinite(steps)
    steps, seconds = steps[finite], seconds[finite]
    if steps.size < limits.fewest_points:
        return None
    chosen = np.unique(np.linspace(0, steps.size - 1, 41).astype(int))
    taken, passed = np.diff(steps[chosen]), np.diff(seconds[chosen])
    sound = (passed > 0) & (taken > 0)
    return name, steps[chosen][1:][sound], taken[sound] / passed[sound]


def _middle(steps: FloatArray, speeds: FloatArray, window: tuple[float, float]) -> float | None:
    low, high = steps[0] + window[0] * (steps[-1] - steps[0]), steps[0] + window[1] * (steps[-1] - steps[0])
    inside = speeds[(steps >= low) & (steps <= high) & np.isfinite(speeds) & (speeds > 0)]
    return median(inside) if inside.size >= 3 else None


def _warms_up(facts: RunFacts, steps: FloatArray) -> bool:
    """Whether the early window lies before the first update of an off-policy algorithm."""
    starts = facts.setting("learning_starts")
    if not facts.is_off_policy:
        return False
    return starts is None or starts > EARLY[0] * float(steps[-1])
