"""Running normalisation of observations and rewards, shared by all environments of a run and kept in checkpoints."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rlclinic.lab.recipe import Recipe
from rlclinic.lab.torchrl.options import Options
from rlclinic.lab.torchrl.spaces import Floats, Spaces

# Largest normalised value: that of Stable-Baselines3's VecNormalize.
LIMIT = 10.0
EPSILON = 1e-8

Doubles = NDArray[np.float64]


class Moments:
    """Mean and variance of rows seen so far, exact whatever the batches (Chan, Golub and LeVeque 1979)."""

    def __init__(self, size: int) -> None:
        self.mean: Doubles = np.zeros(size)
        self.variance: Doubles = np.ones(size)
        self.count = 0.0

    def add(self, rows: NDArray[np.floating]) -> None:
        """Take rows into account."""
        count, mean, variance = len(rows), rows.mean(0), rows.var(0)
        total = self.count + count
        shift = mean - self.mean
        spread = self.variance * self.count + variance * count + shift**2 * self.count * count / total
        self.mean = self.mean + shift * count / total
        self.variance = spread / total
        self.count = total


class Normaliser:
    """Scales what the networks see. Observations to zero mean and unit variance, rewards by the spread of returns."""

    @classmethod
    def of(cls, recipe: Recipe, options: Options, spaces: Spaces) -> Normaliser:
        """The one that a recipe asks for."""
        return cls(
            spaces.observation_size,
            recipe.n_envs,
            options.number("gamma"),
            observations=options.flag("normalize_obs"),
            rewards=options.flag("normalize_reward"),
        )

    def __init__(self, size: int, n_envs: int, gamma: float, *, observations: bool, rewards: bool) -> None:
        self._observations = Moments(size) if observations else None
        self._returns = Moments(1) if rewards else None
        self._running: Doubles = np.zeros(n_envs)
        self._gamma = gamma

    def see(self, observations: Floats) -> None:
        """Learn from what training acts on, the first observation of an episode included; never from evaluation."""
        if self._observations is not None:
            self._observations.add(observations)

    def observation(self, observations: Floats) -> Floats:
        """Observations as the networks take them."""
        seen = self._observations
        if seen is None:
            return observations
        scaled: Floats = ((observations - seen.mean) / np.sqrt(seen.variance + EPSILON)).astype(np.float32)
        return np.clip(scaled, -LIMIT, LIMIT)

    def reward(self, rewards: Floats, done: NDArray[np.bool_], which: list[int]) -> Floats:
        """Rewards of some environments as the losses take them."""
        if self._returns is None:
            return rewards
        self._running[which] = self._running[which] * self._gamma + rewards
        self._returns.add(self._running[which][:, None])
        self._running[which] *= ~done
        scaled: Floats = (rewards / np.sqrt(self._returns.variance + EPSILON)).astype(np.float32)
        return np.clip(scaled, -LIMIT, LIMIT)

    def to_arrays(self) -> dict[str, NDArray[np.float64]]:
        """The statistics, for an npz."""
        named = {"observations": self._observations, "returns": self._returns}
        return {
            f"{name}_{part}": np.asarray(getattr(moments, part), dtype=np.float64)
            for name, moments in named.items()
            if moments is not None
            for part in ("mean", "variance", "count")
        }

    def load(self, arrays: dict[str, NDArray[np.float64]]) -> None:
        """Go on from statistics of `to_arrays`."""
        for name, moments in (("observations", self._observations), ("returns", self._returns)):
            if moments is not None:
                moments.mean = arrays[f"{name}_mean"]
                moments.variance = arrays[f"{name}_variance"]
                moments.count = float(arrays[f"{name}_count"])
