"""Small data sets from scripted policies on real environments."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import gymnasium
import numpy as np

from rlclinic.model.transitions import Transitions
from rlclinic.readers.transitions.columns import transitions_of

Act = Callable[[Any, np.random.Generator, int], Any]
"""An observation, chance and the number of the episode -> an action."""


def _balance(seen: Any, rng: np.random.Generator, episode: int) -> int:
    return int(3.0 * seen[2] + seen[3] + 0.1 * seen[0] + 0.3 * seen[1] > 0)


def _clumsy_balance(seen: Any, rng: np.random.Generator, episode: int) -> int:
    return int(rng.integers(2)) if rng.random() < 0.35 else int(seen[2] + 0.3 * seen[3] > 0)


def _swing_up(seen: Any, rng: np.random.Generator, episode: int) -> Any:
    cos, sin, speed = seen
    if cos > 0.85:
        force = -(10.0 * np.arctan2(sin, cos) + 2.5 * speed)
    else:
        energy = speed**2 / 6.0 + 5.0 * (cos - 1.0)
        force = 2.0 * np.sign(-energy * speed) if speed else 2.0
    return np.clip([force], -2.0, 2.0).astype(np.float32)


def _clumsy_swing_up(seen: Any, rng: np.random.Generator, episode: int) -> Any:
    return rng.uniform(-2.0, 2.0, 1).astype(np.float32) if rng.random() < 0.3 else 0.7 * _swing_up(seen, rng, episode)


def mixed(one: Act, other: Act) -> Act:
    """Two policies, episode by episode."""
    return lambda seen, rng, episode: (one if episode % 2 else other)(seen, rng, episode)


def _coin(seen: Any, rng: np.random.Generator, episode: int) -> int:
    return int(rng.integers(2))


def _any_force(seen: Any, rng: np.random.Generator, episode: int) -> Any:
    return rng.uniform(-2.0, 2.0, 1).astype(np.float32)


def _swing_arm(seen: Any, rng: np.random.Generator, episode: int) -> int:
    return 0 if seen[4] > 0 else 2


def _clumsy_swing_arm(seen: Any, rng: np.random.Generator, episode: int) -> int:
    return int(rng.integers(3)) if rng.random() < 0.4 else _swing_arm(seen, rng, episode)


def _any_torque(seen: Any, rng: np.random.Generator, episode: int) -> int:
    return int(rng.integers(3))


POLICIES: dict[tuple[str, str], tuple[Act, int]] = {
    ("CartPole-v1", "random"): (_coin, 80),
    ("CartPole-v1", "medium"): (_clumsy_balance, 20),
    ("CartPole-v1", "expert"): (_balance, 10),
    ("CartPole-v1", "mixed"): (mixed(_coin, _balance), 20),
    ("Pendulum-v1", "random"): (_any_force, 20),
    ("Pendulum-v1", "medium"): (_clumsy_swing_up, 20),
    ("Pendulum-v1", "expert"): (_swing_up, 20),
    ("Pendulum-v1", "mixed"): (mixed(_any_force, _swing_up), 20),
    ("Acrobot-v1", "random"): (_any_torque, 10),
    ("Acrobot-v1", "medium"): (_clumsy_swing_arm, 20),
    ("Acrobot-v1", "expert"): (_swing_arm, 20),
    ("Acrobot-v1", "mixed"): (mixed(_any_torque, _swing_arm), 20),
}
"""Environment and kind -> who acts, and in how many episodes."""


def columns(environment: str, act: Act, episodes: int, seed: int = 1) -> dict[str, Any]:
    """Steps of a policy as the columns of a file."""
    env, rng, rows = gymnasium.make(environment), np.random.default_rng(seed), []
    for episode in range(episodes):
        seen, over = env.reset(seed=1000 * seed + episode)[0], False
        while not over:
            action = act(seen, rng, episode)
            after, reward, terminated, truncated, _ = env.step(action)
            rows.append((seen, action, float(reward), after, terminated, truncated))
            seen, over = after, terminated or truncated
    env.close()
    names = ("observations", "actions", "rewards", "next_observations", "terminals", "timeouts")
    return {name: np.array(values) for name, values in zip(names, zip(*rows, strict=True), strict=True)}


@cache
def made(environment: str, kind: str, seed: int = 1) -> Transitions:
    """One of the data sets."""
    return transitions_of(columns(environment, *POLICIES[environment, kind], seed=seed))
