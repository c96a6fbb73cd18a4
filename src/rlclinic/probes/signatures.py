"""Readings that each fault leads to: solved by the oracle, kept in signatures.toml for the default gamma.

`python -m rlclinic.probes.signatures` writes the file anew.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TypeAlias

from rlclinic.probes.answers import estimator_of, predicted
from rlclinic.probes.definition import GAMMA, CannotJudge, Given, Query
from rlclinic.probes.estimator_faults import FAULTS, OF_REPLAYS, OF_ROLLOUTS
from rlclinic.probes.ladder import LADDER
from rlclinic.probes.oracle import changes_targets
from rlclinic.probes.settings import Family
from rlclinic.probes.world import World

FAMILIES: tuple[Family, ...] = ("on-policy", "off-policy")
USUAL_GAMMA = 0.99
"""The default that a trainer falls back to when it does not use the gamma it is given."""
NEGATED = "reward-negated"
Signatures: TypeAlias = Mapping[str, Mapping[str, Sequence[float]]]
"""Fault -> `CODE.case:query` -> the readings that it may lead to; none where a policy learns from targets that the
fault changes, which may mislead it or not. What is not listed reads right."""
LEARNED_FROM_TARGETS = ("q", "probability", "greedy", "return", "temperature")
"""Readings that no oracle solves, of what learns from the value targets."""


def signatures(family: Family, gamma: float) -> Signatures:
    """The readings of every fault that has numbers."""
    return _stored()[family] if gamma == GAMMA else _computed(family, gamma)


@cache
def _stored() -> Mapping[Family, Signatures]:
    text = resources.files("rlclinic.probes").joinpath("signatures.toml").read_text(encoding="utf-8")
    table: Mapping[Family, Signatures] = tomllib.loads(text)  # type: ignore[assignment]
    return table


@cache
def _computed(family: Family, gamma: float) -> Signatures:
    found: dict[str, dict[str, list[float]]] = {}
    for probe in LADDER:
        for case in probe.cases:
            if family not in case.budget:
                continue
            given = Given(case.gamma or gamma, family, case.world, case.settings(family))
            try:
                queries = case.questions(given)
            except CannotJudge:
                continue
            misleading = _misleading(given) if any(query.how in LEARNED_FROM_TARGETS for query in queries) else ()
            for query in queries:
                name = f"{probe.code}.{case.name}:{query.name}"
                for fault in misleading if query.how in LEARNED_FROM_TARGETS else ():
                    found.setdefault(fault, {})[name] = []
                for fault, readings in _named(query).items():
                    found.setdefault(fault, {})[name] = readings
                for fault, reading in _solved(given, query).items():
                    if abs(reading - query.truth) > 0.5 * query.tolerance:
                        found.setdefault(fault, {})[name] = [round(reading, 4)]
    return found


def _named(query: Query) -> dict[str, list[float]]:
    """The wrong answers of a query by fault."""
    found: dict[str, list[float]] = {}
    for wrong in query.wrong:
        found.setdefault(wrong.fault, []).append(round(wrong.value, 4))
    return found


def _solved(given: Given, query: Query) -> dict[str, float]:
    """The reading of one query under every fault of the oracle."""
    seen = given.world.observations
    stacked = any(place not in seen for _, place in query.terms)
    world, opposite = _under_a_policy(given.world, max), _under_a_policy(given.world, min)
    if query.how != "value" or stacked or world is None or opposite is None:
        return {}
    given = replace(given, world=world)
    found = {}
    for fault in _faults_of(given.family):
        # Who takes what costs for what pays does what costs most.
        here = replace(given, world=opposite) if fault == NEGATED else given
        values = dict(zip(seen, predicted(here, fault).tolist(), strict=True))
        found[fault] = sum(weight * values[place] for weight, place in query.terms) / query.unit
    other = Given(USUAL_GAMMA, given.family, given.world, given.settings)
    values = dict(zip(seen, predicted(other, None).tolist(), strict=True))
    found["gamma-ignored"] = sum(weight * values[place] for weight, place in query.terms) / query.unit
    return found


def _misleading(given: Given) -> tuple[str, ...]:
    """The faults that change a target of this case."""
    usual = estimator_of(given)
    found = [fault for fault in _faults_of(given.family) if changes_targets(given.world, usual, usual, FAULTS[fault])]
    if changes_targets(given.world, usual, replace(usual, gamma=USUAL_GAMMA)):
        found.append("gamma-ignored")
    return tuple(found)


def _faults_of(family: Family) -> tuple[str, ...]:
    foreign = OF_REPLAYS if family == "on-policy" else OF_ROLLOUTS
    return tuple(fault for fault in FAULTS if fault not in foreign)


def _under_a_policy(world: World, best: Callable[[Iterable[float]], float]) -> World | None:
    """The world with what the best action pays, or the worst; no action of the ladder changes where a state leads."""
    if not any(callable(state.pays) for state in world.states.values()):
        return world
    if world.actions.kind != "discrete":
        return None
    arms = range(world.actions.sizes[0])
    states = {
        name: replace(state, pays=best(state.pays(arm) for arm in arms)) if callable(state.pays) else state
        for name, state in world.states.items()
    }
    return replace(world, states=states)


def as_toml() -> str:
    """The file's text."""
    lines = [f"# Made by `python -m rlclinic.probes.signatures` from the oracle, for gamma {GAMMA:g}."]
    for family in FAMILIES:
        for fault, readings in sorted(_computed(family, GAMMA).items()):
            lines.append(f"\n[{family}.{fault}]")
            lines += [f'"{name}" = [{", ".join(map(str, values))}]' for name, values in readings.items()]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    (Path(__file__).parent / "signatures.toml").write_text(as_toml(), encoding="utf-8")
