"""The action noise shrank to a small part of its start without the return gaining anything.

What it sees: The standard deviation of the actions fell below a tenth of its early level while the return is flat or
has fallen; or one action dimension fell below a fiftieth of the mean.
Why it hurts: A Gaussian policy explores only within its noise. Once that is gone the mean moves by tiny amounts, and
small widths make the ratio of every update extreme.
Evidence needed: action_std/mean or action_std/min with at least 12 points, and a return.
Looks alike: Convergence: the noise shrinks while the return climbs. State-dependent exploration starts at a small
value by design; only the fall counts. Precision tasks need little noise.
What to change: Raise the entropy bonus, set a lower bound for the log standard deviation, or lower the learning rate
if KL is high. One collapsed dimension: check that the reward depends on it.
References: Andrychowicz et al. 2021 (arXiv 2006.05990), section 3.2; Ahmed et al. 2019 (arXiv 1811.11214).
"""

from __future__ import annotations

from rlclinic.model.finding import Severity
from rlclinic.rules.patient import Level, Patient
from rlclinic.rules.return_state import return_name, suffers
from rlclinic.rules.sighting import Sighting
from rlclinic.rules.stretch import finite, lasting_from

# Late over early width: 2.3 nats of entropy per dimension.
COLLAPSED = 0.1
# Narrowest over mean width of the dimensions.
ONE_DIMENSION = 0.02
MIN_POINTS = 12


def check(patient: Patient) -> Sighting | None:
    """Compare the late width with the early one, then the narrowest dimension with the mean."""
    outcome = patient.outcome
    if outcome is None or not suffers(patient):
        return None
    for name in ("action_std/mean", "action_std/min"):
        early, late = patient.early(name), patient.late(name)
        if early is None or late is None or early.value <= 0.0 or _points(patient, name) < MIN_POINTS:
            continue
        if late.value / early.value < COLLAPSED:
            note = "last 10 % over first 10 %"
            what = f"{_logged(patient, name)} fell from {early.value:.3g} to {late.value:.3g}"
            return _sighting(patient, name, late, late.value / early.value, COLLAPSED, note, what)
    mean, narrowest = patient.late("action_std/mean"), patient.late("action_std/min")
    if mean is None or narrowest is None or narrowest.points < 2 or mean.value <= 0.0:
        return None
    if narrowest.value / mean.value >= ONE_DIMENSION or _points(patient, "action_std/min") < MIN_POINTS:
        return None
    what = f"the narrowest action dimension has {narrowest.value:.3g}, the mean {mean.value:.3g}"
    ratio = narrowest.value / mean.value
    return _sighting(patient, "action_std/min", narrowest, ratio, ONE_DIMENSION, "narrowest over mean", what)


def _sighting(
    patient: Patient, name: str, late: Level, ratio: float, threshold: float, note: str, what: str
) -> Sighting | None:
    outcome, series = patient.outcome, patient.series(name)
    if outcome is None or series is None:
        return None
    summary = f"{what} while the return went from {outcome.start:.4g} to {outcome.end:.4g}"
    evidence = (
        patient.evidence(name, ratio, threshold, level=late, note=note),
        patient.evidence(return_name(patient), outcome.gain, 3 * outcome.scale, note="gain from start to end"),
    )
    steps, values = finite(series)
    onset = lasting_from(steps, values < 2.0 * late.value)
    return Sighting(Severity.WARNING, 0.7, summary, evidence, onset)


def _points(patient: Patient, name: str) -> int:
    series = patient.series(name)
    return len(finite(series)[0]) if series is not None else 0


def _logged(patient: Patient, name: str) -> str:
    series = patient.series(name)
    return f"action std ({series.logged_as})" if series is not None else "action std"
