"""The MMD penalty outweighs the policy objective.

What it sees: The weighted MMD penalty is at least ten times the size of the policy loss over the last half, while the
return is poor.
Why it hurts: The step is chosen to keep the policy where it is. Advantages hardly count.
Evidence needed: mmd and policy_loss with at least 12 points, and a return.
Looks alike: A policy loss near zero because advantages are normalised and the policy is close to its optimum. An MMD
at its noise floor (about 0.001 with few sample pairs), which pulls nowhere.
What to change: Lower beta (mmd_coef), widen the kernel (mmd_bandwidth), take more samples or the closed form.
References: Gupta and Mahajan 2026 (arXiv 2603.17875), equation 7.1.
"""

from __future__ import annotations

from rlclinic.model.finding import Severity
from rlclinic.rules.mmrkhs._run import is_mmrkhs
from rlclinic.rules.patient import Patient
from rlclinic.rules.setting import positive
from rlclinic.rules.sighting import Sighting
from rlclinic.rules.standing import failed

# Penalty over the size of the policy loss.
OUTWEIGHS = 10.0
# MMD of identical policies, estimated from 8 sample pairs per state: no penalty at all.
NOISE_FLOOR = 0.003
FEWEST_POINTS = 12


def check(patient: Patient) -> Sighting | None:
    """Hold the weighted penalty of the last half against the policy loss."""
    mmd, loss, late = patient.series("mmd"), patient.series("policy_loss"), patient.late("mmd", 0.5)
    outcome = patient.outcome
    if mmd is None or loss is None or late is None or outcome is None or len(mmd) < FEWEST_POINTS:
        return None
    weighted = "penalty" in mmd.logged_as.lower()
    weight = 1.0 if weighted else positive(patient, "mmd_coef") or 1.0
    penalty = weight * late.value
    size = _size_of_late_loss(patient)
    if size is None or late.value < NOISE_FLOOR or not is_mmrkhs(patient) or not failed(patient):
        return None
    ratio = penalty / max(size, 1e-12)
    if ratio < OUTWEIGHS:
        return None
    summary = (
        f"the MMD penalty is {penalty:.3g} over the last half, {ratio:.3g} times the size of the policy loss "
        f"({size:.3g}); the return went from {outcome.start:.4g} to {outcome.end:.4g}"
    )
    evidence = (
        patient.evidence(
            "mmd", penalty, OUTWEIGHS * size, level=late, note=f"median of the last half, weight {weight:g}"
        ),
    )
    return Sighting(Severity.WARNING, 0.65, summary, evidence)


def _size_of_late_loss(patient: Patient) -> float | None:
    """A loss about zero has a spread: its typical size is not its median."""
    late = patient.late("policy_loss", 0.5)
    return None if late is None else max(abs(late.value), late.spread)
