"""Which component of the trainer the evidence for a bug points to, how to reproduce it, and where to look."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from rlclinic.model.diagnosis import Suspect
from rlclinic.model.finding import Finding, Severity
from rlclinic.model.run import Run

# Weight of evidence below which no component is named.
LEAST = 1.0
# Frameworks whose trainers `rlclinic probe` drives by their name.
ADAPTERS = {"sb3": "sb3", "sb3-zoo": "sb3", "torchrl": "torchrl"}


@dataclass(frozen=True, slots=True)
class Component:
    """One part of a trainer."""

    id: str
    title: str
    meaning: str
    probe: str
    config: Mapping[str, str]
    signs: Mapping[str, float]


@cache
def components() -> tuple[Component, ...]:
    """All components."""
    return tuple(Component(id=name, **raw) for name, raw in _table("components.toml").items())


@cache
def code_places() -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """Places in the code, by framework and component."""
    known = {component.id for component in components()}
    table = _table("code_places.toml")
    for framework, places in table.items():
        if not set(places) <= known:
            raise ValueError(f"code_places.toml: {framework} has components that components.toml does not list")
    return {framework: {name: tuple(lines) for name, lines in places.items()} for framework, places in table.items()}


def suspect_of(run: Run, findings: Sequence[Finding]) -> Suspect | None:
    """The component with the most evidence; None where too little points to any."""
    seen = {finding.name: finding for finding in findings if finding.severity is not Severity.INFO}
    scored = [(_weight(component, seen), component) for component in components()]
    weight, component = max(scored, key=lambda pair: pair[0])
    if weight < LEAST:
        return None
    return Suspect(
        component.title,
        component.meaning,
        tuple(seen[name].code for name in component.signs if name in seen),
        f"rlclinic probe {_trainer(run)}",
        component.probe,
        tuple(component.config.items()),
        _places(run.framework, component),
    )


def _weight(component: Component, seen: Mapping[str, Finding]) -> float:
    return sum(weight * seen[name].confidence for name, weight in component.signs.items() if name in seen)


def _trainer(run: Run) -> str:
    adapter = ADAPTERS.get(run.framework)
    return f"{adapter}:{run.algorithm}" if adapter and run.algorithm else "your_package.your_module:make_trainer"


def _places(framework: str, component: Component) -> tuple[str, ...]:
    return code_places().get(framework, {}).get(component.id, ())


def _table(name: str) -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath(name).read_text(encoding="utf-8"))
