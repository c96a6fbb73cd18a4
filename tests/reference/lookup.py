"""What a framework's table says of a logged name."""

from __future__ import annotations

from rlclinic.reference.framework import MetricName, framework, heads
from rlclinic.reference.patterns import matches


def entry(framework_id: str, name: str, algorithm: str = "PPO") -> tuple[MetricName, str] | None:
    """What a framework's table says of a logged name, and the canonical name that results."""
    found = framework(framework_id).metrics.find(name)
    if found is None:
        return None
    _, entries, captured = found
    for item in entries:
        if not item.algorithms or algorithm in item.algorithms:
            return item, item.name.replace("*", captured)
    return None


def canonical(framework_id: str, name: str, algorithm: str = "PPO") -> str | None:
    found = entry(framework_id, name, algorithm)
    return found[1] if found else None


def position(framework_id: str, name: str) -> int:
    table = framework(framework_id).metrics
    found = table.find(name)
    assert found is not None, name
    return table.position(found[0])


def detected(names: set[str]) -> str:
    """The framework that metric names alone give away."""
    for head in heads():
        for line in head.detect:
            wanted = [condition.partition(":") for condition in line]
            if all(kind == "metric" and any(matches(glob, name) for name in names) for kind, _, glob in wanted):
                return head.id
    return "unknown"
