"""Hyperparameters as rules use them: positive numbers, and evidence that names the user's own key."""

from __future__ import annotations

from rlclinic.model.finding import Evidence
from rlclinic.rules.patient import Patient


def positive(patient: Patient, name: str) -> float | None:
    """A canonical hyperparameter if it is a finite number above zero."""
    value = patient.setting(name)
    return value if value is not None and value > 0 else None


def setting_evidence(
    patient: Patient, name: str, value: float, threshold: float | None = None, *, note: str = ""
) -> Evidence:
    """One comparison about a hyperparameter, under the key that the user writes."""
    setting = patient.run.config.settings.get(name)
    return Evidence(name, setting.native_key if setting is not None else name, value, threshold, note=note)
