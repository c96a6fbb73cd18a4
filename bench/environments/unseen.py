"""Broken environments that were written after the checks were frozen, with the causes that count as right."""

from __future__ import annotations

from collections import deque
from typing import Any

import gymnasium
import numpy as np

from bench.environments.case import Case
from bench.faults.environments.stock import Stock
from bench.repair.environments import Point, Rail, Room


def _gym(name: str, **options: Any) -> Any:
    return gymnasium.make(name, disable_env_checker=True, **options)


class Reward(gymnasium.RewardWrapper):  # type: ignore[misc]
    """Another reward."""

    def __init__(self, environment: Any, change: Any) -> None:
        super().__init__(environment)
        self._change = change

    def reward(self, reward: Any) -> float:
        return float(self._change(float(reward)))


class Seen(gymnasium.ObservationWrapper):  # type: ignore[misc]
    """Another observation in the same space."""

    def __init__(self, environment: Any, change: Any) -> None:
        super().__init__(environment)
        self._change = change

    def observation(self, observation: Any) -> Any:
        return self._change(np.array(observation), self.np_random)


class Done(gymnasium.ActionWrapper):  # type: ignore[misc]
    """Another action than was chosen."""

    def __init__(self, environment: Any, change: Any) -> None:
        super().__init__(environment)
        self._change = change

    def action(self, action: Any) -> Any:
        return self._change(np.array(action, copy=True))


class Units(gymnasium.ObservationWrapper):  # type: ignore[misc]
    """Each number in a unit of its own."""

    def __init__(self, environment: Any, factors: list[float]) -> None:
        super().__init__(environment)
        self._factors = np.array(factors, np.float32)
        inner = environment.observation_space
        self.observation_space = gymnasium.spaces.Box(inner.low * self._factors, inner.high * self._factors)

    def observation(self, observation: Any) -> Any:
        return (np.asarray(observation) * self._factors).astype(np.float32)


class MixedOrder(gymnasium.Wrapper):  # type: ignore[misc]
    """The numbers of the observation come in another order in every step, as from a set."""

    def reset(self, **options: Any) -> Any:
        observation, info = self.env.reset(**options)
        return self._mixed(observation), info

    def step(self, action: Any) -> Any:
        observation, *rest = self.env.step(action)
        return self._mixed(observation), *rest

    def _mixed(self, observation: Any) -> Any:
        return self.np_random.permutation(observation).astype(np.float32)


class LateSight(gymnasium.Wrapper):  # type: ignore[misc]
    """What is seen is some steps old."""

    def __init__(self, environment: Any, steps: int) -> None:
        super().__init__(environment)
        self._frames: deque[Any] = deque(maxlen=steps + 1)

    def reset(self, **options: Any) -> Any:
        observation, info = self.env.reset(**options)
        self._frames.clear()
        self._frames.append(observation)
        return observation, info

    def step(self, action: Any) -> Any:
        observation, *rest = self.env.step(action)
        self._frames.append(observation)
        return self._frames[0], *rest


class LatePay(gymnasium.Wrapper):  # type: ignore[misc]
    """Rewards come some steps later."""

    def __init__(self, environment: Any, steps: int) -> None:
        super().__init__(environment)
        self._steps = steps

    def reset(self, **options: Any) -> Any:
        self._owed = deque([0.0] * self._steps)
        return self.env.reset(**options)

    def step(self, action: Any) -> Any:
        observation, reward, *rest = self.env.step(action)
        self._owed.append(float(reward))
        return observation, self._owed.popleft(), *rest


class NoReset(gymnasium.Wrapper):  # type: ignore[misc]
    """After the first episode reset leaves the state where it is."""

    _used = False

    def reset(self, **options: Any) -> Any:
        if not self._used:
            self._used = True
            self._found = self.env.reset(**options)
            return self._found
        state = self.env.unwrapped.state
        _, info = self.env.reset(**options)
        self.env.unwrapped.state = state
        return np.array(state, np.float32), info


class OwnSeed(gymnasium.Wrapper):  # type: ignore[misc]
    """The first reset without a seed takes 42, so that all copies are one."""

    _seeded = False

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        if seed is None and not self._seeded:
            seed = 42
        self._seeded = True
        return self.env.reset(seed=seed, options=options)


class Weaker(gymnasium.Wrapper):  # type: ignore[misc]
    """Each episode the motors have less force than in the one before."""

    _force = 1.0

    def reset(self, **options: Any) -> Any:
        self._force *= 0.97
        return self.env.reset(**options)

    def step(self, action: Any) -> Any:
        return self.env.step((np.asarray(action) * self._force).astype(np.float32))


