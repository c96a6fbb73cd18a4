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

from rlclinic.causes.deviation import LEAST_SPREAD, deviation, is_outside
from rlclinic.causes.likelihoods import Knob, likelihoods
from rlclinic.model.diagnosis import Verdict
from rlclinic.model.finding import Finding, Severity
from rlclinic.model.prescription import Change
from rlclinic.prescriptions.case import Case
from rlclinic.prescriptions.constraints import RANGES
from rlclinic.reference.reference_configs import spreads_from_reference

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
OFTEN_ZERO = frozenset({"ent_coef"})
# Only their ratio says anything.
PER_STEP = frozenset({"gradient_steps", "train_freq"})
# Logarithms already: they may be negative, and 0 is an ordinary value.
LOGARITHMIC = frozenset({"log_std_init"})


def did_badly(case: Case) -> bool:
    """Whether the run failed, or crept through its whole budget."""
    return case.verdict in FAILED or case.standing.crept


def has_telling_sign(cause: str, evidence: Sequence[Finding], *, least: Severity = Severity.WARNING) -> bool:
    """Whether a clear finding speaks for this cause alone."""
    return any(
        finding.severity.rank >= least.rank and finding.confidence >= SURE_ENOUGH and _told_by(finding.name) == cause
        for finding in evidence
    )


def is_far_off(case: Case, changes: Sequence[Change], evidence: Sequence[Finding]) -> bool:
    """Whether the first change takes back a setting that no working config comes near; only with a symptom."""
    if not changes:
        return False
    symptom = any(item.severity is not Severity.INFO and item.family != NO_SYMPTOM for item in evidence)
    if case.verdict not in FAILED:
        seen = any(item.family != NO_SYMPTOM for item in evidence)
        return case.standing.open_end and _is_outside(case, changes[0], with_sign=seen)
    if not symptom:
        return False
    distance = _spreads_off(case, changes[0])
    return distance >= FAR_OFF if distance is not None else _is_outside(case, changes[0], with_sign=False)


def _is_outside(case: Case, change: Change, *, with_sign: bool) -> bool:
    """Whether the change leads back from a value far outside all working configs."""
    here, after = case.run.config.number(change.key), change.after
    if here is None or isinstance(after, bool) or not isinstance(after, int | float):
        return False
    knob = Knob(change.key, "high" if after < here else "low")
    return is_outside(case.run, knob, with_sign=with_sign)


def _spreads_off(case: Case, change: Change) -> float | None:
    """Spreads between the user's setting and what works here, positive where the change leads back; None if unknown."""
    here, after = case.run.config.number(change.key), change.after
    if here is None or isinstance(after, bool) or not isinstance(after, int | float):
        return None
    if change.key in PER_STEP:
        return _updates_off(case, up=(after > here) == (change.key == "gradient_steps"))
    allowed = RANGES.get(change.key)
    if allowed is not None and not allowed.holds(here):
        return math.inf if allowed.holds(float(after)) else None
    known = case.reference_number(change.key)
    if not case.has_entry or known is None or (here <= 0 and change.key in OFTEN_ZERO):
        return None
    if known <= 0 and change.key not in LOGARITHMIC:
        above = spreads_from_reference(case.run.algorithm, change.key, here)
        return None if above is None else above if after < here else -above
    return deviation(case.run, Knob(change.key, "high" if after < here else "low"))


def _updates_off(case: Case, *, up: bool) -> float | None:
    """The same for gradient steps per env step, of which both numbers are a part."""
    steps, every = case.number("gradient_steps"), case.number("train_freq")
    known = case.reference_number("update_to_data")
    if not case.has_entry or not known or not every or not steps or steps < 0:
        return None
    below = math.log10(known * every / steps) / LEAST_SPREAD
    return below if up else -below


@cache
def _told_by(sign: str) -> str:
    """The one cause that a sign speaks for; empty where it speaks for several or for none strongly."""
    weights = sorted(((row.weights.get(sign, 0.0), cause) for cause, row in likelihoods().items()), reverse=True)
    (first, cause), (second, _) = weights[:2]
    return cause if first >= TELLING_WEIGHT and second < RIVAL_SHARE * first else ""
