"""Builds small runs for tests of rules whose case no training makes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from rlclinic.model.config import Config, Setting
from rlclinic.model.run import Episodes, Run, RunStatus, Status
from rlclinic.model.series import Series, StepAxis
from rlclinic.model.vocabulary import metric
from rlclinic.rules.patient import Patient


def make_run(
    *,
    algorithm: str = "PPO",
    framework: str = "sb3",
    environment: str = "",
    series: Mapping[str, ArrayLike | Series] | None = None,
    config: Mapping[str, object] | None = None,
    defaults: Sequence[str] = (),
    steps: float = 100_000,
    budget: float | None = None,
    threshold: float | None = None,
    axis: StepAxis = "env_steps",
    status: Status = Status.FINISHED,
    episodes: Episodes | None = None,
) -> Run:
    """A run of `steps` steps. Values are spread evenly over them; a Series is taken as it is."""
    made = {name: _series(name, values, steps, axis) for name, values in (series or {}).items()}
    settings = {
        key: Setting(key=key, value=value, native_key=key, is_default=key in defaults)
        for key, value in (config or {}).items()
    }
    return Run(
        id="made",
        path="made",
        framework=framework,
        algorithm=algorithm,
        environment=environment,
        status=RunStatus(status),
        step_axis=axis,
        steps=steps,
        budget=budget,
        threshold=threshold,
        config=Config(settings=settings, native=settings),
        series=made,
        episodes=episodes,
    )


def make_patient(**fields: object) -> Patient:
    """The same as a patient."""
    return Patient(make_run(**fields))  # type: ignore[arg-type]


def flat(level: float = 20.0, points: int = 60, noise: float = 0.02, seed: int = 0) -> np.ndarray:
    """A curve that goes nowhere; `noise` is a share of its level."""
    return level * (1.0 + noise * np.random.default_rng(seed).standard_normal(points))


def rising(start: float = 20.0, end: float = 200.0, points: int = 60, seed: int = 0) -> np.ndarray:
    """A curve that climbs evenly with a little noise."""
    wobble = 0.02 * abs(end - start) * np.random.default_rng(seed).standard_normal(points)
    return np.linspace(start, end, points) + wobble


def _series(name: str, values: ArrayLike | Series, steps: float, axis: StepAxis) -> Series:
    if isinstance(values, Series):
        return values
    array = np.asarray(values, dtype=np.float64)
    at = np.linspace(steps / max(array.size, 1), steps, array.size)
    return Series(name=name, logged_as=f"log/{name}", steps=at, values=array, axis=axis, known=metric(name) is not None)
