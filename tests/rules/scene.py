"""Runs for the tests of rules: recorded ones by name, and scenes built from curves where no training makes the case."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.config import Config, Origin, Setting
from rlclinic.model.environment_facts import EnvironmentFacts, facts_of_json
from rlclinic.model.run import Episodes, Run, RunStatus, Status
from rlclinic.model.series import FloatArray, Series, StepAxis
from rlclinic.model.vocabulary import metric
from rlclinic.readers.open import read
from tests.conftest import RUNS

STEPS = 100_000.0
POINTS = 60
NOISE = 0.02  # share of the level
# Up to the best in the first half, and below the start by the end.
FELL: FloatArray = np.concatenate([np.linspace(20.0, 200.0, POINTS // 2), np.linspace(200.0, 15.0, POINTS // 2)])

Values = Sequence[float] | FloatArray


@cache
def recorded(name: str) -> RunFacts:
    """The run below `tests/fixtures/runs` that a pattern names; each is read once."""
    (path,) = RUNS.glob(name)
    return RunFacts(read(path))


def fault(name: str) -> RunFacts:
    """A run with a known fault."""
    return recorded(f"faults/{name}")


def scene(
    *,
    algorithm: str = "PPO",
    environment: str = "",
    framework: str = "sb3",
    series: Mapping[str, Values | Series] | None = None,
    config: Mapping[str, object] | None = None,
    defaults: Sequence[str] = (),
    native: Mapping[str, Setting] | None = None,
    shadowed: Mapping[str, object] | None = None,
    budget: float | None = None,
    threshold: float | None = None,
    steps: float | None = None,
    axis: StepAxis = "env_steps",
    episodes: Episodes | tuple[Values, Values] | None = None,
    status: Status = Status.FINISHED,
    name: str = "constructed",
    details: Mapping[str, Mapping[str, Any]] | None = None,
    measured: Mapping[str, Any] | None = None,
) -> RunFacts:
    """A run whose values are spread evenly over its steps; a Series is taken as it is.

    `config` holds canonical hyperparameters as the user set them, `defaults` names those that the framework filled in,
    `shadowed` what another file says about them; `episodes` holds returns and lengths; `details` sets
    further fields of single series. `measured` changes single facts of an examined healthy environment.
    """
    length = steps if steps is not None else STEPS if series else 0.0
    built = {
        key: _series(key, values, length, axis, (details or {}).get(key, {})) for key, values in (series or {}).items()
    }
    settings = {
        key: Setting(key, value, key, Origin("config.yaml", 1), is_default=key in defaults)
        for key, value in (config or {}).items()
    }
    hidden = tuple(Setting(key, value, key, Origin("args.yaml", 1)) for key, value in (shadowed or {}).items())
    return RunFacts(
        Run(
            id=name,
            path=f"runs/{name}",
            framework=framework,
            algorithm=algorithm,
            environment=environment,
            status=RunStatus(status),
            step_axis=axis,
            steps=length,
            budget=budget,
            threshold=threshold,
            config=Config(settings, native if native is not None else settings, shadowed=hidden),
            series=built,
            episodes=_episodes(episodes, length) if isinstance(episodes, tuple) else episodes,
            examined=None if measured is None else _environment(measured),
        )
    )


def line(start: float, end: float, points: int = POINTS, noise: float = NOISE, seed: int = 0) -> FloatArray:
    """A straight course with scatter, as a share of the larger end."""
    scatter = np.random.default_rng(seed).normal(0.0, noise * max(abs(start), abs(end)), points)
    course: FloatArray = np.linspace(start, end, points) + scatter
    return course


def flat(level: float = 20.0, points: int = POINTS, noise: float = NOISE, seed: int = 0) -> FloatArray:
    """A curve that goes nowhere."""
    return line(level, level, points, noise, seed)


def rising(start: float = 20.0, end: float = 200.0, points: int = POINTS, seed: int = 0) -> FloatArray:
    """A curve that climbs evenly with a little noise."""
    return line(start, end, points, seed=seed)


def around(level: float, spread: float, points: int = POINTS, seed: int = 1) -> FloatArray:
    """Scatter of a given size about a level."""
    values: FloatArray = level + spread * np.random.default_rng(seed).standard_normal(points)
    return values


def _series(name: str, values: Values | Series, steps: float, axis: StepAxis, more: Mapping[str, Any]) -> Series:
    if isinstance(values, Series):
        return values
    array = np.asarray(values, dtype=np.float64)
    at = np.linspace(steps / max(array.size, 1), steps, array.size)
    fields: dict[str, Any] = {"logged_as": f"log/{name}", "axis": axis, "known": metric(name) is not None, "steps": at}
    return Series(name=name, values=array, **{**fields, **more})


def _episodes(given: tuple[Values, Values], steps: float) -> Episodes:
    returns, lengths = (np.asarray(part, dtype=np.float64) for part in given)
    ends = np.linspace(steps / returns.size, steps, returns.size)
    return Episodes(returns, lengths, ends, ends / 1000.0)


def _environment(changes: Mapping[str, Any]) -> EnvironmentFacts:
    """The facts of the task Point (environment.json), with some of them changed."""
    facts: dict[str, Any] = json.loads(Path(__file__).with_name("environment.json").read_text(encoding="utf-8"))
    for section, values in changes.items():
        facts[section] = {**(facts.get(section) or {}), **values} if isinstance(values, Mapping) else values
    return facts_of_json(facts)
