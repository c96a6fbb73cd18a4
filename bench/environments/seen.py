"""Broken environments that were there while the checks were written."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from tests.fixtures.make.fault_envs import (
    BrokenSensor,
    DeafToActions,
    LouderReward,
    NanReward,
    RarePenalty,
    RestartInside,
    TruncatedEnds,
)

from bench.environments.case import Case
from bench.faults.environments.tank import Tank
from bench.faults.environments.wrappers import (
    ChangedReward,
    Drift,
    EarlyEnd,
    HiddenFeatures,
    LateReward,
    LimitAsEnd,
    NanObservation,
    OldObservation,
    StaleReset,
    StretchedActions,
)
from bench.repair.environments import Point, ScaledObservation, ScaledReward


class OnlySome(gymnasium.ObservationWrapper):  # type: ignore[misc]
    """Only some numbers of the observation are there."""

    def __init__(self, environment: Any, kept: list[int]) -> None:
        super().__init__(environment)
        space = environment.observation_space
        self._kept = kept
        self.observation_space = gymnasium.spaces.Box(space.low[kept], space.high[kept], dtype=space.dtype)

    def observation(self, observation: Any) -> Any:
        return observation[self._kept]


class ClippedReward(gymnasium.RewardWrapper):  # type: ignore[misc]
    """Rewards between two bounds."""

    def __init__(self, environment: Any, low: float, high: float) -> None:
        super().__init__(environment)
        self._low, self._high = low, high

    def reward(self, reward: Any) -> float:
        return float(np.clip(reward, self._low, self._high))


class AlwaysSeeded(gymnasium.Wrapper):  # type: ignore[misc]
    """reset without a seed takes always the same one."""

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        return self.env.reset(seed=7 if seed is None else seed, options=options)


def _gym(name: str) -> Any:
    return gymnasium.make(name, disable_env_checker=True)


def _bare(name: str) -> Any:
    return gymnasium.make(name, disable_env_checker=True).unwrapped


CASES = tuple(
    Case(name, make, accepted, "seen")
    for name, make, accepted in (
        ("cartpole-stale-reset", lambda: StaleReset(_gym("CartPole-v1")), ("reset-broken", "observation-corrupted")),
        ("pendulum-deaf", lambda: DeafToActions(_gym("Pendulum-v1"), 5), ("action-without-effect",)),
        ("acrobot-old-observation", lambda: OldObservation(_gym("Acrobot-v1"), chance=0.9, memory=8), ("observation-corrupted",)),
        ("cartpole-delayed", lambda: OldObservation(_gym("CartPole-v1"), delay=3), ("observation-corrupted", "observation-insufficient")),
        ("pendulum-random-observation", lambda: OldObservation(_gym("Pendulum-v1"), chance=1.0, memory=60), ("observation-corrupted",)),
        ("cartpole-noisy-observation", lambda: BrokenSensor(_gym("CartPole-v1"), {"after": 0, "std": 0.5}), ("observation-corrupted",)),
        ("cartpole-velocities-zero", lambda: HiddenFeatures(_gym("CartPole-v1"), [1, 3]), ("observation-insufficient", "observation-dead")),
        ("pendulum-no-velocity", lambda: OnlySome(_gym("Pendulum-v1"), [0, 1]), ("observation-insufficient",)),
        ("acrobot-thousandfold", lambda: ScaledObservation(_gym("Acrobot-v1"), 1000.0), ("observations-unnormalised",)),
        ("pendulum-thousandth", lambda: ScaledObservation(_gym("Pendulum-v1"), 0.001), ("observations-unnormalised",)),
        ("pendulum-far-actions", lambda: StretchedActions(_gym("Pendulum-v1"), 5.0, 35.0), ("action-space-unnormalised",)),
        ("cartpole-restarts-inside", lambda: RestartInside(_bare("CartPole-v1"), 200), ("episode-never-ends", "termination-as-truncation", "reset-broken")),
        ("acrobot-ends-early", lambda: EarlyEnd(_gym("Acrobot-v1"), 6), ("termination-too-early", "truncation-as-termination")),
        ("cartpole-limit-as-end", lambda: LimitAsEnd(_gym("CartPole-v1")), ("truncation-as-termination",)),
        ("pendulum-limit-as-end", lambda: LimitAsEnd(_gym("Pendulum-v1")), ("truncation-as-termination",)),
        ("cartpole-ends-as-limit", lambda: TruncatedEnds(_gym("CartPole-v1"), 0), ("termination-as-truncation",)),
        ("pendulum-never-ends", lambda: _bare("Pendulum-v1"), ("episode-never-ends",)),
        ("pendulum-nan", lambda: NanObservation(_gym("Pendulum-v1"), 300), ("physics-unstable", "numerical-failure")),
        ("point-drift", lambda: Drift(Point(), 400), ("nonstationary-task", "reset-broken")),
        ("tank-no-reward", lambda: ChangedReward(Tank(), factor=0.0), ("uninformative-reward", "sparse-reward")),
        ("tank-noisy-reward", lambda: LouderReward(Tank(), {"first": 8.0, "last": 8.0, "steps": 1}), ("noisy-reward",)),
        ("point-late-reward", lambda: LateReward(Point(), 10), ("noisy-reward", "uninformative-reward")),
        ("point-reward-at-end", lambda: LateReward(Point()), ("sparse-reward",)),
        ("frozenlake-action-pays", lambda: ChangedReward(_gym("FrozenLake-v1"), action_cost=-0.2), ("reward-hacking", "reward-component-dominates")),
        ("point-costly-actions", lambda: ChangedReward(Point(), action_cost=20.0), ("reward-component-dominates",)),
        ("cartpole-costly-steps", lambda: ChangedReward(_gym("CartPole-v1"), offset=-2.0), ("reward-favours-ending", "reward-sign-wrong")),
        ("pendulum-clipped", lambda: ClippedReward(_gym("Pendulum-v1"), -0.5, 0.5), ("reward-clipped",)),
        ("cartpole-rare-penalties", lambda: RarePenalty(_gym("CartPole-v1"), {"size": 1000.0, "chance": 0.004}), ("noisy-reward",)),
        ("acrobot-nan-reward", lambda: NanReward(_gym("Acrobot-v1"), 500), ("numerical-failure", "physics-unstable")),
        ("cartpole-huge-rewards", lambda: ScaledReward(_gym("CartPole-v1"), 10000.0), ("reward-scale-too-large",)),
        ("pendulum-tiny-rewards", lambda: ScaledReward(_gym("Pendulum-v1"), 1e-5), ("reward-scale-too-small",)),
        ("cartpole-one-start", lambda: AlwaysSeeded(_gym("CartPole-v1")), ("reset-broken", "environments-correlated")),
    )
)  # fmt: skip
