"""Faults of the environment and of the reward as gymnasium wrappers that fit any task.

Those that the fixtures and the repair benchmark already have are used from there.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import gymnasium
import numpy as np

from rlclinic.lab.evaluation import SEED_OFFSET

NOISE_SEED = 17


class StaleReset(gymnasium.Wrapper):  # type: ignore[misc]
    """reset returns the last observation of the episode before."""

    def __init__(self, environment: Any) -> None:
        super().__init__(environment)
        self._last: Any = None

    def reset(self, **options: Any) -> Any:
        observation, info = self.env.reset(**options)
        return (observation if self._last is None else self._last), info

    def step(self, action: Any) -> Any:
        self._last, *rest = self.env.step(action)
        return self._last, *rest


class OldObservation(gymnasium.Wrapper):  # type: ignore[misc]
    """The observation is that of `delay` steps ago, or by chance (`chance`) one of the last `memory`."""

    def __init__(self, environment: Any, delay: int = 0, chance: float = 0.0, memory: int = 2) -> None:
        super().__init__(environment)
        self._delay, self._chance = delay, chance
        self._seen: deque[Any] = deque(maxlen=max(delay + 1, memory))
        self._noise = np.random.default_rng(NOISE_SEED)

    def reset(self, **options: Any) -> Any:
        observation, info = self.env.reset(**options)
        self._seen.clear()
        self._seen.append(observation)
        return observation, info

    def step(self, action: Any) -> Any:
        observation, *rest = self.env.step(action)
        self._seen.append(observation)
        shown = self._seen[max(len(self._seen) - 1 - self._delay, 0)]
        if self._chance and self._noise.random() < self._chance:
            shown = self._seen[int(self._noise.integers(len(self._seen)))]
        return shown, *rest


class HiddenFeatures(gymnasium.ObservationWrapper):  # type: ignore[misc]
    """Some numbers of the observation are always 0."""

    def __init__(self, environment: Any, features: list[int]) -> None:
        super().__init__(environment)
        self._mask = np.ones(environment.observation_space.shape, dtype=np.float32)
        self._mask[list(features)] = 0.0

    def observation(self, observation: Any) -> Any:
        return np.asarray(observation, dtype=np.float32) * self._mask


class NanObservation(gymnasium.Wrapper):  # type: ignore[misc]
    """After so many steps of this environment the observation is not a number."""

    def __init__(self, environment: Any, after: int) -> None:
        super().__init__(environment)
        self._after, self._taken = after, 0

    def step(self, action: Any) -> Any:
        observation, *rest = self.env.step(action)
        self._taken += 1
        return (observation if self._taken < self._after else np.full_like(observation, np.nan)), *rest


class OtherAction(gymnasium.ActionWrapper):  # type: ignore[misc]
    """Discrete actions are shifted by one, continuous ones change their sign."""

    def action(self, action: Any) -> Any:
        if isinstance(self.action_space, gymnasium.spaces.Discrete):
            return (int(action) + 1) % int(self.action_space.n)
        return -np.asarray(action)


class DeadActions(gymnasium.ActionWrapper):  # type: ignore[misc]
    """Some actions, or dimensions of the action, do what action 0 does."""

    def __init__(self, environment: Any, dead: list[int]) -> None:
        super().__init__(environment)
        self._dead = list(dead)

    def action(self, action: Any) -> Any:
        if isinstance(self.action_space, gymnasium.spaces.Discrete):
            return 0 if int(action) in self._dead else action
        kept = np.array(action)
        kept[self._dead] = 0.0
        return kept


class FrozenObservation(gymnasium.Wrapper):  # type: ignore[misc]
    """Every observation of an episode is its first one."""

    def __init__(self, environment: Any) -> None:
        super().__init__(environment)
        self._first: Any = None

    def reset(self, **options: Any) -> Any:
        self._first, info = self.env.reset(**options)
        return self._first, info

    def step(self, action: Any) -> Any:
        _, *rest = self.env.step(action)
        return self._first, *rest


class ShuffledFeatures(gymnasium.Wrapper):  # type: ignore[misc]
    """The numbers of the observation stand in another order in every episode."""

    def __init__(self, environment: Any) -> None:
        super().__init__(environment)
        self._noise = np.random.default_rng(NOISE_SEED)
        self._order = np.arange(environment.observation_space.shape[0])

    def reset(self, **options: Any) -> Any:
        observation, info = self.env.reset(**options)
        self._noise.shuffle(self._order)
        return observation[self._order], info

    def step(self, action: Any) -> Any:
        observation, *rest = self.env.step(action)
        return observation[self._order], *rest


class StretchedActions(gymnasium.ActionWrapper):  # type: ignore[misc]
    """The box of actions in other units, from `low` to `high`: a Gaussian around 0 lies at its edge or outside."""

    def __init__(self, environment: Any, low: float, high: float) -> None:
        super().__init__(environment)
        inner = environment.action_space
        self._inner_low, self._inner_high, self._low, self._high = inner.low, inner.high, low, high
        self.action_space = gymnasium.spaces.Box(low, high, inner.shape, np.float32)

    def action(self, action: Any) -> Any:
        share = (np.clip(action, self._low, self._high) - self._low) / (self._high - self._low)
        return (self._inner_low + share * (self._inner_high - self._inner_low)).astype(np.float32)


class _CountedEpisode(gymnasium.Wrapper):  # type: ignore[misc]
    """Knows when an episode has lasted `steps` steps."""

    def __init__(self, environment: Any, steps: int | None = None) -> None:
        super().__init__(environment)
        self._steps, self._taken = steps, 0

    @property
    def _is_over(self) -> bool:
        return self._steps is not None and self._taken >= self._steps

    def reset(self, **options: Any) -> Any:
        self._taken = 0
        return self.env.reset(**options)

    def step(self, action: Any) -> Any:
        self._taken += 1
        return self.env.step(action)


class EarlyEnd(_CountedEpisode):
    """An episode ends after so many steps, as if it were over."""

    def step(self, action: Any) -> Any:
        observation, reward, terminated, truncated, info = super().step(action)
        return observation, reward, terminated or self._is_over, truncated, info


class LimitAsEnd(_CountedEpisode):
    """A time limit is reported as the end of the task; with `steps` the limit is that short."""

    def step(self, action: Any) -> Any:
        observation, reward, terminated, truncated, info = super().step(action)
        return observation, reward, terminated or truncated or self._is_over, False, info


class OtherEvaluation(gymnasium.Wrapper):  # type: ignore[misc]
    """Evaluation episodes see observations in other units than training does."""

    def __init__(self, environment: Any, factor: float) -> None:
        super().__init__(environment)
        self._factor, self._now = np.float32(factor), np.float32(1.0)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        if seed is not None:
            self._now = self._factor if seed >= SEED_OFFSET else np.float32(1.0)
        observation, info = self.env.reset(seed=seed, options=options)
        return observation * self._now, info

    def step(self, action: Any) -> Any:
        observation, *rest = self.env.step(action)
        return observation * self._now, *rest


class ChangedReward(gymnasium.Wrapper):  # type: ignore[misc]
    """The reward times `factor` plus `offset`, minus `action_cost` for the squared action (or for action 0)."""

    def __init__(self, environment: Any, factor: float = 1.0, offset: float = 0.0, action_cost: float = 0.0) -> None:
        super().__init__(environment)
        self._factor, self._offset, self._cost = factor, offset, action_cost

    def step(self, action: Any) -> Any:
        observation, reward, *rest = self.env.step(action)
        discrete = isinstance(self.action_space, gymnasium.spaces.Discrete)
        size = float(int(action) == 0) if discrete else float(np.square(action).sum())
        return observation, self._factor * float(reward) + self._offset - self._cost * size, *rest


class MissingTerm(gymnasium.Wrapper):  # type: ignore[misc]
    """One term of the reward, which the info names, is not paid."""

    def __init__(self, environment: Any, term: str) -> None:
        super().__init__(environment)
        self._term = term

    def step(self, action: Any) -> Any:
        observation, reward, terminated, truncated, info = self.env.step(action)
        return observation, float(reward) - float(info[self._term]), terminated, truncated, info


class RoundedReward(gymnasium.RewardWrapper):  # type: ignore[misc]
    """The reward in whole multiples of `unit`."""

    def __init__(self, environment: Any, unit: float) -> None:
        super().__init__(environment)
        self._unit = unit

    def reward(self, reward: Any) -> float:
        return self._unit * round(float(reward) / self._unit)


class LateReward(gymnasium.Wrapper):  # type: ignore[misc]
    """Pays at the end of the episode all that was earned, or each reward `steps` steps late."""

    def __init__(self, environment: Any, steps: int | None = None) -> None:
        super().__init__(environment)
        self._steps = steps
        self._owed: deque[float] = deque()

    def reset(self, **options: Any) -> Any:
        self._owed.clear()
        return self.env.reset(**options)

    def step(self, action: Any) -> Any:
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._owed.append(float(reward))
        if self._steps is None:
            paid = sum(self._owed) if terminated or truncated else 0.0
        else:
            paid = self._owed.popleft() if len(self._owed) > self._steps else 0.0
        return observation, paid, terminated, truncated, info


class Drift(gymnasium.Wrapper):  # type: ignore[misc]
    """From `after` steps of this environment on, actions mean something else."""

    def __init__(self, environment: Any, after: int) -> None:
        super().__init__(environment)
        self._after, self._taken, self._evaluation = after, 0, False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        if seed is not None:
            self._evaluation = seed >= SEED_OFFSET
        return self.env.reset(seed=seed, options=options)

    def step(self, action: Any) -> Any:
        self._taken += 1
        if not self._evaluation and self._taken > self._after:
            discrete = isinstance(self.action_space, gymnasium.spaces.Discrete)
            action = (int(action) + 1) % int(self.action_space.n) if discrete else -np.asarray(action)
        return self.env.step(action)
