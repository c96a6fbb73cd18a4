"""Whether a run learned from a fixed data set instead of an environment."""

from __future__ import annotations

from rlclinic.rules.patient import Patient

ALGORITHMS = frozenset(
    {"CQL", "DISCRETECQL", "IQL", "AWAC", "BCQ", "DISCRETEBCQ", "BEAR", "CRR", "TD3PLUSBC", "MARWIL"}
)


def is_offline(patient: Patient) -> bool:
    """Told by the algorithm, or by a run that counts updates and has evaluations but no training return."""
    run = patient.run
    if run.algorithm.upper() in ALGORITHMS:
        return True
    if patient.is_language_model or patient.series("return/eval") is None or patient.series("return/train") is not None:
        return False
    never_defined = "return/train" in run
    return never_defined or (run.step_axis == "updates" and patient.is_off_policy)
