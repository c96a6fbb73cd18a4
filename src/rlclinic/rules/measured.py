"""Findings about an environment: their arithmetic, which has no series, and how many of them chance would make."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from rlclinic.model.finding import Evidence, Severity
from rlclinic.rules.rule import RuleResult

LEVEL = 0.01
"""Probability that any check of a sound environment finds something by chance."""


def measured(name: str, value: float, threshold: float | None = None, points: int = 0, note: str = "") -> Evidence:
    """One comparison of a number that was measured at the environment."""
    return Evidence(f"environment/{name.replace(' ', '-')}", name, float(value), threshold, None, int(points), note)


def beyond_chance(found: Mapping[str, RuleResult], checks: int) -> dict[str, RuleResult]:
    """The results, those as notes that so many checks make by chance (Holm 1979)."""
    kept = dict(found)
    by_chance = sorted((result.chance, code) for code, result in found.items() if result.chance is not None)
    failed = False
    for place, (chance, code) in enumerate(by_chance):
        failed = failed or chance * (checks - place) > LEVEL
        if failed and found[code].severity is not Severity.INFO:
            told = f"{found[code].summary} (p = {chance:.2g}: one of {checks} checks may show it by chance)"
            kept[code] = replace(found[code], severity=Severity.INFO, confidence=0.2, summary=told)
    return kept
