"""Columns of recorded steps, under the names that libraries give them, as transitions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rlclinic.model.numbers import bounded_array
from rlclinic.model.transitions import Space, Transitions
from rlclinic.readers.formats.errors import FormatError

NAMES: Mapping[str, tuple[str, ...]] = {
    "observations": ("observations", "obs", "observation", "states", "state", "s"),
    "actions": ("actions", "action", "acts", "act", "a"),
    "rewards": ("rewards", "reward", "rews", "rew", "r"),
    "next_observations": ("next_observations", "next_obs", "next_observation", "next_states", "obs2", "s2"),
    "terminated": ("terminated", "terminations", "terminals", "terminal", "dones", "done", "done_mask"),
    "truncated": ("truncated", "truncations", "timeouts", "timeout"),
    "episodes": ("episodes", "episode", "episode_ids", "episode_id"),
}
"""What a column is -> how it is called, the usual name first."""
MOST_ROWS = 200_000
MOST_NUMBERS = 512
MOST_COUNTED = 2**53
FEW_VALUES = 20
"""Different whole numbers up to which a column of actions is a choice."""


def transitions_of(columns: Mapping[str, NDArray[Any]], *, needs_rewards: bool = True) -> Transitions:
    """Transitions from columns; FormatError where actions or observations are missing, or rewards that are needed.

    Demonstrations may come without rewards: all are zero then.
    """
    found = {}
    for name, spellings in NAMES.items():
        column = next((columns[spelling] for spelling in spellings if spelling in columns), None)
        if column is not None:
            found[name] = np.asarray(column)[:MOST_ROWS]
    if not needs_rewards and "actions" in found:
        found.setdefault("rewards", np.zeros(len(found["actions"])))
    missing = [name for name in ("observations", "actions", "rewards") if name not in found]
    if missing:
        raise FormatError(f"no {' and no '.join(missing)} among the columns {', '.join(list(columns)[:12])}")
    if not all(column.size for column in found.values()):
        raise FormatError("a column of it is empty")
    rewards = _rows(found["rewards"]).sum(axis=1)
    count = len(rewards)
    observations = _rows(found["observations"])
    if len(observations) == count + 1:
        found.setdefault("next_observations", found["observations"][1:])
        observations = observations[:count]
    terminated, truncated = _flags(found, "terminated", count), _flags(found, "truncated", count)
    # d4rl and SB3 set the one flag for both.
    terminated &= ~truncated
    following = _rows(found["next_observations"]) if "next_observations" in found else _shifted(observations)
    episodes = found.get("episodes")
    numbers = whole_numbers(episodes).ravel() if episodes is not None else _counted(terminated | truncated)
    actions = _rows(found["actions"])
    if any(len(array) != count for array in (observations, actions, following, numbers)):
        raise FormatError("its columns have different lengths")
    if following.shape != observations.shape:
        raise FormatError("its next observations are of another size")
    starts = np.flatnonzero(np.diff(numbers, prepend=numbers[:1] - 1))
    times = np.arange(count) - np.repeat(starts, np.diff(np.append(starts, count)))
    return Transitions(
        _space(observations), _action_space(actions), observations, actions, rewards, following, terminated, truncated,
        numbers, times, np.zeros(count, dtype=np.int64), np.arange(count),
    )  # fmt: skip


def _rows(values: NDArray[Any]) -> NDArray[np.float64]:
    if values.dtype.kind not in "biuf":
        raise FormatError(f"a column of {values.dtype.name} holds no numbers")
    return bounded_array(thinned(values).reshape(len(values), -1))


def thinned(values: NDArray[Any]) -> NDArray[Any]:
    """Of rows that are pictures or as wide, some numbers."""
    width = math.prod(values.shape[1:])
    if width <= MOST_NUMBERS:
        return values
    return values.reshape(len(values), width)[:, np.linspace(0, width - 1, 64).astype(int)]


def whole_numbers(values: NDArray[Any]) -> NDArray[np.int64]:
    """Counts and numbers of episodes; 0 for what is none."""
    return np.where(np.abs(values) < MOST_COUNTED, values, 0).astype(np.int64)


def _flags(found: Mapping[str, NDArray[Any]], name: str, count: int) -> NDArray[np.bool_]:
    if name not in found:
        return np.zeros(count, dtype=bool)
    if len(found[name]) != count:
        raise FormatError("its columns have different lengths")
    return np.asarray(_rows(found[name]).any(axis=1), dtype=bool)


def _shifted(observations: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each next row; the last has none and stands still."""
    return np.concatenate([observations[1:], observations[-1:]])


def _counted(over: NDArray[np.bool_]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(over)[:-1]]).astype(np.int64)


def _space(values: NDArray[np.float64]) -> Space:
    width = values.shape[1]
    return Space("box", np.full(width, -np.inf), np.full(width, np.inf))


def _action_space(values: NDArray[np.float64]) -> Space:
    counted = values.shape[1] == 1 and bool((np.abs(values) < MOST_COUNTED).all())
    whole = counted and bool((values == np.round(values)).all()) and len(np.unique(values)) <= FEW_VALUES
    if whole:
        return Space("discrete", np.array([values.min()]), np.array([values.max()]))
    return Space("box", values.min(axis=0), values.max(axis=0))
