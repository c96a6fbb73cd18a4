"""The return swings by a large part of its range.

What it sees: After a climb the return lost at least 40 % of its whole range, well beyond its noise, and won a good
part of it back; twice or more, or once without coming back to its best.
Why it hurts: What the policy learns does not last: the checkpoint at the end is a matter of luck.
Evidence needed: a return with at least 12 points.
Looks alike: Noise of single episodes or of few evaluation episodes. One dip that is fully recovered. A curriculum
or self-play opponent that changes the task. Penalties of
training alone: evaluations that hold their best show it.
What to change: Smaller policy steps: lower the learning rate or let it decay, fewer epochs, larger batch; for
Q-learning a slower target network and a larger buffer. Keep the best checkpoint.
References: Engstrom et al. 2020 (arXiv 2005.12729); Mnih et al. 2015 on target networks.
"""

from __future__ import annotations

from rlclinic.model.finding import Severity
from rlclinic.model.series import Series
from rlclinic.rules.course import CLEAR, MATERIAL_FALL, Course, course_of
from rlclinic.rules.evaluated import evaluations_hold
from rlclinic.rules.goal import goal_of, reach_of
from rlclinic.rules.patient import Patient
from rlclinic.rules.sighting import Sighting
from rlclinic.rules.words import steps_text
from rlclinic.signals.oscillation import oscillation

# Share of the range that must come back for a fall to be a swing and not a loss.
RECOVERED = 0.25
# Share of the range by which the end may miss the best after a single dip that did no harm.
HARMLESS = 0.2
# Likeness of the half periods from which on swings have a rhythm, and turns that it takes.
REGULAR = 0.7
FEWEST_TURNS = 6


def check(patient: Patient) -> Sighting | None:
    """Count falls that were followed by a recovery."""
    course, returns = course_of(patient), patient.run.returns
    if course is None or returns is None or not course.enough:
        return None
    least = max(CLEAR * course.unit, RECOVERED * course.span)
    swings = [fall for fall in course.falls if fall.recovered >= least]
    if not swings:
        return None
    worst = max(swings, key=lambda fall: fall.depth)
    began, ended = steps_text(patient, worst.from_step), steps_text(patient, worst.to_step)
    summary = (
        f"{returns.logged_as} fell from {worst.high:.4g} at {began} to {worst.low:.4g} at {ended} and rose again by "
        f"{worst.recovered:.4g}; {_times(len(swings))} in this run{_rhythm(patient, returns)}"
    )
    bar = max(CLEAR * course.unit, MATERIAL_FALL * course.span)
    evidence = (
        patient.evidence(returns.name, worst.depth, bar, note="largest fall, against noise and 40 % of the range"),
        patient.evidence(returns.name, worst.recovered, least, note="what came back"),
    )
    severity = Severity.WARNING if _harmful(patient, course, len(swings)) else Severity.INFO
    return Sighting(severity, 0.75, summary, evidence, swings[0].from_step)


def _harmful(patient: Patient, course: Course, swings: int) -> bool:
    goal = goal_of(patient)
    reach = reach_of(patient, goal) if goal is not None else None
    if (reach is not None and reach.held) or evaluations_hold(patient):
        return False
    return swings > 1 or course.drop > HARMLESS * course.span


def _rhythm(patient: Patient, returns: Series) -> str:
    """How often it swings, where the swings are regular: a schedule or a buffer that turns over looks like this."""
    swing = oscillation(returns, centre="mean")
    if not swing.enough or not swing.regularity >= REGULAR or swing.turns < FEWEST_TURNS:
        return ""
    return f", about every {steps_text(patient, swing.period)}"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} such falls"
