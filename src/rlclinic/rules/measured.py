"""The arithmetic of a finding about an environment, which has no series."""

from __future__ import annotations

from rlclinic.model.finding import Evidence


def measured(name: str, value: float, threshold: float | None = None, points: int = 0, note: str = "") -> Evidence:
    """One comparison of a number that was measured at the environment."""
    return Evidence(f"environment/{name.replace(' ', '-')}", name, float(value), threshold, None, int(points), note)
