"""What to do with a run that is still going: continue, stop or restart, and why.

A false stop costs more than a late one, so a run goes on unless it is clear that waiting gains nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from rlclinic.causes.lasting import lasting
from rlclinic.facts.goal import goal_of, goal_reached, had_time
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.diagnosis import Cause, Verdict
from rlclinic.model.goal import Goal
from rlclinic.model.numbers import plain_numbers
from rlclinic.model.outlook import Advice, Expectation, Outlook, Trajectory
from rlclinic.model.return_curve import ReturnCurve
from rlclinic.model.run import Status
from rlclinic.rules.words import steps_text
from rlclinic.signals.forecast import forecast

# Share of its climb that a return must have lost before it counts as falling.
LOST = 0.4
# Probability of the leading cause from which on a run is not waited for.
SURE_CAUSE = 0.75
# The same where the run has not had its time yet.
CERTAIN_CAUSE = 0.95
# Verdicts that a restart needs: a setting is no fault while the run learns.
ILL = frozenset({Verdict.MISCONFIGURED, Verdict.COLLAPSED, Verdict.NOT_LEARNING, Verdict.REWARD_HACKING})
# Chance of the goal below which waiting gains nothing. The forecast never claims less than 3%.
HOPELESS = 0.05
# Share of the budget before which no run is called hopeless: late starts are common.
HOPELESS_FROM = 0.6
# Points at the end of every loss that must be no number: a batch may go wrong by chance, all of several updates do not.
NO_NUMBER = 3
# Share of the budget from which on nothing is left to forecast.
BUDGET_USED = 0.98


def outlook_of(facts: RunFacts, verdict: Verdict, causes: Sequence[Cause]) -> Outlook | None:
    """The outlook of a running run; None for every other."""
    run = facts.run
    if run.status.state is not Status.RUNNING:
        return None
    curve, goal = facts.curve, goal_of(facts)
    trajectory = _trajectory(curve)
    expectation = _expectation(facts, goal)
    advice, reason = _advice(facts, verdict, causes, trajectory, goal, expectation)
    return Outlook(
        trajectory=trajectory,
        summary=_summary(facts, curve),
        advice=advice,
        reason=reason,
        progress=facts.progress,
        goal=None if goal is None else goal.level,
        goal_origin="" if goal is None else goal.origin,
        expectation=expectation,
        seconds_left=_seconds_left(facts),
    )


def _trajectory(curve: ReturnCurve | None) -> Trajectory:
    if curve is None or not curve.enough:
        return Trajectory.UNCLEAR
    if curve.rising:
        return Trajectory.RISING
    if curve.fell_below_start or (curve.climbed and curve.drop > LOST * curve.climb):
        return Trajectory.FALLING
    return Trajectory.FLAT


def _summary(facts: RunFacts, curve: ReturnCurve | None) -> str:
    returns = facts.run.returns
    if curve is None or returns is None:
        return "no return has been logged so far"
    best = f", best {curve.best:.4g} at step {curve.best_step:,.0f}" if curve.best > curve.final else ""
    return plain_numbers(
        f"so far {returns.logged_as} went from {curve.start:.4g} to {curve.final:.4g}{best}, in "
        f"{steps_text(facts, facts.run.steps)} and {curve.points} points"
    )


def _expectation(facts: RunFacts, goal: Goal | None) -> Expectation | None:
    run, returns = facts.run, facts.run.returns
    if goal is None or returns is None or run.budget is None or returns.axis != run.step_axis:
        return None
    if run.steps >= BUDGET_USED * run.budget:
        return None
    ahead = forecast(returns, goal.level, run.budget)
    if not ahead.enough:
        return None
    return Expectation(
        ahead.probability, ahead.value, ahead.low, ahead.high, ahead.step, ahead.step_low, ahead.step_high
    )


def _advice(
    facts: RunFacts,
    verdict: Verdict,
    causes: Sequence[Cause],
    trajectory: Trajectory,
    goal: Goal | None,
    expectation: Expectation | None,
) -> tuple[Advice, str]:
    since = _losses_lost(facts)
    if since is not None:
        return Advice.RESTART, f"no loss has been a number since step {since:,.0f}: {lasting()['numerical-failure']}"
    reached = goal_reached(facts)
    if goal is not None and reached is not None and reached.held:
        held = f"the goal of {goal.level:.4g} ({goal.origin}) was reached at step {reached.step:,.0f} and holds so far"
        if trajectory is Trajectory.RISING:
            return Advice.CONTINUE, f"{held}; the return still rises"
        if goal.source == "task":
            # Nobody said that this level is enough here.
            return Advice.CONTINUE, f"{held}; stop it where that is all you want"
        return Advice.STOP, f"{held}; further steps add nothing to that"
    lead = causes[0] if causes else None
    hopeless = expectation is not None and expectation.probability <= HOPELESS
    # What was lost already, could never be learned or has a certain cause needs no more time to show.
    certain = lead is not None and lead.probability >= CERTAIN_CAUSE
    lost = trajectory is Trajectory.FALLING or verdict is Verdict.MISCONFIGURED
    shown = hopeless or lost or certain or had_time(facts)
    if lead is not None and trajectory is not Trajectory.RISING and verdict in ILL and shown:
        why = lasting().get(lead.id)
        if why is not None and (lead.probability >= SURE_CAUSE or verdict is Verdict.MISCONFIGURED):
            return Advice.RESTART, f"{lead.id} ({100 * lead.probability:.0f}%) does not go away by itself: {why}"
    if verdict is Verdict.MISCONFIGURED and trajectory is not Trajectory.RISING:
        return Advice.RESTART, "as configured it cannot learn, however long it goes on"
    progress = facts.progress
    if expectation is not None and progress is not None and progress >= HOPELESS_FROM:
        judged = trajectory is not Trajectory.RISING and verdict is not Verdict.INSUFFICIENT_DATA
        if judged and hopeless and had_time(facts):
            chance = f"{100 * expectation.probability:.0f}%"
            return Advice.STOP, f"the chance of the goal within the budget is {chance} and the return does not rise"
    if expectation is None and verdict in ILL:
        return Advice.CONTINUE, "it does badly, but no cause is sure enough to give it up"
    return Advice.CONTINUE, _patience(facts, trajectory, goal, expectation)


def _losses_lost(facts: RunFacts) -> float | None:
    """Step since which every loss has been NaN or infinite to the end; None where one is a number."""
    losses = [one for one in map(facts.series, ("policy_loss", "value_loss", "loss")) if one is not None]
    good = [int(np.flatnonzero(np.isfinite(one.values))[-1]) for one in losses]
    if not losses or any(len(one) - 1 - last < NO_NUMBER for one, last in zip(losses, good, strict=True)):
        return None
    return float(max(one.steps[last + 1] for one, last in zip(losses, good, strict=True)))


def _patience(facts: RunFacts, trajectory: Trajectory, goal: Goal | None, expectation: Expectation | None) -> str:
    if expectation is not None:
        chance = f"the chance of the goal within the budget is {100 * expectation.probability:.0f}%"
        rest = "" if facts.progress is None else f" with {100 * (1 - facts.progress):.0f}% of it left"
        early = "; that is low, but it is too early to give the run up" if expectation.probability <= HOPELESS else ""
        return f"{chance}{rest}{early}"
    if trajectory is Trajectory.RISING:
        return "the return rises"
    missing = [
        word
        for word, absent in (
            ("goal", goal is None),
            ("budget", facts.run.budget is None),
            ("course of the return", trajectory is Trajectory.UNCLEAR),
        )
        if absent
    ]
    if not missing:
        return "nothing shows that waiting will not help"
    verb = "is" if len(missing) == 1 else "are"
    return f"the {' and the '.join(missing)} {verb} not known, so nothing can be forecast"


def _seconds_left(facts: RunFacts) -> float | None:
    """From the speed of the latest part of the run."""
    run = facts.run
    if run.budget is None or run.steps >= run.budget:
        return None
    speed = facts.late("fps")
    if speed is not None and speed.value > 0 and run.step_axis == "env_steps":
        return float((run.budget - run.steps) / speed.value)
    returns = run.returns
    if returns is None or returns.wall_times is None or returns.axis != run.step_axis or len(returns) < 2:
        return None
    half = len(returns) // 2
    steps, seconds = returns.steps[[half, -1]], returns.wall_times[[half, -1]]
    taken, lasted = float(np.diff(steps)[0]), float(np.diff(seconds)[0])
    left = (run.budget - run.steps) * lasted / taken if taken > 0 else math.nan
    return left if math.isfinite(left) and left > 0 else None
