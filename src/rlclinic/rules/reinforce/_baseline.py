"""Whether a run is REINFORCE, and whether it subtracts a baseline."""

from __future__ import annotations

from rlclinic.rules.patient import Patient

ALGORITHMS = frozenset({"REINFORCE", "VPG"})
# What only a learned baseline logs.
TRACES = ("value_loss", "explained_variance", "value/mean")
# Parts of the user's keys that set one, and values that mean none.
KEYS = ("baseline", "critic", "vf_", "value_", "normalize_return", "normalize_advantage", "policy_targets")
NONE = frozenset({"", "none", "off", "false", "0", "0.0", "null", "returns"})


def is_reinforce(patient: Patient) -> bool:
    """Told by the algorithm."""
    return patient.run.algorithm.upper() in ALGORITHMS


def baseline_of(patient: Patient) -> str:
    """What takes the mean out of the returns, in words; empty where nothing is seen."""
    for name in TRACES:
        if name in patient.run:
            return f"{patient.run.series[name].logged_as} is logged"
    config = patient.run.config
    for key, setting in {**config.native, **config.settings}.items():
        if any(part in key.lower() for part in KEYS) and str(setting.value).strip().lower() not in NONE:
            return f"{setting.native_key} = {setting.value}"
    return ""
