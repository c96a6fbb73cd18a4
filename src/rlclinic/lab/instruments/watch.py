"""Gymnasium wrappers that watch an environment or change what only training sees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np

from rlclinic.lab.errors import EnvironmentFault, TrainingError
from rlclinic.lab.instruments.episodes import EpisodeLog
from rlclinic.model.errors import RlclinicError

DIVERGED = "lower the learning rate, or clip gradients with max_grad_norm"


class EpisodeWatch(gymnasium.Wrapper):
    """Reports episodes to a log, and stops at once where the environment raises or returns a non-finite number.

    Observations within an episode are looked at by `stop_where_not_finite`, once for all environments of a step.
    """

    def __init__(self, environment: Any, log: EpisodeLog) -> None:
        super().__init__(environment)
        self._log = log
        self._take = environment.step
        self.total = 0.0
        self.length = 0
        self._action: Any = None
        log.follow(self)

    def reset(self, **arguments: Any) -> Any:
        self._log.leave(self.total, self.length)
        self.total, self.length = 0.0, 0
        try:
            observation, info = self.env.reset(**arguments)
        except Exception as error:
            raise EnvironmentFault(f"the environment raised {_told(error)} in reset") from error
        self.check(observation)
        return observation, info

    def step(self, action: Any) -> Any:
        # Every step pays for this: no call besides that of the environment.
        self._action = action
        try:
            taken = observation, reward, terminated, truncated, info = self._take(action)
            if reward.__class__ is not float:
                reward = float(reward)
                taken = observation, reward, terminated, truncated, info
        except Exception as error:
            raise self._fault(f"raised {_told(error)}", 1) from error
        # Only a finite number is itself less itself.
        if reward - reward != 0.0:
            raise self._fault(f"returned the reward {reward}", 1)
        self.total += reward
        self.length += 1
        if info:
            self._log.add(info)
        if terminated or truncated:
            self.check(observation)
            self._log.end(self.total, self.length, truncated=truncated and not terminated)
            self.total, self.length = 0.0, 0
        return taken

    def check(self, observation: Any) -> None:
        """EnvironmentFault where the observation of the last step or reset has a number that is not finite."""
        for part in observation.values() if isinstance(observation, dict) else (observation,):
            if isinstance(part, np.ndarray) and part.dtype.kind == "f" and not np.isfinite(part).all():
                kind = "NaN" if np.isnan(part).any() else "infinity"
                raise self._fault(f"returned {kind} in its observation", 0)

    def _fault(self, did: str, ahead: int) -> RlclinicError:
        """What the environment did, and where; a policy that has diverged is no fault of the environment."""
        where = f"in step {self.length + ahead} of episode {self._log.count + 1}"
        if isinstance(self._action, np.ndarray | np.floating) and not np.isfinite(self._action).all():
            return TrainingError(f"the policy's action is not finite {where}: training diverged", hint=DIVERGED)
        return EnvironmentFault(f"the environment {did} {where}")


def stop_where_not_finite(environments: Sequence[Any], observations: Any) -> None:
    """EnvironmentFault of the watched environment whose row of the observations is not finite."""
    for part in observations.values() if isinstance(observations, dict) else (observations,):
        if part.dtype.kind == "f" and not np.isfinite(part).all():
            for environment, observation in zip(environments, part, strict=True):
                environment.get_wrapper_attr("check")(observation)


class RewardChange(gymnasium.Wrapper):
    """Scales and clips the reward that the learner sees."""

    def __init__(self, environment: Any, scale: float, limit: Any) -> None:
        super().__init__(environment)
        self._scale = scale
        self._limit = float(limit) if limit else None

    def step(self, action: Any) -> Any:
        observation, reward, terminated, truncated, info = self.env.step(action)
        reward *= self._scale
        if self._limit is not None:
            reward = max(-self._limit, min(self._limit, reward))
        return observation, reward, terminated, truncated, info


class RepeatAction(gymnasium.Wrapper):
    """Takes every action several times and adds up the rewards; one env step for the learner."""

    def __init__(self, environment: Any, times: int) -> None:
        super().__init__(environment)
        self._times = times

    def step(self, action: Any) -> Any:
        total = 0.0
        for _ in range(self._times):
            observation, reward, terminated, truncated, info = self.env.step(action)
            total += float(reward)
            if terminated or truncated:
                break
        return observation, total, terminated, truncated, info


class StackImages(gymnasium.Wrapper):
    """The last frames of an image environment, joined along the channels."""

    def __init__(self, environment: Any, count: int) -> None:
        super().__init__(environment)
        space = environment.observation_space
        self._frames: list[Any] = []
        self._count = count
        self.observation_space = gymnasium.spaces.Box(
            np.repeat(space.low, count, axis=-1), np.repeat(space.high, count, axis=-1), dtype=space.dtype
        )

    def reset(self, **arguments: Any) -> Any:
        observation, info = self.env.reset(**arguments)
        self._frames = [observation] * self._count
        return np.concatenate(self._frames, axis=-1), info

    def step(self, action: Any) -> Any:
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._frames = [*self._frames[1:], observation]
        return np.concatenate(self._frames, axis=-1), reward, terminated, truncated, info


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
