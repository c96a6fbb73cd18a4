"""More broken environments; the checks were changed after they had been examined."""

from __future__ import annotations

import time
from collections import deque
from typing import Any

import gymnasium
import numpy as np

from bench.environments.case import Case
from bench.environments.seen import ClippedReward, OnlySome, _bare, _gym
from bench.faults.environments.courier import Courier
from bench.faults.environments.lander import Lander
from bench.faults.environments.tank import Tank
from bench.repair.environments import Point, Room


class StuckSensor(gymnasium.ObservationWrapper):  # type: ignore[misc]
    """The whole observation stays what it was at first."""

    def __init__(self, environment: Any) -> None:
        super().__init__(environment)
        self._first: Any = None

    def observation(self, observation: Any) -> Any:
        self._first = observation if self._first is None else self._first
        return self._first


class DeadMotor(gymnasium.ActionWrapper):  # type: ignore[misc]
    """One dimension of the action does not reach the simulation."""

    def action(self, action: Any) -> Any:
        changed = np.array(action, copy=True)
        changed[-1] = 0.0
        return changed


class SameChoice(gymnasium.ActionWrapper):  # type: ignore[misc]
    """Every choice is taken for the first one."""

    def action(self, action: Any) -> Any:
        return 0


class LateMotor(gymnasium.Wrapper):  # type: ignore[misc]
    """An action is carried out some steps later."""

    def __init__(self, environment: Any, steps: int) -> None:
        super().__init__(environment)
        self._waiting: deque[Any] = deque()
        self._steps = steps

    def reset(self, **options: Any) -> Any:
        self._waiting.clear()
        return self.env.reset(**options)

    def step(self, action: Any) -> Any:
        self._waiting.append(action)
        rest = self._waiting.popleft() if len(self._waiting) > self._steps else np.zeros_like(action)
        return self.env.step(rest if isinstance(self.action_space, gymnasium.spaces.Box) else int(rest))


class Fails(gymnasium.Wrapper):  # type: ignore[misc]
    """Raises where the state is unusual."""

    def step(self, action: Any) -> Any:
        found = self.env.step(action)
        if abs(found[0][0]) > 1.0:
            raise ZeroDivisionError("the solver did not converge")
        return found


class Sleeps(gymnasium.Wrapper):  # type: ignore[misc]
    """Waits for ever after some steps."""

    taken = 0

    def step(self, action: Any) -> Any:
        self.taken += 1
        if self.taken > 50:
            time.sleep(10_000.0)
        return self.env.step(action)


class Explodes(gymnasium.Wrapper):  # type: ignore[misc]
    """The last number of the observation doubles with every step from the fortieth on."""

    def reset(self, **options: Any) -> Any:
        self._size = 1.0
        self._time = 0
        return self.env.reset(**options)

    def step(self, action: Any) -> Any:
        observation, *rest = self.env.step(action)
        self._time += 1
        self._size *= 2.0 if self._time > 40 else 1.0
        changed = np.array(observation, dtype=np.float64)
        changed[-1] *= min(self._size, 1e30)
        return changed.astype(np.float32), *rest


class WornOut(gymnasium.Wrapper):  # type: ignore[misc]
    """Actions lose their force over the life of the environment."""

    def __init__(self, environment: Any) -> None:
        super().__init__(environment)
        self._force = 1.0

    def step(self, action: Any) -> Any:
        self._force *= 0.9995
        return self.env.step(np.asarray(action) * np.float32(self._force))


class KeepsSpeed(gymnasium.Wrapper):  # type: ignore[misc]
    """CartPole whose reset leaves the speed of the last episode."""

    def reset(self, **options: Any) -> Any:
        before = getattr(self.env.unwrapped, "state", None)
        observation, info = self.env.reset(**options)
        if before is not None:
            state = np.array(self.env.unwrapped.state)
            state[[1, 3]] = np.array(before)[[1, 3]]
            self.env.unwrapped.state = state
            observation = state.astype(np.float32)
        return observation, info


class ChanceReward(gymnasium.Wrapper):  # type: ignore[misc]
    """The reward is drawn, whatever is done."""

    def step(self, action: Any) -> Any:
        observation, _, *rest = self.env.step(action)
        return observation, float(self.np_random.normal()), *rest


class Terms(gymnasium.Wrapper):  # type: ignore[misc]
    """Tells two terms of the reward, of which the bonus never comes."""

    def step(self, action: Any) -> Any:
        observation, reward, terminated, truncated, info = self.env.step(action)
        told = {**info, "reward_way": float(reward), "reward_bonus": 0.0}
        return observation, reward, terminated, truncated, told


class Affine(gymnasium.RewardWrapper):  # type: ignore[misc]
    """A reward in other units, with an offset."""

    def __init__(self, environment: Any, factor: float, offset: float = 0.0) -> None:
        super().__init__(environment)
        self._factor, self._offset = factor, offset

    def reward(self, reward: Any) -> float:
        return float(reward) * self._factor + self._offset


class PaysFor(gymnasium.Wrapper):  # type: ignore[misc]
    """One choice is paid for itself."""

    def step(self, action: Any) -> Any:
        observation, reward, *rest = self.env.step(action)
        return observation, float(reward) + 0.5 * (int(action) == 2), *rest


class Flickers(gymnasium.Wrapper):  # type: ignore[misc]
    """Half of the observations are zeros, by chance."""

    def step(self, action: Any) -> Any:
        observation, *rest = self.env.step(action)
        return (observation if self.np_random.random() < 0.5 else np.zeros_like(observation)), *rest


class WrongShape(gymnasium.ObservationWrapper):  # type: ignore[misc]
    """Whole numbers where the space promises real ones."""

    def observation(self, observation: Any) -> Any:
        return (100 * np.asarray(observation)).astype(np.int64)


