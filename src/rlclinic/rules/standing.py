"""Whether a run failed to learn although it had the time to.

A setting, or an odd metric, is no fault by itself. Rules that judge those ask here for the symptom first.
"""

from __future__ import annotations

from rlclinic.rules.goal import goal_of, had_time, known_task
from rlclinic.rules.offline import is_offline
from rlclinic.rules.patient import Patient
from rlclinic.rules.return_state import has_fallen, reached_goal, suffers
from rlclinic.rules.saturation import saturation

# Points of a return below which its course says nothing.
FEWEST_POINTS = 10
# Share of the way from the start to the goal below which a rise is hardly one.
SMALL_PART = 0.15
# The same for a rise that still goes on: below it a late rise is as likely noise.
TINY_PART = 0.03
# Share of the way from which on a run has learned, however noisy its return is.
GOOD_PART = 0.25


def failed(patient: Patient) -> bool:
    """Whether the run did not learn, or lost most of what it had learned. False where that cannot be said."""
    outcome = patient.outcome
    if outcome is None or outcome.points < FEWEST_POINTS or reached_goal(patient):
        return False
    if _below_random(patient):
        return True
    if not had_time(patient) or saturation(patient) is not None:
        return False
    # The first evaluation of offline training may already be as good as the data allow.
    if is_offline(patient) and goal_of(patient) is None:
        return has_fallen(patient)
    return has_fallen(patient) or _hardly_rose(patient) or (suffers(patient) and not _well_on_its_way(patient))


def sank(patient: Patient) -> bool:
    """Whether the return lost a good part of its climb, or fell clearly below its start."""
    outcome = patient.outcome
    return outcome is not None and outcome.points >= FEWEST_POINTS and has_fallen(patient)


def _hardly_rose(patient: Patient) -> bool:
    goal, outcome = goal_of(patient), patient.outcome
    if goal is None or outcome is None or goal.level <= outcome.start:
        return False
    part = TINY_PART if outcome.still_rising else SMALL_PART
    return outcome.gain < part * (goal.level - outcome.start)


def _well_on_its_way(patient: Patient) -> bool:
    goal, outcome = goal_of(patient), patient.outcome
    if goal is None or outcome is None or goal.level <= outcome.start:
        return False
    return outcome.gain >= GOOD_PART * (goal.level - outcome.start)


def _below_random(patient: Patient) -> bool:
    """Ended clearly below what random actions get: no run needs more time to show this."""
    task, outcome = known_task(patient), patient.outcome
    if task is None or outcome is None or task.random_mean is None:
        return False
    return outcome.end < task.random_mean - (task.random_std or 0.0)
