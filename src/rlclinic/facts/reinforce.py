"""Whether a run is REINFORCE, and whether it subtracts a baseline."""

from __future__ import annotations

from rlclinic.facts.run_facts import RunFacts

ALGORITHMS = frozenset({"REINFORCE", "VPG"})
# What only a learned baseline logs.
TRACES = ("value_loss", "explained_variance", "value/mean")
# Parts of the user's keys that set one, and values that mean none.
KEYS = ("baseline", "critic", "vf_", "value_", "normalize_return", "normalize_advantage", "policy_targets")
# Those of a learned one, which say nothing where it is switched off.
LEARNED = ("critic", "vf_", "value_")
NONE = frozenset({"", "none", "off", "false", "0", "0.0", "null", "returns"})


def is_reinforce(facts: RunFacts) -> bool:
    """Told by the algorithm."""
    return facts.run.algorithm.upper() in ALGORITHMS


def baseline_of(facts: RunFacts) -> str:
    """What takes the mean out of the returns, in words; empty where nothing is seen."""
    config = facts.run.config
    both = {**config.native, **config.settings}
    # The versions of libraries are no settings, whatever their names (stable-baselines3).
    settings = {key.lower(): setting for key, setting in both.items() if "version" not in key.lower()}
    off = any(key.endswith("baseline") and _means_none(setting.value) for key, setting in settings.items())
    for name in TRACES:
        series = facts.series(name)
        # A placeholder of zeros is no trace: a baseline that is trained moves.
        if series is not None and not off and series.values.any():
            return f"{series.logged_as} is logged"
    for key, setting in settings.items():
        named = any(part in key for part in KEYS) and not (off and any(part in key for part in LEARNED))
        if named and not _means_none(setting.value):
            return f"{setting.native_key} = {setting.value}"
    return ""


def _means_none(value: object) -> bool:
    return str(value).strip().lower() in NONE
