"""The written changes, given to the frameworks themselves."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Iterator
from typing import Any

import pytest

from rlclinic.prescriptions.proposals.written import native_of
from rlclinic.prescriptions.syntax.sb3_names import CLASSES
from tests.prescriptions.made_runs import change, changes
from tests.prescriptions.matrix.own_parsers import parsed
from tests.prescriptions.syntax.cases import AFTER, BY_NAME, CASES, CLEANRL_PPO, SOLVER
from tests.prescriptions.syntax.parsers import PARSERS


def _texts(name: str) -> Iterator[tuple[str, str, str]]:
    """Every change that can be written for a run: key, dialect and text."""
    run = BY_NAME[name].run()
    for key, after in AFTER.items():
        native = native_of(run, [change(run, key, after)])
        if native is not None:
            yield key, native.format, native.text


# Building models takes seconds; these three cover the constructors' three shapes.
QUICK = ("sb3_ppo", "sb3_dqn", "sb3_sac")
SB3 = [
    pytest.param(case.name, marks=() if case.name in QUICK else pytest.mark.slow)
    for case in CASES
    if case.name.startswith("sb3_")
]


@pytest.mark.parametrize("name", SB3)
def test_stable_baselines3_takes_every_argument(name: str) -> None:
    import gymnasium
    import numpy as np
    import sb3_contrib
    import stable_baselines3 as sb3
    from stable_baselines3.common.env_util import make_vec_env
    from stable_baselines3.common.noise import NormalActionNoise
    from stable_baselines3.common.vec_env import VecFrameStack, VecNormalize
    from torch import nn

    case = BY_NAME[name]
    kind = getattr(sb3, case.algorithm, None) or getattr(sb3_contrib, CLASSES.get(case.algorithm, case.algorithm))
    env_id = "CartPole-v1" if case.algorithm in ("PPO", "A2C", "DQN", "QRDQN", "TRPO") else "Pendulum-v1"
    env = make_vec_env(env_id, n_envs=4)
    names = {
        kind.__name__: kind, "env": env, "nn": nn, "np": np, "gymnasium": gymnasium,
        "NormalActionNoise": NormalActionNoise, "VecNormalize": VecNormalize, "VecFrameStack": VecFrameStack,
    }  # fmt: skip
    built = 0
    for key, _, text in _texts(name):
        for line in text.splitlines():
            if line.startswith(f"{kind.__name__}("):
                # Networks are only built where an argument is theirs: that is what takes the time.
                builds = "policy_kwargs" in line
                call = line.replace("(..., ", f"('MlpPolicy', env, device='cpu', _init_setup_model={builds}, ")
                model = eval(call, names)  # noqa: S307 - our own text, run as the user would
                assert isinstance(model, kind), key
                built += 1
            elif line.startswith("env = "):
                eval(line.removeprefix("env = "), names)  # noqa: S307
                built += 1
    assert built >= 6


def test_a_falling_rate_of_stable_baselines3_falls() -> None:
    import stable_baselines3 as sb3

    run = BY_NAME["sb3_ppo"].run()
    native = native_of(
        run, changes(run, learning_rate=0.0003, learning_rate_schedule="linear", learning_rate_final=0.0001)
    )
    assert native is not None
    call = native.text.replace("(..., ", "('MlpPolicy', 'CartPole-v1', device='cpu', ")
    model = eval(call, {"PPO": sb3.PPO})  # noqa: S307
    assert [model.lr_schedule(left) for left in (1.0, 0.5, 0.0)] == pytest.approx([0.0003, 0.0002, 0.0001])


def solver_errors(config: dict[str, Any]) -> list[str]:
    """`Config.validate()` of gymnasium-solver, rule by rule."""
    rollout = config["n_envs"] * config["n_steps"]
    rates = config["policy_lr"] if isinstance(config["policy_lr"], dict) else {"start": config["policy_lr"]}
    rules = {
        "policy_lr": isinstance(rates["start"], float) and rates["start"] > 0,
        "ent_coef": config["ent_coef"] >= 0,
        "whole": all(isinstance(config[key], int) and config[key] > 0 for key in ("n_steps", "n_epochs", "batch_size")),
        "n_envs": isinstance(config["n_envs"], int) and config["n_envs"] > 0,
        "gamma": 0 <= config["gamma"] <= 1,
        "gae_lambda": 0 <= config["gae_lambda"] <= 1,
        "clip_range": 0 < config["clip_range"] < 1,
        "clip_range_vf": 0 < config["clip_range_vf"] < 1,
        "target_kl": config["target_kl"] is None or config["target_kl"] > 0,
        "vf_coef": config["vf_coef"] >= 0,
        "normalize_advantages": config["normalize_advantages"] in ("rollout", "batch", "off"),
        "normalize_obs": config["normalize_obs"] in (False, True, "rolling", "static"),
        "model_id": config["model_id"] in ("mlp_tiny", "mlp_small", "mlp_medium", "mlp_large"),
        "max_env_steps": isinstance(config["max_env_steps"], int) and config["max_env_steps"] > 0,
        "divides": rollout % config["batch_size"] == 0,
    }
    return [rule for rule, holds in rules.items() if not holds]


def test_gymnasium_solver_would_accept_every_config() -> None:
    assert solver_errors(dict(SOLVER)) == []
    written = list(_texts("solver"))
    assert len(written) >= 15
    for key, form, text in written:
        values = PARSERS[form](text)
        unknown = set(values) - set(SOLVER) - {"eval_episodes", "frame_stack"}
        assert not unknown, text
        errors = solver_errors({**SOLVER, **values})
        # A rollout that its batch does not divide is for the prescription to avoid, not for its spelling.
        assert set(errors) <= ({"divides"} if key in ("n_steps", "n_envs", "rollout_size") else set()), (text, errors)


def test_tyro_reads_the_flags_of_cleanrl() -> None:
    import tyro

    args = dataclasses.make_dataclass(
        "Args",
        [
            (key, float | None if value is None else type(value), dataclasses.field(default=value))
            for key, value in CLEANRL_PPO.items()
        ],
    )
    for key, form, text in _texts("cleanrl_ppo"):
        found = dataclasses.asdict(tyro.cli(args, args=shlex.split(text)))
        assert found == {**CLEANRL_PPO, **PARSERS[form](text)}, key


@pytest.mark.parametrize(("name", "environment"), [("rllib_ppo", "CartPole-v1"), ("rllib_sac", "Pendulum-v1")])
def test_rllib_takes_every_setting(name: str, environment: str) -> None:
    written = list(_texts(name))
    assert len(written) >= 10
    for key, _, text in written:
        assert parsed("rllib", algorithm=BY_NAME[name].algorithm, environment=environment, text=text), key


def test_hydra_parses_every_override() -> None:
    from hydra.core.override_parser.overrides_parser import OverridesParser

    parser = OverridesParser.create()
    for name in ("torchrl_ppo", "torchrl_sac", "hydra", "verl"):
        for key, form, text in _texts(name):
            parsed = parser.parse_overrides(shlex.split(text))
            assert {item.key_or_group: item.value() for item in parsed} == PARSERS[form](text), key


@pytest.mark.parametrize("name", ["zoo_ppo", "zoo_ppo_flags"])
def test_the_zoo_builds_a_model_from_every_change(name: str) -> None:
    case = BY_NAME[name]
    native = {**case.native, "batch_size": 32, "policy_kwargs": "dict(net_arch=[8])"}
    written = list(_texts(name))
    assert len(written) >= 10
    for key, form, text in written:
        assert parsed("zoo", algorithm="PPO", environment="CartPole-v1", native=native, text=text, syntax=form), key
