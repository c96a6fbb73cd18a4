"""A written change given to the framework's own parser; what that parser makes of it, as native settings.

Stable-Baselines3, Ray, tyro and Hydra are the real ones. gymnasium-solver, rl-zoo, rsl_rl, skrl and Spinning Up cannot
be installed beside them: their rules are restated here, on PyYAML and Python's own literals.
"""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import yaml

from rlclinic.reference.framework import framework
from tests.prescriptions.matrix.configs import Config
from tests.prescriptions.syntax.parsers import PARSERS, Values, flatten
from tests.prescriptions.syntax.test_frameworks import solver_errors

# Arguments that rl-zoo takes out of a section before the constructor sees it.
ZOO_OWN = {"n_timesteps", "n_envs", "normalize", "policy", "policy_kwargs", "noise_type", "noise_std", "frame_stack"}
# What PPO holds against each other.
ROLLOUT = ("n_steps", "batch_size")
# Arguments of RLlib's methods that are dicts.
DICTS = ("replay_buffer_config", "_model_config", "model")


def loaded(config: Config, native: Values, text: str) -> Values:
    """The native settings that the framework has after the change."""
    return {**native, **LOADERS[config.syntax](config, native, text)}


def _solver(config: Config, native: Values, text: str) -> Values:
    values = PARSERS[config.syntax](text)
    assert set(values) <= set(native), f"Config has no such fields: {text}"
    # What was wrong before may be the fault that is treated; the change must not add anything.
    assert not set(solver_errors({**native, **values})) - set(solver_errors(native)), text
    return _flat(values)


def _zoo(config: Config, native: Values, text: str) -> Values:
    values = PARSERS[config.syntax](text)
    arguments: Values = {}
    for key, value in values.items():
        if key.split(".")[0] in ZOO_OWN:
            continue
        if key in ("learning_rate", "clip_range", "clip_range_vf"):
            assert value is not None, "rl-zoo raises on a schedule that is neither text nor a number"
            rate = float(value.removeprefix("lin_")) if isinstance(value, str) else float(str(value))
            arguments[key] = rate if not isinstance(value, str) else (lambda left, rate=rate: left * rate)
        else:
            arguments[key] = value
    rollout = {key: native[key] for key in ROLLOUT if key in native and config.algorithm == "PPO"}
    env = _env(config.algorithm, _count(values.get("n_envs", native.get("n_envs"))))
    _sb3_class(config.algorithm)("MlpPolicy", env, _init_setup_model=False, **{**rollout, **arguments})
    wanted = values.get("normalize")
    if isinstance(wanted, dict):
        # The zoo takes the dict as the arguments of VecNormalize.
        return {**values, "normalize": True, **{f"normalize_kwargs.{key}": value for key, value in wanted.items()}}
    return values


def _sb3(config: Config, native: Values, text: str) -> Values:
    import gymnasium
    from stable_baselines3.common.vec_env import VecNormalize
    from torch import nn

    kind, env = _sb3_class(config.algorithm), _env(config.algorithm, _count(native.get("n_envs")))
    names = {kind.__name__: kind, "env": env, "nn": nn, "gymnasium": gymnasium, "VecNormalize": VecNormalize}
    values = PARSERS[config.syntax](text)
    for line in text.splitlines():
        if line.startswith(f"{kind.__name__}("):
            builds = "policy_kwargs" in line
            rollout = [f"{key}={native[key]}, " for key in ROLLOUT if key not in values and config.algorithm == "PPO"]
            first = f"('MlpPolicy', env, device='cpu', _init_setup_model={builds}, {''.join(rollout)}"
            call = line.replace("(..., ", first)
            model = eval(call, names)  # noqa: S307 - our own text, run as the user would
            for key, value in values.items():
                if key in ("gamma", "learning_rate", "n_steps", "batch_size", "ent_coef", "tau", "buffer_size"):
                    assert getattr(model, key) == value
        elif line.startswith("env = "):
            eval(line.removeprefix("env = "), names)  # noqa: S307
        else:
            assert line.startswith(("model.learn(", "make_vec_env(", "env = make_vec_env(")), line
    return {_dotted(key, values): value for key, value in values.items()}


def _dotted(key: str, values: Values) -> str:
    """Keyword arguments of the policy under the name that a zip gives them."""
    return f"policy_kwargs.{key}" if key in ("net_arch", "log_std_init", "optimizer_kwargs.eps") else key


def _cleanrl(config: Config, native: Values, text: str) -> Values:
    import tyro

    fields = [
        (key, float | None if value is None else type(value), dataclasses.field(default=value))
        for key, value in native.items()
        if value is None or isinstance(value, bool | int | float | str)
    ]
    found: Any = tyro.cli(dataclasses.make_dataclass("Args", fields), args=shlex.split(text))
    return dataclasses.asdict(found)


