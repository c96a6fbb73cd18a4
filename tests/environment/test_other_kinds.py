"""Environments of other libraries and of the old API, each played for real."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from rlclinic.engine import examine
from rlclinic.environment.measure import Wanted, measure
from rlclinic.environment.other_kinds import as_gymnasium
from rlclinic.environment.play import StepFailed, play, recorder_of, step
from rlclinic.model.errors import UsageError
from tests.environment.tasks import Slide


class Parts(Slide):
    """Observations and actions of several parts."""

    observation_space = gymnasium.spaces.Dict({"at": Slide.observation_space, "time": gymnasium.spaces.Discrete(26)})
    action_space = gymnasium.spaces.Dict({"push": Slide.action_space, "look": gymnasium.spaces.MultiBinary(2)})

    def _force(self, action: Any) -> float:
        return super()._force(action["push"])

    def _seen(self) -> Any:
        return {"at": super()._seen(), "time": self.time}


class Old(Slide):
    """The API of the old Gym."""

    def reset(self) -> Any:  # type: ignore[override]
        return super().reset(seed=None)[0]

    def step(self, action: Any) -> Any:
        observation, reward, terminated, truncated, info = super().step(action)
        return observation, reward, terminated or truncated, {**info, "TimeLimit.truncated": truncated}


class Silent(Slide):
    """reset returns the observation alone."""

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        return super().reset(seed=seed)[0]


class Empty(Slide):
    """step returns no observation."""

    def step(self, action: Any) -> Any:
        return None, *super().step(action)[1:]


def _vec_env() -> Any:
    from stable_baselines3.common.vec_env import DummyVecEnv

    return DummyVecEnv([Slide, Slide])


def _parallel() -> Any:
    return pytest.importorskip("mpe2.simple_spread_v3").parallel_env(max_cycles=25)


def _torchrl(batch: int = 0, name: str = "Pendulum-v1", **options: Any) -> Any:
    envs = pytest.importorskip("torchrl.envs")
    if batch:
        return envs.SerialEnv(batch, lambda: envs.GymEnv(name, **options))
    return envs.GymEnv(name, **options)


KINDS: dict[str, Callable[[], Any]] = {
    "vector that resets next": lambda: SyncVectorEnv([Slide] * 3),
    "vector that resets at once": lambda: SyncVectorEnv([Slide] * 3, autoreset_mode=AutoresetMode.SAME_STEP),
    "vector that is reset": lambda: SyncVectorEnv([Slide] * 3, autoreset_mode=AutoresetMode.DISABLED),
    "vector of parts": lambda: SyncVectorEnv([Parts] * 2),
    "vec env": _vec_env,
    "parallel": _parallel,
    "torchrl": _torchrl,
    "torchrl of choices": lambda: _torchrl(name="CartPole-v1"),
    "torchrl of numbered choices": lambda: _torchrl(name="CartPole-v1", categorical_action_encoding=True),
    "torchrl batch": lambda: _torchrl(2),
    "old": Old,
    "parts": Parts,
}


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=[pytest.mark.slow] if "torchrl" in kind else []) for kind in KINDS]
)
def test_an_environment_of_another_kind_plays_as_one(kind: str) -> None:
    environment = as_gymnasium(KINDS[kind]())
    record, space = recorder_of(environment), environment.action_space
    space.seed(0)
    for seed in (1, 1, 2):
        space.seed(0)
        play(environment, lambda _: space.sample(), record, seed=seed, end=float("inf"), longest=30)
    steps = record.transitions()
    once, again, other = (steps.observations[steps.times == 0][place] for place in range(3))
    assert np.isfinite(steps.observations).all()
    assert not np.array_equal(once, other)
    if kind != "old":
        assert np.array_equal(once, again)
    if "torchrl" not in kind:
        assert [row[1] for row in record.episodes] == [25, 25, 25]
        assert not steps.terminated.any()
    environment.close()


class Alike(SyncVectorEnv):
    """All copies get one seed."""

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        seed = int(np.random.default_rng(seed).integers(1000)) if seed is None or isinstance(seed, int) else seed[0]
        return super().reset(seed=[seed] * self.num_envs, options=options)


class Swallows(SyncVectorEnv):
    """Resets at once and does not tell the last observation."""

    def step(self, actions: Any) -> Any:
        *found, infos = super().step(actions)
        return *found, {key: value for key, value in infos.items() if "final" not in key}


def test_copies_that_start_alike_are_told_from_copies_that_do_not() -> None:
    see = recorder_of(as_gymnasium(SyncVectorEnv([Slide] * 3))).see
    assert as_gymnasium(Alike([Slide] * 3)).starts_alike(see) == 1.0
    assert as_gymnasium(SyncVectorEnv([Slide] * 3)).starts_alike(see) == 0.0


def test_a_vector_that_swallows_last_observations_breaks_its_contract() -> None:
    environment = as_gymnasium(Swallows([Slide] * 2, autoreset_mode=AutoresetMode.SAME_STEP))
    play(environment, lambda _: np.zeros(1), recorder_of(environment), seed=0, end=float("inf"))
    assert "no final_obs" in environment.problems[0].message


def test_the_old_api_is_told_and_the_rest_is_examined(small: None) -> None:
    facts = measure(lambda: as_gymnasium(Old()), "old", Wanted(120.0), lambda *_: None)
    found = examine(facts)
    assert found.causes[0].id == "exception"
    assert "before Gymnasium 0.26" in found.reason
    assert facts.reward is not None


@pytest.mark.parametrize(
    ("kind", "cause", "word"),
    [(Silent, "exception", "where an observation and a dict"), (Empty, "observation-corrupted", "step returned")],
)
def test_what_nobody_can_go_on_with_is_a_finding(kind: type, cause: str, word: str) -> None:
    found = examine(measure(kind, "x", Wanted(9.0), lambda *_: None))
    assert found.causes[0].id == cause
    assert word in found.reason


def test_agents_that_act_by_turns_and_things_that_are_no_environment_are_refused() -> None:
    rps = pytest.importorskip("pettingzoo.classic.rps_v2")
    for thing in (rps.env(), object()):
        with pytest.raises(UsageError):
            as_gymnasium(thing)


def test_a_reward_that_is_no_number_is_told() -> None:
    class Odd(Slide):
        def _reward(self) -> Any:
            return None

    environment = Odd()
    environment.reset(seed=0)
    with pytest.raises(StepFailed, match="NoneType as the reward"):
        step(environment, np.zeros(1, np.float32))


def test_what_an_environment_raises_is_told_without_secrets() -> None:
    password = "-".join(("correct", "horse", "9"))

    class Remote(Slide):
        def _reward(self) -> float:
            raise ConnectionError(f"cannot reach https://ada:{password}@host with api_key={password}")

    environment = Remote()
    environment.reset(seed=0)
    with pytest.raises(StepFailed, match="cannot reach") as told:
        step(environment, np.zeros(1, np.float32))
    assert password not in str(told.value)
    assert password not in told.value.problem.message
