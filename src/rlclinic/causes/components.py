"""Which component of the trainer the evidence for a bug points to, how to reproduce it, and where to look."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from rlclinic.causes.weights import weights
from rlclinic.model.diagnosis import Suspect
from rlclinic.model.finding import Finding, Severity
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.run import Run
from rlclinic.model.vocabulary import families_of
from rlclinic.reference.algorithms import TRAINED
from rlclinic.reference.table_file import load_table

# Code of one side, as the names of files and classes tell it.
ON_POLICY = re.compile(
    r"RolloutBuffer|rollout_storage|on_policy|ActorCriticPolicy|GAE|gae|[Aa]dvantage|nextnonterminal"
)
OFF_POLICY = re.compile(r"ReplayBuffer|off_policy|polyak|SoftUpdate|HardUpdate|td_target|target_network|target_param")
PROBE = re.compile(r"P\d+|S0")
# Frameworks whose trainers `rlclinic probe` drives by their name, the lab's own among them.
ADAPTERS = {"sb3": "sb3", "sb3-zoo": "sb3", "rlclinic": "sb3", "torchrl": "torchrl"}


@dataclass(frozen=True, slots=True)
class Component:
    """One part of a trainer."""

    id: str
    title: str
    meaning: str
    probe: str
    config: Mapping[str, str]
    signs: Mapping[str, float]
    only: str = ""
    """Which side has it, `on` or `off` policy; empty where both do."""


@cache
def components() -> tuple[Component, ...]:
    """All components."""
    return tuple(Component(id=name, **raw) for name, raw in _table("components.toml")["component"].items())


@cache
def code_places() -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """Places in the code, by framework and component."""
    known = {component.id for component in components()}
    table = _table("code_places.toml")["framework"]
    for framework, places in table.items():
        if not set(places) <= known:
            raise ValueError(f"code_places.toml: {framework} has components that components.toml does not list")
    return {framework: {name: tuple(lines) for name, lines in places.items()} for framework, places in table.items()}


def suspect_of(run: Run, findings: Sequence[Finding]) -> Suspect | None:
    """The component with the most evidence; None where too little points to any."""
    seen = {finding.name: finding for finding in findings if finding.severity is not Severity.INFO}
    scored = [(_weight(component, seen), component) for component in components() if _has(run.algorithm, component)]
    weight, component = max(scored, key=lambda pair: pair[0])
    if weight < _table("components.toml")["least"]:
        return None
    return suspect_for(run, component.id, tuple(seen[name].code for name in component.signs if name in seen))


def suspect_for(run: Run, name: str, reasons: tuple[str, ...] = ()) -> Suspect:
    """A component as a suspect: how to reproduce the bug, and where the framework computes it for this algorithm."""
    component = next(item for item in components() if item.id == name)
    probe = PROBE.match(component.probe)
    only = f" --only {probe.group()} --first-seed 0" if probe else ""
    return Suspect(
        component.title,
        component.meaning,
        reasons,
        f"rlclinic probe {trainer_of(run)}{only}",
        component.probe,
        tuple(component.config.items()),
        _places(run, component),
    )


def _weight(component: Component, seen: Mapping[str, Finding]) -> float:
    return sum(weight * seen[name].confidence for name, weight in component.signs.items() if name in seen)


def trainer_of(run: Run) -> str:
    """How `rlclinic probe` names the trainer of a run."""
    adapter = ADAPTERS.get(run.framework)
    if run.framework == "rlclinic":
        # The lab trains with the library that has the algorithm; not every one of those can be probed.
        library = next((name for name, algorithms in TRAINED.items() if run.algorithm in algorithms), adapter)
        adapter = library if library in ADAPTERS.values() else None
    return shlex.quote(f"{adapter}:{run.algorithm}") if adapter and run.algorithm else "your.module:make_trainer"


def is_stock(framework: str) -> bool:
    """Whether a framework brings its own trainers, so that no code of the user's is to be looked through."""
    return framework in weights().stock or framework in ADAPTERS


def _places(run: Run, component: Component) -> tuple[str, ...]:
    """The places of the algorithm at hand: TD3 has no rollout buffer, and PPO no target network."""
    known = code_places().get(run.framework, {}).get(component.id, ())
    return tuple(place for place in known if _is_of(run.algorithm, place))


def _is_of(algorithm: str, place: str) -> bool:
    words = set(re.findall(r"[A-Za-z0-9]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", place).replace("_", " ").lower()))
    # `PPO.train` and `ppo_torch_learner.py` are PPO's; what names no algorithm is everybody's.
    words |= set(re.findall(r"[a-z0-9]+", place.replace("_", " ").lower()))
    names = words.intersection(_table("code_places.toml")["algorithms"])
    if names and algorithm.lower() not in names:
        return False
    side = _side(algorithm)
    return not (side == "off" and ON_POLICY.search(place)) and not (side == "on" and OFF_POLICY.search(place))


def _has(algorithm: str, component: Component) -> bool:
    """Whether an algorithm has a component at all."""
    return not component.only or _side(algorithm) in ("", component.only)


def _side(algorithm: str) -> str:
    families = families_of(algorithm)
    if families & {"ppo", "actor-critic"}:
        return "on"
    return "off" if families & {"q-learning", "continuous-q"} else ""


@cache
def _table(name: str) -> dict[str, Any]:
    return load_table(Path(__file__).with_name(name))
