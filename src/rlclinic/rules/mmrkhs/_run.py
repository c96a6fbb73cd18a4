"""Whether a run trains MM-RKHS."""

from __future__ import annotations

from rlclinic.rules.patient import Patient


def is_mmrkhs(patient: Patient) -> bool:
    """Told by the algorithm, or by the MMD that only it logs."""
    return patient.run.algorithm.upper() == "MM-RKHS" or "mmd" in patient.run
