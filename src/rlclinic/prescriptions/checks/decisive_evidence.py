"""Evidence on which a cause is acted on without a test, although its probability is small.

Probabilities are shared among a hundred causes, so a right one often has a fifth. Two things still single it out: a
sign that speaks for it and for hardly any other cause, and a setting that no working config comes near, together with
a symptom. Neither counts in a run that learns, unless its budget is used up, it is not known to be done, and the
setting is far outside all working configs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

from rlclinic.causes.weights import weights
from rlclinic.facts.unusual_settings import unusual
from rlclinic.facts.update_count import updates_per_step
from rlclinic.model.diagnosis import Verdict
from rlclinic.model.finding import Finding, Severity
from rlclinic.model.numbers import number
from rlclinic.model.prescription import Change
from rlclinic.model.run import Run
from rlclinic.prescriptions.assessment import Assessment
from rlclinic.prescriptions.checks.constraints import RANGES
from rlclinic.reference.usual import Basis, Direction, Unusual

# Verdicts of runs that did not do what they were meant to.
FAILED = frozenset(
    {Verdict.MISCONFIGURED, Verdict.COLLAPSED, Verdict.NOT_LEARNING, Verdict.UNSTABLE, Verdict.PLATEAUED}
)
# Spreads of working configs beyond which a setting is singled out.
FAR_OFF = 3.0
# A sign tells its cause where it weighs this much, and all others below this share of it (log units of likelihood).
TELLING_WEIGHT = 2.0
RIVAL_SHARE = 0.6
SURE_ENOUGH = 0.7
# Findings about the config itself are no symptoms; and no bonus is what most working configs have.
NO_SYMPTOM = "config"
NEVER_ALONE = frozenset({"ent_coef"})
# Only their ratio says anything.
PER_STEP = frozenset({"gradient_steps", "train_freq"})
# A logged rate this many times off the config's shows that the config is not in force.
NOT_IN_FORCE = 2.0


def did_badly(assessment: Assessment) -> bool:
    """Whether the run failed, or crept through its whole budget."""
    return assessment.verdict in FAILED or assessment.status.barely_moved


def has_specific_finding(cause: str, evidence: Sequence[Finding], *, least: Severity = Severity.WARNING) -> bool:
    """Whether a clear finding speaks for this cause alone."""
    return any(
        finding.severity.rank >= least.rank and finding.confidence >= SURE_ENOUGH and _told_by(finding.name) == cause
        for finding in evidence
    )


def is_far_off(assessment: Assessment, changes: Sequence[Change], evidence: Sequence[Finding]) -> bool:
    """Whether the first change takes back a setting that no working config comes near; only with a symptom."""
    if not changes:
        return False
    symptom = any(item.severity is not Severity.INFO and item.family != NO_SYMPTOM for item in evidence)
    if assessment.verdict not in FAILED:
        return assessment.status.budget_used and _is_outside(assessment, changes[0])
    if not symptom:
        return False
    distance = _spreads_off(assessment, changes[0])
    return distance >= FAR_OFF if distance is not None else _is_outside(assessment, changes[0])


def _is_outside(assessment: Assessment, change: Change) -> bool:
    """Whether the change leads back from a value that the user set, that is in force and that nobody trains with."""
    setting, found = assessment.run.config.settings.get(change.key), _unusual(assessment, change)
    if setting is None or setting.is_default or found is None or not is_in_force(assessment.run, change.key):
        return False
    return found[0].beyond(found[1]) > 0.0


def is_in_force(run: Run, key: str) -> bool:
    """Whether the log bears out the config: a rate that was dropped on the way to the trainer is no cause."""
    value, logged = run.config.number(key), run.series.get(key)
    highest = logged.highest if logged is not None else None
    return not value or not highest or 1.0 / NOT_IN_FORCE <= highest / value <= NOT_IN_FORCE


def _spreads_off(assessment: Assessment, change: Change) -> float | None:
    """Spreads between the user's setting and what works here, positive where the change leads back; None if unknown."""
    here, after, allowed = assessment.run.config.number(change.key), number(change.after), RANGES.get(change.key)
    if here is not None and after is not None and allowed is not None and not allowed.holds(here):
        return math.inf if allowed.holds(after) else None
    found = _unusual(assessment, change)
    if (
        found is None
        or found[0].basis is not Basis.TASK
        or (here is not None and here <= 0 and change.key in NEVER_ALONE)
    ):
        return None
    return found[0].off(found[1])


def _unusual(assessment: Assessment, change: Change) -> tuple[Unusual, Direction] | None:
    """How unusual the setting is that a change leads away from, and the direction in which it would be wrong."""
    here, after, key = assessment.run.config.number(change.key), number(change.after), change.key
    if here is None or after is None:
        return None
    high = after < here
    if key in PER_STEP:
        # Only their ratio says anything; it falls with the interval.
        ratio = updates_per_step(assessment.facts)
        key, here, high = "update_to_data", ratio, high == (key == "gradient_steps")
    found = unusual(assessment.facts, key, here) if here is not None else None
    return (found, "high" if high else "low") if found is not None else None


@cache
def _told_by(sign: str) -> str:
    """The one cause that a sign speaks for; empty where it speaks for several or for none strongly."""
    ranked = sorted(((row.weights.get(sign, 0.0), cause) for cause, row in weights().causes.items()), reverse=True)
    (first, cause), (second, _) = ranked[:2]
    return cause if first >= TELLING_WEIGHT and second < RIVAL_SHARE * first else ""
