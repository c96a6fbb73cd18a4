"""Broken and healthy environments that were written after the last change of the checks, and examined once."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import wrappers

from bench.environments.case import Case
from bench.environments.healthy import adapted
from bench.environments.unseen import Done, Ends, LateSight, Reward, Seen, Units, _gym


class Told(gymnasium.Wrapper):  # type: ignore[misc]
    """What step returns, changed as a whole."""

    def __init__(self, environment: Any, change: Any) -> None:
        super().__init__(environment)
        self._change = change

    def step(self, action: Any) -> Any:
        return self._change(*self.env.step(action))


class KeepsTurning(gymnasium.Wrapper):  # type: ignore[misc]
    """Acrobot whose reset leaves the speeds of the last episode."""

    def reset(self, **options: Any) -> Any:
        before = getattr(self.env.unwrapped, "state", None)
        observation, info = self.env.reset(**options)
        if before is not None:
            self.env.unwrapped.state[2:] = before[2:]
            observation = np.append(observation[:4], before[2:]).astype(np.float32)
        return observation, info


class Heavier(gymnasium.Wrapper):  # type: ignore[misc]
    """The pole of CartPole gains a twentieth of its mass with every episode."""

    def reset(self, **options: Any) -> Any:
        inner = self.env.unwrapped
        inner.masspole *= 1.05
        inner.total_mass = inner.masspole + inner.masscart
        inner.polemass_length = inner.masspole * inner.length
        return self.env.reset(**options)


class PaysInRounds(gymnasium.Wrapper):  # type: ignore[misc]
    """What ten steps earn is paid at the tenth."""

    def reset(self, **options: Any) -> Any:
        self._owed, self._time = 0.0, 0
        return self.env.reset(**options)

    def step(self, action: Any) -> Any:
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._owed += float(reward)
        self._time += 1
        paid = self._owed if self._time % 10 == 0 or terminated or truncated else 0.0
        self._owed -= paid
        return observation, paid, terminated, truncated, info


class Loud(gymnasium.Wrapper):  # type: ignore[misc]
    """A measurement of the reward with much noise."""

    def step(self, action: Any) -> Any:
        observation, reward, *rest = self.env.step(action)
        return observation, float(reward) + float(self.np_random.normal(0.0, 60.0)), *rest


class Raises(gymnasium.Wrapper):  # type: ignore[misc]
    """The map has no entry for some places."""

    def step(self, action: Any) -> Any:
        found = self.env.step(action)
        if int(found[0]) == 14:
            raise IndexError("list index out of range")
        return found


class SameSeeds(gymnasium.vector.SyncVectorEnv):  # type: ignore[misc]
    """All copies get one seed."""

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        one = int(np.random.default_rng().integers(1 << 30)) if seed is None else seed
        return super().reset(seed=[one] * self.num_envs, options=options)


class BitFlip(gymnasium.Env):  # type: ignore[type-arg]
    """A goal of six bits that are turned one by one; paid as goal environments do."""

    observation_space = gymnasium.spaces.Dict(
        {name: gymnasium.spaces.MultiBinary(6) for name in ("observation", "achieved_goal", "desired_goal")}
    )
    action_space = gymnasium.spaces.Discrete(6)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self._bits, self._goal = (self.np_random.integers(0, 2, 6).astype(np.int8) for _ in range(2))
        self._time = 0
        return self._seen(), {}

    def step(self, action: Any) -> Any:
        self._bits[int(action)] ^= 1
        self._time += 1
        reached = bool((self._bits == self._goal).all())
        return self._seen(), 0.0 if reached else -1.0, reached, self._time >= 12, {"is_success": reached}

    def _seen(self) -> Any:
        bits = self._bits.copy()
        return {"observation": bits, "achieved_goal": bits.copy(), "desired_goal": self._goal.copy()}


class Maze(gymnasium.Env):  # type: ignore[type-arg]
    """A way out of a small field with a wall; every step costs."""

    observation_space = gymnasium.spaces.Discrete(36)
    action_space = gymnasium.spaces.Discrete(4)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self._at = [int(self.np_random.integers(6)), 0]
        self._time = 0
        return self._seen(), {}

    def step(self, action: Any) -> Any:
        side, up = ((0, 1), (0, -1), (1, 0), (-1, 0))[int(action)]
        to = [min(max(self._at[0] + side, 0), 5), min(max(self._at[1] + up, 0), 5)]
        self._at = self._at if to[1] == 3 and to[0] != 2 else to
        self._time += 1
        return self._seen(), -0.1, self._at == [5, 5], self._time >= 400, {}

    def _seen(self) -> int:
        return self._at[0] * 6 + self._at[1]


class Store(gymnasium.Env):  # type: ignore[type-arg]
    """Order goods for a demand that is not known: noise is part of the task."""

    observation_space = gymnasium.spaces.Box(0.0, 60.0, (2,), np.float32)
    action_space = gymnasium.spaces.MultiDiscrete([5, 3])

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self._goods, self._day = float(self.np_random.integers(5, 15)), 0
        return self._seen(), {}

    def step(self, action: Any) -> Any:
        ordered, price = 4.0 * int(action[0]), 1.0 + 0.5 * int(action[1])
        demand = float(self.np_random.poisson(10.0 / price))
        sold = min(self._goods + ordered, demand)
        self._goods = min(self._goods + ordered - sold, 60.0)
        self._day += 1
        reward = price * sold - 0.6 * ordered - 0.05 * self._goods
        return self._seen(), reward, False, self._day >= 60, {}

    def _seen(self) -> Any:
        return np.array([self._goods, float(self._day % 7)], np.float32)


def _minigrid(name: str) -> Any:
    import minigrid  # noqa: F401 - registers its environments

    return _gym(name)


def _flat(environment: Any) -> Any:
    from minigrid.wrappers import FlatObsWrapper

    return FlatObsWrapper(environment)


def _parallel(module: str, **options: Any) -> Any:
    from importlib import import_module

    return adapted(import_module(f"mpe2.{module}").parallel_env(**options))


def _atari() -> Any:
    import ale_py

    gymnasium.register_envs(ale_py)
    return wrappers.FrameStackObservation(_gym("ALE/Breakout-v5", obs_type="grayscale"), 4)


def _usual_stack() -> Any:
    """As CleanRL wraps continuous control."""
    environment = wrappers.ClipAction(wrappers.RecordEpisodeStatistics(_gym("HalfCheetah-v5")))
    seen = wrappers.NormalizeObservation(environment)
    clipped = wrappers.TransformObservation(seen, lambda found: np.clip(found, -10, 10), seen.observation_space)
    paid = wrappers.NormalizeReward(clipped, gamma=0.99)
    return wrappers.TransformReward(paid, lambda reward: float(np.clip(reward, -10, 10)))


def _vec_stack() -> Any:
    from stable_baselines3.common.vec_env import DummyVecEnv, VecFrameStack, VecNormalize

    return adapted(VecFrameStack(VecNormalize(DummyVecEnv([lambda: _gym("LunarLander-v3")] * 2)), 3))


def _masked(seen: Any, rng: Any) -> Any:
    seen[5:] = 0.0
    return seen


def _blown(seen: Any, rng: Any) -> Any:
    if seen[3] < -1.2:
        seen[0] = np.nan
    return seen


def _lives_on(observation: Any, reward: Any, terminated: Any, truncated: Any, info: Any) -> Any:
    """Time pays, the goal does not."""
    return observation, 0.0 if terminated else 0.1, terminated, truncated, {**info, "is_success": terminated}


def _cut_at_goal(observation: Any, reward: Any, terminated: Any, truncated: Any, info: Any) -> Any:
    return observation, reward, False, terminated or truncated, info


UNSTABLE, REWARD = ("physics-unstable", "numerical-failure"), ("reward-hacking", "reward-favours-staying")
SIGHT = ("observation-corrupted", "observation-insufficient")

CASES = (
    *(
        Case(name, make, accepted, "fresh")
        for name, make, accepted in (
            ("bipedal-third-of-range", lambda: Done(_gym("BipedalWalker-v3"), lambda action: np.clip(action, -0.3, 0.3)), ("action-space-unnormalised",)),
            ("halfcheetah-limit-as-end", lambda: Ends(_gym("HalfCheetah-v5"), 150), ("truncation-as-termination",)),
            ("minigrid-time-pays", lambda: Told(_minigrid("MiniGrid-Empty-5x5-v0"), _lives_on), (*REWARD, "reward-sign-wrong")),
            ("lunarlander-blown", lambda: Seen(_gym("LunarLander-v3"), _blown), UNSTABLE),
            ("pusher-costly-control", lambda: _gym("Pusher-v5", reward_control_weight=1000.0), ("reward-component-dominates",)),
            ("acrobot-keeps-turning", lambda: KeepsTurning(_gym("Acrobot-v1")), ("reset-broken",)),
            ("vector-same-seeds", lambda: adapted(SameSeeds([lambda: _gym("Pendulum-v1")] * 3)), ("environments-correlated", "reset-broken")),
            ("reacher-late-sight", lambda: LateSight(_gym("Reacher-v5"), 2), SIGHT),
            ("walker-twice-normalised", lambda: wrappers.NormalizeReward(wrappers.NormalizeReward(_gym("Walker2d-v5"))), ("normaliser-statistics-wrong",)),
            ("lunarlander-loud", lambda: Loud(_gym("LunarLander-v3")), ("noisy-reward",)),
            ("swimmer-mixed-units", lambda: Units(_gym("Swimmer-v5"), [1.0, 1.0, 1.0, *[1e4] * 5]), ("observations-unnormalised",)),
            ("doorkey-turns-only", lambda: Done(_minigrid("MiniGrid-DoorKey-5x5-v0"), lambda action: 0), ("action-without-effect",)),
            ("particle-no-end", lambda: _parallel("simple_v3", max_cycles=10**9), ("episode-never-ends",)),
            ("hopper-no-speeds", lambda: Seen(_gym("Hopper-v5"), _masked), ("observation-insufficient", "observation-dead")),
            ("pendulum-pays-in-rounds", lambda: PaysInRounds(_gym("Pendulum-v1")), ("noisy-reward", "sparse-reward", "uninformative-reward")),
            ("cartpole-heavier", lambda: Heavier(_gym("CartPole-v1")), ("nonstationary-task", "reset-broken")),
            ("minigrid-goal-as-limit", lambda: Told(_minigrid("MiniGrid-Empty-5x5-v0"), _cut_at_goal), ("termination-as-truncation",)),
            ("lunarlander-hundred-thousandth", lambda: Reward(_gym("LunarLander-v3"), lambda reward: 1e-5 * reward), ("reward-scale-too-small",)),
            ("cliffwalking-raises", lambda: Raises(_gym("CliffWalking-v1")), ("exception",)),
            ("hopper-clipped", lambda: Reward(_gym("Hopper-v5"), lambda reward: np.clip(reward, -0.1, 0.1)), ("reward-clipped",)),
            ("double-pendulum-deaf", lambda: Done(_gym("InvertedDoublePendulum-v5"), np.zeros_like), ("action-without-effect",)),
            ("mountaincar-blind", lambda: Seen(_gym("MountainCar-v0"), lambda seen, rng: np.zeros_like(seen)), ("observation-dead",)),
        )
    ),
    *(
        Case(name, make, (), "fresh healthy")
        for name, make in (
            ("halfcheetah-usual-stack", _usual_stack),
            ("doorkey-flat", lambda: _flat(_minigrid("MiniGrid-DoorKey-5x5-v0"))),
            ("lavagap", lambda: _minigrid("MiniGrid-LavaGapS5-v0")),
            ("breakout-stacked", _atari),
            ("cartpole-frames", lambda: wrappers.FrameStackObservation(_gym("CartPole-v1"), 4)),
            ("acrobot-time-aware", lambda: wrappers.TimeAwareObservation(_gym("Acrobot-v1"))),
            ("pendulum-rescaled", lambda: wrappers.RescaleAction(_gym("Pendulum-v1"), np.float32(-1.0), np.float32(1.0))),
            ("particle-spread", lambda: _parallel("simple_spread_v3", max_cycles=25)),
            ("bitflip", BitFlip),
            ("maze", Maze),
            ("lander-vector-stack", _vec_stack),
            ("taxi-vector", lambda: adapted(gymnasium.make_vec("Taxi-v4", 3))),
            ("store", Store),
        )
    ),
)  # fmt: skip
