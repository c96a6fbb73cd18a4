"""A written change given to the framework's own parser; what that parser makes of it, as native settings.

Stable-Baselines3, rl-zoo3, Ray, skrl, rsl_rl, tyro and Hydra are the real ones. gymnasium-solver and Spinning Up cannot
be installed beside them: their rules are restated here, on PyYAML and Python's own literals.
"""

from __future__ import annotations

import argparse
import dataclasses
import shlex
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from tests.prescriptions.matrix.configs import Config
from tests.prescriptions.matrix.own_parsers import parsed
from tests.prescriptions.syntax.parsers import PARSERS, Values, flatten, nested
from tests.prescriptions.syntax.test_frameworks import solver_errors

# What PPO holds against each other.
ROLLOUT = ("n_steps", "batch_size")


def loaded(config: Config, native: Values, text: str) -> Values:
    """The native settings that the framework has after the change."""
    return {**native, **LOADERS[config.syntax](config, native, text)}


def _solver(config: Config, native: Values, text: str) -> Values:
    values = PARSERS[config.syntax](text)
    assert set(values) <= set(native), f"Config has no such fields: {text}"
    # What was wrong before may be the fault that is treated; the change must not add anything.
    assert not set(solver_errors({**native, **values})) - set(solver_errors(native)), text
    return _flat(values)


def _own_parser(framework: str) -> Callable[[Config, Values, str], Values]:
    def load(config: Config, native: Values, text: str) -> Values:
        return parsed(
            framework, algorithm=config.algorithm, environment=config.environment, native=native, text=text,
            syntax=config.syntax,
        )  # fmt: skip

    return load


def _zoo(config: Config, native: Values, text: str) -> Values:
    # The record is of the whole run: what it gives as a mapping is no expression any more.
    found = {"policy_kwargs": "", **_own_parser("zoo")(config, native, text)}
    # A plain `true` normalises both; only the parts of an expression name rewards.
    return {**found, "normalize.norm_reward": True} if found.get("normalize") is True else found


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
    # A number in place of a schedule.
    return {"learning_rate_schedule": None, **values} if "learning_rate" in values else values


def _cleanrl(config: Config, native: Values, text: str) -> Values:
    if config.algorithm == "PPO" and "num_iterations" not in native:
        return _cleanrl_argparse(native, text)
    import tyro

    fields = [
        (key, float | None if value is None else type(value), dataclasses.field(default=value))
        for key, value in native.items()
        if value is None or isinstance(value, bool | int | float | str)
    ]
    found: Any = tyro.cli(dataclasses.make_dataclass("Args", fields), args=shlex.split(text))
    return dataclasses.asdict(found)


def _cleanrl_argparse(native: Values, text: str) -> Values:
    """As the scripts of CleanRL 1.2 read their flags: `--clip-vloss False`."""
    parser = argparse.ArgumentParser()
    for key, value in native.items():
        flag = f"--{key.replace('_', '-')}"
        if isinstance(value, bool):
            words = {"True": True, "False": False}
            parser.add_argument(flag, type=words.__getitem__, default=value, nargs="?", const=True)
        else:
            parser.add_argument(flag, type=float if value is None else type(value), default=value)
    return vars(parser.parse_args(shlex.split(text)))


def _hydra(config: Config, native: Values, text: str) -> Values:
    from hydra import compose, initialize_config_dir
    from omegaconf import OmegaConf

    with TemporaryDirectory() as folder:
        Path(folder, "config.yaml").write_text(yaml.safe_dump(nested(native)), encoding="utf-8")
        with initialize_config_dir(folder, version_base=None):
            found = OmegaConf.to_container(compose("config", overrides=shlex.split(text)))
    return flatten(found)


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
    "rllib-python": _own_parser("rllib"),
    "torchrl-overrides": _hydra,
    "hydra-overrides": _hydra,
    "rsl_rl-yaml": _own_parser("rsl_rl"),
    "skrl-yaml": _own_parser("skrl"),
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
