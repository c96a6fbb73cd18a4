"""The return ended no better than random actions.

What it sees: The level at the end lies within one standard deviation of what uniform random actions get on this
task (measured), or below it, after a budget in which published runs reach the goal.
Why it hurts: Whatever was trained has not changed what the agent achieves.
Evidence needed: a return on a task whose random return rlclinic knows, and at least half of the env steps that
published runs needed.
Looks alike: A short run; a sparse task before its first success; rewards that a wrapper rescales, so that the
numbers cannot be compared (the rule then needs the start to lie at the random level too).
What to change: Do not tune yet. Check that updates run at all, that the reward reaches the learner, and that the
learning rate is within a factor of ten of the reference; then run the probes.
References: random returns measured with Gymnasium 1.3.0 (uniform actions).
"""

from __future__ import annotations

from rlclinic.model.finding import Severity
from rlclinic.rules.course import course_of
from rlclinic.rules.goal import known_task, reference_steps
from rlclinic.rules.patient import Patient
from rlclinic.rules.sighting import Sighting

# Share of the published steps after which a working run is clearly above random.
MATERIAL = 0.5
# Standard deviations of the random return: the end must be within one, the start within three.
END_WITHIN = 1.0
START_WITHIN = 3.0


def check(patient: Patient) -> Sighting | None:
    """Compare the end with the random policy."""
    task, course, needed = known_task(patient), course_of(patient), reference_steps(patient)
    taken = patient.run.env_steps
    if task is None or course is None or not course.enough or needed is None or taken is None:
        return None
    mean, spread = task.random_mean, task.random_std
    if mean is None or spread is None or taken < MATERIAL * needed:
        return None
    spread = max(spread, course.unit)
    if course.end > mean + END_WITHIN * spread or abs(course.outcome.start - mean) > START_WITHIN * spread:
        return None
    if course.rising and course.climbed:
        return None
    returns = patient.run.returns
    name, logged = (returns.name, returns.logged_as) if returns is not None else ("return/train", "the return")
    summary = (
        f"{logged} ended at {course.end:.4g} after {taken:,.0f} env steps; random actions get {mean:.4g} "
        f"(standard deviation {spread:.3g}) on {task.name}"
    )
    evidence = (
        patient.evidence(name, course.end, mean + END_WITHIN * spread, note="level of the last points"),
        patient.evidence(name, taken, MATERIAL * needed, note="env steps, against half of what published runs needed"),
    )
    return Sighting(Severity.WARNING, 0.85, summary, evidence)
