"""Runs for the rules on environments, configs and language models: constructed from curves, or recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from rlclinic.model.config import Config, Origin, Setting
from rlclinic.model.run import Episodes, Run, RunStatus, Status
from rlclinic.model.series import FloatArray, Series, StepAxis
from rlclinic.model.vocabulary import metric
from rlclinic.readers.open import read
from rlclinic.rules.patient import Patient

RUNS = Path(__file__).parents[1] / "fixtures" / "runs"

# Recorded runs that learn: no rule may say more than a note about them.
HEALTHY = (
    "sb3/ppo_cartpole",
    "sb3/ppo_cartpole_vec4",
    "sb3/ppo_cartpole_resumed",
    "sb3/dqn_cartpole",
    "sb3/a2c_cartpole",
    "faults/healthy_a2c_cartpole",
    "faults/healthy_dqn_cartpole",
    "faults/healthy_ppo_acrobot",
    "faults/healthy_sac_pendulum",
    "faults/solved_ppo_cartpole",
    "faults/unusual_ppo_cartpole",
    "cleanrl/ppo_cartpole",
    "cleanrl/dqn_cartpole",
    "torchrl/ppo_cartpole_csv",
    "rllib/ppo_cartpole",
    "rsl_rl/cartpole",
    "skrl/ppo_cartpole",
    "tianshou/dqn_cartpole",
    "sample_factory/train_dir/cartpole",
    "zoo/ppo_cartpole/logs",
    "zoo/old_encoding",
    "hydra/ppo_acrobot",
    "d3rlpy/cql_cartpole_offline",
    "d3rlpy/dqn_cartpole_online",
    "gymnasium_solver/runs/local-20260115-103000",
    "spinningup/ppo",
    "baselines/ppo2",
    "trackio/frozenlake.db",
    "wandb/finished",
    "trl/grpo_tiny",
    "trl/console_v0.17",
    "verl/grpo_v0.4",
    "verl/grpo_v0.5",
    "verl/ppo_v0.1",
    "verl/file_logger",
    "search_r1/grpo",
    "openrlhf/grpo",
    "nemo_rl/grpo",
    "slime/grpo",
    "prime_rl/grpo",
)

Values = Sequence[float] | FloatArray


def scene(
    *,
    algorithm: str = "PPO",
    environment: str = "",
    framework: str = "sb3",
    series: Mapping[str, Values] | None = None,
    config: Mapping[str, object] | None = None,
    native: Mapping[str, Setting] | None = None,
    budget: float | None = None,
    steps: float = 100_000.0,
    axis: StepAxis = "env_steps",
    episodes: tuple[Values, Values] | None = None,
    status: Status = Status.FINISHED,
    name: str = "constructed",
    details: Mapping[str, Mapping[str, Any]] | None = None,
) -> Patient:
    """A run whose series are spread evenly over `steps`; `details` sets further fields of single series.

    `config` holds canonical hyperparameters as the user set them; `episodes` holds returns and lengths.
    """
    built = {
        key: _series(key, np.asarray(values, dtype=np.float64), steps, axis, (details or {}).get(key, {}))
        for key, values in (series or {}).items()
    }
    settings = {key: Setting(key, value, key, Origin("config.yaml", 1)) for key, value in (config or {}).items()}
    run = Run(
        id=name,
        path=f"runs/{name}",
        framework=framework,
        algorithm=algorithm,
        environment=environment,
        status=RunStatus(status),
        step_axis=axis,
        steps=steps if built else 0.0,
        budget=budget,
        config=Config(settings, native if native is not None else settings),
        series=built,
        episodes=_episodes(episodes, steps) if episodes is not None else None,
    )
    return Patient(run)


@cache
def recorded(path: str) -> Patient:
    """The patient of a recorded run, by its path below fixtures/runs."""
    return Patient(read(RUNS / path))


def noisy(start: float, end: float, points: int = 60, noise: float = 0.02, seed: int = 0) -> FloatArray:
    """A straight course with scatter, as a share of the larger end."""
    scatter = np.random.default_rng(seed).normal(0.0, noise * max(abs(start), abs(end)), points)
    result: FloatArray = np.linspace(start, end, points) + scatter
    return result


def _series(name: str, values: FloatArray, steps: float, axis: StepAxis, more: Mapping[str, Any]) -> Series:
    at = np.linspace(steps / max(values.size, 1), steps, values.size)
    fields: dict[str, Any] = {"axis": axis, "known": metric(name) is not None, "steps": at, **more}
    return Series(name=name, logged_as=fields.pop("logged_as", name), values=values, **fields)


def _episodes(given: tuple[Values, Values], steps: float) -> Episodes:
    returns, lengths = (np.asarray(part, dtype=np.float64) for part in given)
    ends = np.linspace(steps / returns.size, steps, returns.size)
    return Episodes(returns, lengths, ends, ends / 1000.0)
