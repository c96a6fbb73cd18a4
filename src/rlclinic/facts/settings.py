"""Hyperparameters as rules use them: positive numbers, and evidence that names the user's own key."""

from __future__ import annotations

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Evidence


def positive(facts: RunFacts, name: str) -> float | None:
    """A canonical hyperparameter if it is a finite number above zero."""
    value = facts.setting(name)
    return value if value is not None and value > 0 else None


def setting_evidence(
    facts: RunFacts, name: str, value: float, threshold: float | None = None, *, note: str = ""
) -> Evidence:
    """One comparison about a hyperparameter, under the key that the user writes."""
    setting = facts.run.config.settings.get(name)
    return Evidence(name, setting.native_key if setting is not None else name, value, threshold, note=note)
