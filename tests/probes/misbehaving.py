"""Trainers that misbehave in one way each."""

from __future__ import annotations

import os
import time
from typing import Any

import numpy as np

from tests.probes.tabular import Factory, Tabular


def _made(env_fn: Any, kind: type[Tabular], seed: int, gamma: float, settings: dict[str, Any]) -> Tabular:
    trainer = Factory()(env_fn, seed=seed, gamma=gamma, **settings)
    trainer.__class__ = kind
    return trainer


class Raises(Tabular):
    def train(self, env_steps: int) -> None:
        if self.env_steps > 100:
            raise RuntimeError("loss became nan")
        super().train(env_steps)


class Hangs(Tabular):
    def train(self, env_steps: int) -> None:
        time.sleep(600)


class Dies(Tabular):
    def train(self, env_steps: int) -> None:
        os._exit(7)


class WrongShape(Tabular):
    def value(self, obs: Any) -> Any:
        return np.zeros(3)

    def train(self, env_steps: int) -> None:
        """Never gets here."""


class ChangesSpaces(Tabular):
    def train(self, env_steps: int) -> None:
        from gymnasium import spaces

        super().train(env_steps)
        self.envs[0].action_space = spaces.Discrete(5)


class NeverResets(Tabular):
    def train(self, env_steps: int) -> None:
        for _ in range(env_steps):
            self.envs[0].step(0)


def raises(env_fn: Any, *, seed: int, gamma: float, **settings: Any) -> Tabular:
    return _made(env_fn, Raises, seed, gamma, settings)


def hangs(env_fn: Any, *, seed: int, gamma: float, **settings: Any) -> Tabular:
    return _made(env_fn, Hangs, seed, gamma, settings)


def dies(env_fn: Any, *, seed: int, gamma: float, **settings: Any) -> Tabular:
    return _made(env_fn, Dies, seed, gamma, settings)


def wrong_shape(env_fn: Any, *, seed: int, gamma: float, **settings: Any) -> Tabular:
    return _made(env_fn, WrongShape, seed, gamma, settings)


def changes_spaces(env_fn: Any, *, seed: int, gamma: float, **settings: Any) -> Tabular:
    return _made(env_fn, ChangesSpaces, seed, gamma, settings)


def never_resets(env_fn: Any, *, seed: int, gamma: float, **settings: Any) -> Tabular:
    return _made(env_fn, NeverResets, seed, gamma, settings)


def no_trainer(env_fn: Any, *, seed: int, gamma: float, **settings: Any) -> object:
    return object()