class Overflows(gymnasium.Wrapper):  # type: ignore[misc]
    """A number becomes infinite where the state is unusual."""

    def step(self, action: Any) -> Any:
        observation, *rest = self.env.step(action)
        changed = np.array(observation)
        if abs(changed[-1]) > 4.0:
            changed[-1] = np.inf
        return changed, *rest


class RaisesAt(gymnasium.Wrapper):  # type: ignore[misc]
    """One action raises in some states."""

    def step(self, action: Any) -> Any:
        observation, *rest = self.env.step(action)
        if int(action) == 5 and int(observation) % 7 == 0:
            raise KeyError("dropoff")
        return observation, *rest


class NanAtEnd(gymnasium.Wrapper):  # type: ignore[misc]
    """The last reward of an episode is 0 / 0."""

    def step(self, action: Any) -> Any:
        observation, reward, terminated, *rest = self.env.step(action)
        return observation, float("nan") if terminated else reward, terminated, *rest


class Column(gymnasium.ObservationWrapper):  # type: ignore[misc]
    """A column where the space has a vector."""

    def observation(self, observation: Any) -> Any:
        return np.asarray(observation)[:, None]


class OneChoice(gymnasium.ActionWrapper):  # type: ignore[misc]
    """A single action is left."""

    def __init__(self, environment: Any) -> None:
        super().__init__(environment)
        self.action_space = gymnasium.spaces.Discrete(1)

    def action(self, action: Any) -> Any:
        return 1


class OldTuple(gymnasium.Wrapper):  # type: ignore[misc]
    """Four values from step, as it was once."""

    def step(self, action: Any) -> Any:
        observation, reward, terminated, truncated, info = self.env.step(action)
        return observation, reward, terminated or truncated, info


class Ends(gymnasium.Wrapper):  # type: ignore[misc]
    """Terminated after some steps, whatever happens."""

    def __init__(self, environment: Any, steps: int) -> None:
        super().__init__(environment)
        self._limit = steps

    def reset(self, **options: Any) -> Any:
        self._time = 0
        return self.env.reset(**options)

    def step(self, action: Any) -> Any:
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._time += 1
        return observation, reward, terminated or truncated or self._time >= self._limit, False, info


class GoesOn(gymnasium.Wrapper):  # type: ignore[misc]
    """An end restarts the task and is not told."""

    def step(self, action: Any) -> Any:
        observation, reward, terminated, _, info = self.env.step(action)
        if terminated:
            observation, info = self.env.reset()
        return observation, reward, False, False, info


class PaysForPlace(gymnasium.Wrapper):  # type: ignore[misc]
    """Tells a shaping term that pays for being near instead of coming nearer, ten times what the task pays."""

    def step(self, action: Any) -> Any:
        observation, reward, terminated, truncated, info = self.env.step(action)
        near = 10.0 * float(np.exp(-np.abs(np.asarray(observation)[:2]).sum()))
        parts = {"reward_task": float(reward), "reward_shaping": near}
        return observation, float(reward) + near, terminated, truncated, {**info, **parts}


class NoForward(gymnasium.Wrapper):  # type: ignore[misc]
    """The term for going forward is never added."""

    def step(self, action: Any) -> Any:
        observation, reward, terminated, truncated, info = self.env.step(action)
        kept = float(reward) - float(info["reward_forward"])
        return observation, kept, terminated, truncated, {**info, "reward_forward": 0.0}


class Force(gymnasium.Wrapper):  # type: ignore[misc]
    """Force costs two hundred times what the task pays."""

    def step(self, action: Any) -> Any:
        observation, reward, *rest = self.env.step(action)
        return observation, float(reward) - 200.0 * float(np.square(action).sum()), *rest


class FirstPays(gymnasium.Wrapper):  # type: ignore[misc]
    """The first action pays by itself."""

    def step(self, action: Any) -> Any:
        observation, reward, *rest = self.env.step(action)
        return observation, float(reward) + 1.5 * (int(action) == 0), *rest


class Luck(gymnasium.Wrapper):  # type: ignore[misc]
    """A lottery on top of the reward."""

    def step(self, action: Any) -> Any:
        observation, reward, *rest = self.env.step(action)
        return observation, float(reward) + float(self.np_random.normal(0.0, 3.0)), *rest


class WideActions(gymnasium.ActionWrapper):  # type: ignore[misc]
    """Actions between 0 and 1000."""

    def __init__(self, environment: Any) -> None:
        super().__init__(environment)
        self.action_space = gymnasium.spaces.Box(0.0, 1000.0, environment.action_space.shape, np.float32)

    def action(self, action: Any) -> Any:
        return (np.asarray(action) / 500.0 - 1.0).astype(np.float32)


def _noisy(seen: Any, rng: Any) -> Any:
    return seen + rng.normal(0.0, 0.5, seen.shape)


def _masked(seen: Any, rng: Any) -> Any:
    seen[4:] = 0.0
    return seen