class EndsAsLimit(gymnasium.Wrapper):  # type: ignore[misc]
    """Touchdown is told as a time limit."""

    def step(self, action: Any) -> Any:
        observation, reward, terminated, truncated, info = self.env.step(action)
        return observation, reward, False, terminated or truncated, info


class LimitAsEnd(gymnasium.Wrapper):  # type: ignore[misc]
    """A time limit is told as the end."""

    def step(self, action: Any) -> Any:
        observation, reward, terminated, truncated, info = self.env.step(action)
        return observation, reward, terminated or truncated, False, info


class Scaled(gymnasium.ActionWrapper):  # type: ignore[misc]
    """Actions in other units."""

    def __init__(self, environment: Any, size: float) -> None:
        super().__init__(environment)
        self._size, inner = size, environment.action_space
        self.action_space = gymnasium.spaces.Box(-size, size, inner.shape, np.float32)

    def action(self, action: Any) -> Any:
        return np.asarray(action) / np.float32(self._size)


class NoRange(gymnasium.ActionWrapper):  # type: ignore[misc]
    """The second dimension of the action has no range."""

    def __init__(self, environment: Any) -> None:
        super().__init__(environment)
        low, high = np.array([-1.0, 0.0], np.float32), np.array([1.0, 0.0], np.float32)
        self.action_space = gymnasium.spaces.Box(low, high, dtype=np.float32)

    def action(self, action: Any) -> Any:
        return action


class Costs(gymnasium.Wrapper):  # type: ignore[misc]
    """Force costs fifty times what the task pays."""

    def step(self, action: Any) -> Any:
        observation, reward, *rest = self.env.step(action)
        return observation, float(reward) - 50.0 * float(np.abs(action).sum()), *rest


CASES = tuple(
    Case(name, make, accepted, "seen")
    for name, make, accepted in (
        ("pendulum-stuck-sensor", lambda: StuckSensor(_gym("Pendulum-v1")), ("observation-dead",)),
        ("point-dead-motor", lambda: DeadMotor(Point()), ("action-without-effect",)),
        ("lander-one-choice", lambda: SameChoice(Lander()), ("action-without-effect",)),
        ("point-late-motor", lambda: LateMotor(Point(), 4), ("observation-corrupted", "observation-insufficient")),
        ("acrobot-late-motor", lambda: LateMotor(_gym("Acrobot-v1"), 3), ("observation-corrupted", "observation-insufficient")),
        ("pendulum-fails", lambda: Fails(OnlySome(_gym("Pendulum-v1"), [2])), ("exception",)),
        ("cartpole-hangs", lambda: Sleeps(_gym("CartPole-v1")), ("exception", "throughput-collapse")),
        ("pendulum-explodes", lambda: Explodes(_gym("Pendulum-v1")), ("physics-unstable", "observations-unnormalised")),
        ("tank-worn-out", lambda: WornOut(Tank()), ("nonstationary-task", "reset-broken")),
        ("cartpole-keeps-speed", lambda: KeepsSpeed(_gym("CartPole-v1")), ("reset-broken",)),
        ("pendulum-chance-reward", lambda: ChanceReward(_gym("Pendulum-v1")), ("uninformative-reward", "noisy-reward")),
        ("point-dead-term", lambda: Terms(Point()), ("reward-component-dead",)),
        ("acrobot-huge-rewards", lambda: Affine(_gym("Acrobot-v1"), 1000.0), ("reward-scale-too-large",)),
        ("room-tiny-rewards", lambda: Affine(Room(), 0.001), ("reward-scale-too-small",)),
        ("mountaincar-third-pays", lambda: PaysFor(Affine(_gym("MountainCar-v0"), 0.1)), ("reward-hacking", "reward-component-dominates")),
        ("point-flickers", lambda: Flickers(Point()), ("observation-corrupted",)),
        ("cartpole-whole-numbers", lambda: WrongShape(_gym("CartPole-v1")), ("observation-corrupted",)),
        ("lander-ends-as-limit", lambda: EndsAsLimit(Lander()), ("termination-as-truncation",)),
        ("point-limit-as-end", lambda: LimitAsEnd(Point()), ("truncation-as-termination",)),
        ("pendulum-wide-actions", lambda: Scaled(_gym("Pendulum-v1"), 100.0), ("action-space-unnormalised",)),
        ("point-no-range", lambda: NoRange(Point()), ("action-space-degenerate",)),
        ("tank-costly-force", lambda: Costs(Tank()), ("reward-component-dominates",)),
        ("mountaincar-no-speed", lambda: OnlySome(_gym("MountainCar-v0"), [0]), ("observation-insufficient",)),
        ("acrobot-never-ends", lambda: _Endless(_bare("Acrobot-v1")), ("episode-never-ends",)),
        ("tank-clipped", lambda: ClippedReward(Tank(), -0.05, 0.05), ("reward-clipped",)),
        ("courier-costly-steps", lambda: Affine(EndsSoon(Courier()), 1.0, -2.0), ("reward-favours-ending",)),
    )
)  # fmt: skip


class _Endless(gymnasium.Wrapper):  # type: ignore[misc]
    """Ends are swallowed."""

    def step(self, action: Any) -> Any:
        observation, reward, _, _, info = self.env.step(action)
        return observation, reward, False, False, info


class EndsSoon(gymnasium.Wrapper):  # type: ignore[misc]
    """A step by chance one in ten fails the task."""

    def step(self, action: Any) -> Any:
        observation, reward, terminated, truncated, info = self.env.step(action)
        return observation, reward, terminated or bool(self.np_random.random() < 0.1), truncated, info