def _rllib(config: Config, native: Values, text: str) -> Values:
    pytest.importorskip("ray.rllib", exc_type=ImportError)
    from ray.rllib.algorithms.dqn import DQNConfig
    from ray.rllib.algorithms.ppo import PPOConfig
    from ray.rllib.algorithms.sac import SACConfig

    kind = {"PPO": PPOConfig, "SAC": SACConfig, "DQN": DQNConfig}[config.algorithm]
    made = kind().environment(config.environment)
    before = made.to_dict()
    for line in text.splitlines():
        eval(line, {"config": made})  # noqa: S307 - our own text, run as the user would
    made.validate()
    assert made.to_dict() != before or config.algorithm == "PPO", text
    values = {{"lambda_": "lambda"}.get(key, key): _held(made, key) for key in PARSERS[config.syntax](text)}
    if "epsilon" in values:
        (_, start), (steps, end) = made.epsilon
        names = ("initial_epsilon", "final_epsilon", "epsilon_timesteps")
        values.update({f"exploration_config.{name}": v for name, v in zip(names, (start, end, steps), strict=True)})
    return values


def _held(made: Any, key: str) -> object:
    """What the config object holds under a key of its methods."""
    parent, _, leaf = key.rpartition(".")
    if not parent and not hasattr(made, key):
        # The parser names arguments inside a dict by their last part.
        parent, leaf = next(name for name in DICTS if key in (getattr(made, name, None) or {})), key
    inside = {"model_config": "_model_config"}.get(parent, parent)
    return getattr(made, inside)[leaf] if parent else getattr(made, key)


def _hydra(config: Config, native: Values, text: str) -> Values:
    from hydra import compose, initialize_config_dir
    from omegaconf import OmegaConf

    with TemporaryDirectory() as folder:
        Path(folder, "config.yaml").write_text(yaml.safe_dump(_nested(native)), encoding="utf-8")
        with initialize_config_dir(folder, version_base=None):
            found = OmegaConf.to_container(compose("config", overrides=shlex.split(text)))
    return flatten(found)


def _yaml(config: Config, native: Values, text: str) -> Values:
    values = PARSERS[config.syntax](text)
    known = set(native) | set(framework(config.framework).hyperparameters)
    placed = {
        key if key in known or f"env.{key}" not in known else f"env.{key}": value for key, value in values.items()
    }
    assert set(placed) <= known, f"the runner would not read {set(placed) - known}"
    merged = yaml.safe_load(yaml.safe_dump(_nested({**native, **placed})))
    return flatten(merged)


def _spinup(config: Config, native: Values, text: str) -> Values:
    # spinup.run evaluates each value, and `ac_kwargs:hidden_sizes` is the argument inside the dict.
    values = PARSERS[config.syntax](text)
    assert set(values) <= set(native) | {"num_cpu", "cpu"}, f"the function has no such argument: {text}"
    return values


LOADERS: dict[str, Callable[[Config, Values, str], Values]] = {
    "gymnasium-solver-yaml": _solver,
    "gymnasium-solver-flags": _solver,
    "rl-zoo-yaml": _zoo,
    "rl-zoo-flags": _zoo,
    "sb3-python": _sb3,
    "cleanrl-flags": _cleanrl,
    "rllib-python": _rllib,
    "torchrl-overrides": _hydra,
    "hydra-overrides": _hydra,
    "rsl_rl-yaml": _yaml,
    "skrl-yaml": _yaml,
    "spinningup-flags": _spinup,
}


def _sb3_class(algorithm: str) -> Any:
    import stable_baselines3

    return getattr(stable_baselines3, algorithm)


@cache
def _env(algorithm: str, count: int) -> Any:
    from stable_baselines3.common.env_util import make_vec_env

    return make_vec_env("Pendulum-v1" if algorithm in ("SAC", "TD3") else "CartPole-v1", n_envs=count)


def _count(value: object) -> int:
    return value if isinstance(value, int) else 1


def _flat(values: Values) -> Values:
    """A schedule of gymnasium-solver under the keys that its record has."""
    rate = values.get("policy_lr")
    if not isinstance(rate, dict):
        return values
    return {**values, "policy_lr": rate["start"], "policy_lr_schedule_end_value": rate["end"]}


def _nested(native: Values) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for key, value in native.items():
        *parents, leaf = key.split(".")
        place = tree
        for parent in parents:
            place = place.setdefault(parent, {})
        place[leaf] = value
    return tree