def _first_only(action: Any) -> Any:
    action[1:] = 0.0
    return action


CASES = tuple(
    Case(name, make, accepted, "unseen")
    for name, make, accepted in (
        ("mountaincar-millimetres", lambda: Units(_gym("MountainCar-v0"), [1000.0, 1.0]), ("observations-unnormalised",)),
        ("cartpole-mixed-order", lambda: MixedOrder(_gym("CartPole-v1")), ("observation-corrupted", "observation-insufficient")),
        ("inverted-pendulum-late-sight", lambda: LateSight(_gym("InvertedPendulum-v5"), 3), ("observation-corrupted", "observation-insufficient")),
        ("double-pendulum-noise", lambda: Seen(_gym("InvertedDoublePendulum-v5"), _noisy), ("observation-corrupted",)),
        ("reacher-masked", lambda: Seen(_gym("Reacher-v5"), _masked), ("observation-insufficient", "observation-dead")),
        ("pendulum-column", lambda: Column(_gym("Pendulum-v1")), ("observation-corrupted",)),
        ("acrobot-overflows", lambda: Overflows(_gym("Acrobot-v1")), ("physics-unstable", "numerical-failure")),
        ("swimmer-dead-motor", lambda: Done(_gym("Swimmer-v5"), _first_only), ("action-without-effect",)),
        ("lunarlander-wide-actions", lambda: WideActions(_gym("LunarLanderContinuous-v3")), ("action-space-unnormalised",)),
        ("cartpole-one-choice", lambda: OneChoice(_gym("CartPole-v1")), ("action-space-degenerate", "action-without-effect")),
        ("lunarlander-weaker", lambda: Weaker(_gym("LunarLanderContinuous-v3")), ("nonstationary-task", "reset-broken")),
        ("cartpole-no-reset", lambda: NoReset(_gym("CartPole-v1")), ("reset-broken",)),
        ("acrobot-own-seed", lambda: OwnSeed(_gym("Acrobot-v1")), ("environments-correlated", "reset-broken")),
        ("taxi-raises", lambda: RaisesAt(_gym("Taxi-v4")), ("exception",)),
        ("cartpole-old-tuple", lambda: OldTuple(_gym("CartPole-v1")), ("exception",)),
        ("reacher-limit-as-end", lambda: Ends(_gym("Reacher-v5"), 50), ("truncation-as-termination",)),
        ("lunarlander-ends-soon", lambda: Ends(_gym("LunarLander-v3"), 12), ("termination-too-early", "truncation-as-termination")),
        ("lunarlander-goes-on", lambda: GoesOn(_gym("LunarLander-v3")), ("episode-never-ends", "termination-as-truncation", "reset-broken")),
        ("mountaincar-no-limit", lambda: _gym("MountainCar-v0").unwrapped, ("episode-never-ends",)),
        ("lunarlander-clipped", lambda: Reward(_gym("LunarLander-v3"), lambda reward: np.clip(reward, -0.2, 0.2)), ("reward-clipped",)),
        ("lunarlander-thousandfold", lambda: Reward(_gym("LunarLander-v3"), lambda reward: 1000.0 * reward), ("reward-scale-too-large",)),
        ("stock-ten-thousandth", lambda: Reward(Stock(), lambda reward: 1e-4 * reward), ("reward-scale-too-small",)),
        ("frozenlake-goal-pays-nothing", lambda: Reward(_gym("FrozenLake-v1"), lambda reward: 0.0), ("uninformative-reward", "sparse-reward")),
        ("rail-lottery", lambda: Luck(Rail()), ("noisy-reward",)),
        ("pendulum-late-pay", lambda: LatePay(_gym("Pendulum-v1"), 5), ("noisy-reward", "uninformative-reward")),
        ("taxi-first-action-pays", lambda: FirstPays(_gym("Taxi-v4")), ("reward-hacking", "reward-component-dominates")),
        ("reacher-costly-force", lambda: Force(_gym("Reacher-v5")), ("reward-component-dominates",)),
        ("hopper-no-forward-term", lambda: NoForward(_gym("Hopper-v5")), ("reward-component-dead",)),
        ("point-pays-for-place", lambda: PaysForPlace(Point()), ("reward-favours-staying", "reward-hacking")),
        ("lunarlander-costly-life", lambda: Reward(_gym("LunarLander-v3"), lambda reward: min(reward, 0.0) - 5.0), ("reward-favours-ending", "reward-sign-wrong")),
        ("cartpole-nan-at-end", lambda: NanAtEnd(_gym("CartPole-v1")), ("numerical-failure", "physics-unstable")),
        ("room-action-dead", lambda: Done(Room(), lambda action: np.zeros_like(action)), ("action-without-effect",)),
    )
)  # fmt: skip
