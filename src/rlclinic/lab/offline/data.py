"""A data set in the learner's terms, checked against its environment, and what its rewards allow."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rlclinic.lab.torchrl.spaces import Spaces
from rlclinic.model.errors import UsageError
from rlclinic.model.transitions import Transitions
from rlclinic.readers.transitions.trace import read_trace

Floats = NDArray[np.float64]
# Beyond the bounds of an action by this much of its range is rounding.
ROUNDING = 1e-3
# Share of steps whose next observation is not the one of the following row, above which episode ends must be missing.
BROKEN = 0.01
# One episode in so many is kept for judging, never for learning.
HELD_OUT = 10
COLUMNS = ("observations", "actions", "rewards", "following", "terminated", "episodes")


@dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """Rows of steps; continuous actions lie in [-1, 1], discrete ones count from 0."""

    observations: Floats
    actions: Floats
    rewards: Floats
    following: Floats
    terminated: NDArray[np.bool_]
    episodes: NDArray[np.int64]
    """From 0 on, in the order of the rows."""

    @property
    def returns(self) -> Floats:
        """Of each episode."""
        return np.asarray(np.bincount(self.episodes, weights=self.rewards), dtype=np.float64)

    @property
    def held_out(self) -> NDArray[np.bool_]:
        """Rows of episodes that are not learned from; none where there are few episodes."""
        return np.asarray(self.episodes % HELD_OUT == HELD_OUT - 1)

    def best(self, share: float) -> NDArray[np.bool_]:
        """Rows of the episodes with the highest returns that hold a share of the steps, at least one episode."""
        order = np.argsort(-self.returns, kind="stable")
        held = np.cumsum(np.bincount(self.episodes)[order])
        return np.isin(self.episodes, order[: int(np.searchsorted(held, share * held[-1])) + 1])

    def level(self, share: float) -> float:
        """Mean return of those episodes."""
        return float(self.returns[np.unique(self.episodes[self.best(share)])].mean())

    def only(self, rows: NDArray[np.bool_]) -> Dataset:
        """Some rows, with their episodes counted anew."""
        _, episodes = np.unique(self.episodes[rows], return_inverse=True)
        return replace(self.at(rows), episodes=np.asarray(episodes))

    def at(self, rows: Any) -> Dataset:
        """Rows by their numbers or a mask."""
        return Dataset(**{name: getattr(self, name)[rows] for name in COLUMNS})

    def values(self, gamma: float) -> Floats:
        """What each step was followed by: its discounted return to the end of the episode."""
        found, after = np.zeros(len(self.rewards)), 0.0
        for row in range(len(self.rewards) - 1, -1, -1):
            last = row + 1 == len(self.rewards) or self.episodes[row + 1] != self.episodes[row]
            after = self.rewards[row] + (0.0 if last else gamma * after)
            found[row] = after
        return found

    def bounds(self, gamma: float) -> tuple[float, float]:
        """The least and the largest value that rewards like these allow: the extreme one at every step, for ever where
        no episode terminates and else for as long as the longest lasted."""
        longest = int(np.bincount(self.episodes).max())
        horizon = 1.0 / (1.0 - gamma) if gamma < 1.0 and not self.terminated.any() else None
        if horizon is None:
            horizon = longest if gamma == 1.0 else (1.0 - gamma**longest) / (1.0 - gamma)
        return min(self.rewards.min(), 0.0) * horizon, max(self.rewards.max(), 0.0) * horizon


def load_dataset(path: Path, spaces: Spaces) -> Dataset:
    """Read a data set; UsageError where its rows cannot come from the environment or nothing can be learned."""
    steps = read_trace(path)
    where, told = str(path), {"path": str(path)}
    width = steps.observations.shape[1]
    if width != spaces.observation_size:
        raise UsageError(
            f"observations have {width} numbers, the environment's {spaces.observation_size}",
            **told, hint="name the environment that the data come from with --env; one data set holds one environment",
        )  # fmt: skip
    for name in ("observations", "actions", "rewards", "next_observations"):
        bad = ~np.isfinite(getattr(steps, name).reshape(len(steps.rewards), -1)).all(axis=1)
        if bad.any():
            raise UsageError(
                f"row {int(bad.argmax())} holds a number that is not finite in its {name}, as {int(bad.sum())} rows do",
                **told, hint="leave those episodes out",
            )  # fmt: skip
    actions = _actions(steps, spaces, where)
    _check_ends(steps, where)
    _, episodes = np.unique(steps.episodes, return_inverse=True)
    found = Dataset(
        steps.observations, actions, steps.rewards, steps.next_observations, steps.terminated, np.asarray(episodes)
    )
    return found.at(np.argsort(episodes, kind="stable"))


def _actions(steps: Transitions, spaces: Spaces, path: str) -> Floats:
    found = steps.actions
    if spaces.n_actions is not None:
        number = found[:, 0] - spaces.first_action
        outside = (number < 0) | (number >= spaces.n_actions) | (number != np.round(number)) | (found.shape[1] != 1)
        allowed = f"whole numbers from {spaces.first_action} to {spaces.first_action + spaces.n_actions - 1}"
        scaled = number
    else:
        low, high = spaces.low.reshape(-1).astype(np.float64), spaces.high.reshape(-1).astype(np.float64)
        if found.shape[1] != low.size:
            raise UsageError(
                f"actions have {found.shape[1]} numbers, the environment's {low.size}",
                path=path, hint="name the environment that the data come from with --env",
            )  # fmt: skip
        unit = 2 * (found - low) / np.maximum(high - low, 1e-12) - 1
        outside = (np.abs(unit) > 1 + ROUNDING).any(axis=1)
        allowed = f"{low.min():g} to {high.max():g}"
        scaled = np.clip(unit, -1.0, 1.0)
    if outside.any():
        row = int(outside.argmax())
        raise UsageError(
            f"{int(outside.sum())} of {len(outside)} actions lie outside the space: {found[row]} in row {row}, allowed "
            f"are {allowed}",
            path=path, hint="store actions as the environment takes them, not as the policy's network gives them",
        )  # fmt: skip
    return np.asarray(scaled, dtype=np.float64)


def _check_ends(steps: Transitions, path: str) -> None:
    """UsageError where no row says that an episode ends, or rows do not follow each other."""
    if not (steps.terminated | steps.truncated).any() and len(np.unique(steps.episodes)) == 1:
        raise UsageError(
            "no row says that an episode ends", path=path,
            hint="store `terminations` and `truncations`, or a column `episodes`: values would flow between episodes",
        )  # fmt: skip
    same = (np.diff(steps.episodes) == 0) & ~(steps.terminated | steps.truncated)[:-1]
    apart = np.abs(steps.next_observations[:-1] - steps.observations[1:]).max(axis=1) > 1e-3
    scale = steps.observations.std(axis=0).max() or 1.0
    broken = same & apart & (np.abs(steps.next_observations[:-1] - steps.observations[1:]).max(axis=1) > 1e-2 * scale)
    if same.any() and broken.sum() > BROKEN * same.sum():
        raise UsageError(
            f"{int(broken.sum())} of {int(same.sum())} steps are followed by a row that begins elsewhere, first after "
            f"row {int(broken.argmax())}",
            path=path, hint="mark the ends of episodes, keep rows in order, keep environments apart",
        )  # fmt: skip
