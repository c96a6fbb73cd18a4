"""Healthy environments, among them odd but legal ones."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from tests.fixtures.make.fault_envs import Image

from bench.environments.case import Case
from bench.faults.environments.arm import Arm
from bench.faults.environments.courier import Courier
from bench.faults.environments.lander import Lander
from bench.faults.environments.stock import Stock
from bench.faults.environments.tank import Tank
from bench.repair.environments import Point, Rail, Room

IDS = (
    "CartPole-v1", "Acrobot-v1", "MountainCar-v0", "MountainCarContinuous-v0", "Pendulum-v1", "FrozenLake-v1",
    "FrozenLake8x8-v1", "Taxi-v4", "CliffWalking-v1", "Blackjack-v1", "LunarLander-v3", "LunarLanderContinuous-v3",
    "BipedalWalker-v3", "InvertedPendulum-v5", "InvertedDoublePendulum-v5", "Reacher-v5", "HalfCheetah-v5", "Hopper-v5",
    "Walker2d-v5", "Swimmer-v5", "Ant-v5", "Pusher-v5", "Humanoid-v5", "MiniGrid-Empty-5x5-v0",
    "MiniGrid-FourRooms-v0", "ALE/Pong-v5",
)  # fmt: skip
OWN = {
    "arm": Arm,
    "courier": Courier,
    "lander": Lander,
    "stock": Stock,
    "tank": Tank,
    "point": Point,
    "rail": Rail,
    "room": Room,
}


class Bandit(gymnasium.Env):  # type: ignore[type-arg]
    """One state, one step, three arms."""

    observation_space = gymnasium.spaces.Box(0.0, 1.0, (1,), np.float32)
    action_space = gymnasium.spaces.Discrete(3)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        return np.zeros(1, np.float32), {}

    def step(self, action: Any) -> Any:
        reward = float(self.np_random.normal((0.0, 0.5, 1.0)[int(action)], 0.5))
        return np.zeros(1, np.float32), reward, True, False, {}


class Switches(gymnasium.Env):  # type: ignore[type-arg]
    """Set four switches as they are shown: several choices at once, dict observation, a fixed time with a clock."""

    observation_space = gymnasium.spaces.Dict(
        {"wanted": gymnasium.spaces.MultiBinary(4), "time": gymnasium.spaces.Box(0.0, 1.0, (1,), np.float32)}
    )
    action_space = gymnasium.spaces.MultiDiscrete([2, 2, 2, 2])

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self._time = 0
        return self._seen(), {}

    def step(self, action: Any) -> Any:
        reward = float((np.asarray(action) == self._wanted).mean())
        self._time += 1
        return self._seen(), reward, self._time >= 25, False, {}

    def _seen(self) -> Any:
        self._wanted = self.np_random.integers(0, 2, 4).astype(np.int8)
        return {"wanted": self._wanted, "time": np.array([self._time / 25], np.float32)}


class LongCorridor(gymnasium.Env):  # type: ignore[type-arg]
    """Very long episodes without chance: walk right, slowly; paid for progress."""

    observation_space = gymnasium.spaces.Box(-1.0, 1.0, (2,), np.float32)
    action_space = gymnasium.spaces.Box(-1.0, 1.0, (1,), np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self._at, self._speed, self._time = 0.0, 0.0, 0
        return self._seen(), {}

    def step(self, action: Any) -> Any:
        self._speed = 0.9 * self._speed + 0.1 * float(np.clip(action[0], -1.0, 1.0))
        before, self._at = self._at, float(np.clip(self._at + 0.01 * self._speed, -1.0, 1.0))
        self._time += 1
        return self._seen(), 100.0 * (self._at - before), self._at >= 1.0, self._time >= 4000, {}

    def _seen(self) -> Any:
        return np.array([self._at, self._speed], np.float32)


def _named(name: str) -> Any:
    from rlclinic.environment.make import maker_of

    return maker_of(name)()


def adapted(environment: Any) -> Any:
    """An environment of another kind, as the examination takes it."""
    from rlclinic.environment.other_kinds import as_gymnasium

    return as_gymnasium(environment)


def _butterfly() -> Any:
    from mpe2 import simple_v3

    return adapted(simple_v3.parallel_env(max_cycles=25, continuous_actions=False))


CASES = (
    *(Case(name, lambda name=name: _named(name)) for name in IDS),
    *(Case(f"own-{name}", kind) for name, kind in OWN.items()),
    Case("bandit", Bandit),
    Case("switches", Switches),
    Case("long-corridor", LongCorridor),
    Case("cartpole-image", lambda: Image(gymnasium.make("CartPole-v1", disable_env_checker=True), 0)),
    Case("frozenlake-certain", lambda: gymnasium.make("FrozenLake-v1", is_slippery=False, disable_env_checker=True)),
    Case("pettingzoo-simple", _butterfly),
)  # fmt: skip
