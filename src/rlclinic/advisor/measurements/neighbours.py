"""What recorded steps in nearly the same state say: how random the behaviour was, what it tried, how chance acts.

Neighbours are looked for in other episodes: steps of one episode follow each other and would agree by themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from rlclinic.facts.environment.regression import encoded
from rlclinic.model.series import FloatArray
from rlclinic.model.transitions import Transitions

NEAR = 16
"""Neighbours of a step."""
LOOKED_AT = 6
"""Times as many are looked at, as those of the same episode do not count."""
QUERIES = 2000
KEPT_ROWS = 40_000
MOST_DIMENSIONS = 8
"""Beyond these, states are projected to the directions in which they vary most: all points are far apart there."""
ACTION_BINS = 5
FEWEST = 50


@dataclass(frozen=True)
class Neighbours:
    """The steps of a data set with those that are near some of them."""

    steps: Transitions
    seed: int = 0

    @cached_property
    def states(self) -> FloatArray:
        """States in units of their spread, in few dimensions."""
        return projected(encoded(self.steps.observation_space, self.steps.observations))

    @cached_property
    def actions(self) -> FloatArray:
        """Actions in units of what could be done: choices one by one, amounts over their range."""
        return self._scaled(self.steps.actions)

    @cached_property
    def found(self) -> NDArray[np.int64]:
        """For some rows those near each in other episodes."""
        return self.near(np.ones(len(self.steps), dtype=bool))

    @cached_property
    def queries(self) -> NDArray[np.int64]:
        """Rows to ask about, drawn once."""
        rng = np.random.default_rng(self.seed)
        return np.sort(rng.choice(len(self.steps), min(QUERIES, len(self.steps)), replace=False))

    def near(self, among: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Among certain rows, those near each of some; what has too few neighbours in other episodes is left out."""
        pool, queries = np.flatnonzero(among), self.queries[among[self.queries]]
        pool = pool[:: max(1, len(pool) // KEPT_ROWS)]
        count = min(NEAR * LOOKED_AT, len(pool))
        if count < NEAR or not len(queries):
            return np.empty((0, NEAR), dtype=np.int64)
        rows = pool[cKDTree(self.states[pool]).query(self.states[queries], k=count)[1]]
        foreign = self.steps.episodes[rows] != self.steps.episodes[queries][:, None]
        order = np.argsort(~foreign, axis=1, kind="stable")[:, :NEAR]
        nearest: NDArray[np.int64] = np.take_along_axis(rows, order, axis=1)[foreign.sum(axis=1) >= NEAR]
        return nearest

    @cached_property
    def randomness(self) -> float | None:
        """How random actions are where the state is nearly the same: 0 one action, 1 as random as can be."""
        return self._random(self.found)

    def randomness_among(self, rows: NDArray[np.bool_]) -> float | None:
        """The same within a part of the episodes."""
        return self._random(self.near(rows))

    def _random(self, near: NDArray[np.int64]) -> float | None:
        if len(near) < FEWEST:
            return None
        spread, most = self.actions[near].var(axis=1).sum(axis=1), self._most_random
        # Choices: Gini index of the neighbours' actions over that of even choice; amounts: variance over uniform.
        return float(np.clip(spread.mean() * NEAR / (NEAR - 1) / most, 0.0, 1.0)) if most > 0 else 0.0

    @cached_property
    def disagreement(self) -> float | None:
        """Variance of actions in nearly the same state over their variance in all."""
        near = self.found
        total = float(self.actions.var(axis=0).sum())
        if len(near) < FEWEST or total <= 0:
            return None
        return float(np.clip(self.actions[near].var(axis=1).sum(axis=1).mean() * NEAR / (NEAR - 1) / total, 0.0, 1.0))

    @cached_property
    def coverage(self) -> float | None:
        """Different pairs of state and action over those that random actions in the same states would make."""
        count = len(self.steps)
        if count < FEWEST:
            return None
        done, drawn = (
            len(np.unique(np.stack([self._state_cells, self._action_cells(actions)]), axis=1)[0])
            for actions in (self.actions, self._uniform_actions())
        )
        return min(done / drawn, 1.0)

    @cached_property
    def chance(self) -> float | None:
        """At most this share of what follows a step is chance: how far the next states of the nearest two are apart."""
        if len(self.steps) < FEWEST or not len(self.found):
            return None
        both = np.concatenate([self.states, self.actions], axis=1)
        moved = self.steps.next_observations - self.steps.observations
        total = moved.var(axis=0)
        live = total > 1e-12
        pool = np.arange(0, len(both), max(1, len(both) // KEPT_ROWS))
        _, at = cKDTree(both[pool]).query(both[self.queries], k=min(2, len(pool)))
        other = pool[np.atleast_2d(at)[:, -1]]
        if not live.any():
            return None
        apart = ((moved[self.queries] - moved[other]) ** 2).mean(axis=0)[live] / 2.0 / total[live]
        return float(np.clip(np.median(apart), 0.0, 1.0))

    def outside(self, actions: FloatArray) -> float:
        """Share of other actions for the queries that are further from the data than 95% of the data are."""
        spread = np.maximum(self.actions.std(axis=0), 1e-3)
        both = np.concatenate([self.states, self.actions / spread], axis=1)
        pool = np.arange(0, len(both), max(1, len(both) // KEPT_ROWS))
        tree = cKDTree(both[pool])
        own, _ = tree.query(both[self.queries], k=[2])
        theirs = np.concatenate([self.states[self.queries], self._scaled(actions) / spread], axis=1)
        far, _ = tree.query(theirs, k=[1])
        return float((far > np.quantile(own, 0.95) + 1e-9).mean())

    def _scaled(self, actions: FloatArray) -> FloatArray:
        space = self.steps.action_space
        rows = encoded(space, actions)
        width = np.where(space.high > space.low, space.high - space.low, 1.0)
        return rows if space.whole else (rows - space.low) / width

    @property
    def _most_random(self) -> float:
        space = self.steps.action_space
        if not space.whole:
            return float((space.high > space.low).sum()) / 12.0
        return float((1.0 - 1.0 / np.maximum(1.0, space.high - space.low + 1.0)).sum())

    @cached_property
    def _state_cells(self) -> NDArray[np.int64]:
        """Cells of about 25 steps each, in the three directions of the largest spread."""
        few = self.states[:, :3]
        bins = int(np.clip((len(few) / 25.0) ** (1.0 / max(few.shape[1], 1)), 2, 20))
        return _cells(few, bins)

    def _action_cells(self, actions: FloatArray) -> NDArray[np.int64]:
        if self.steps.action_space.whole:
            return (actions[:, :32] @ 2.0 ** np.arange(min(actions.shape[1], 32))).astype(np.int64)
        return _cells(np.clip(actions[:, :3], 0.0, 1.0), ACTION_BINS)

    def _uniform_actions(self) -> FloatArray:
        rng, space = np.random.default_rng(self.seed), self.steps.action_space
        if space.whole:
            return self._scaled(np.floor(rng.uniform(space.low, space.high + 1.0, self.steps.actions.shape)))
        return rng.random(self.actions.shape)


def projected(rows: FloatArray) -> FloatArray:
    """Rows in units of their spread, in the directions of the largest spread where there are many."""
    spread = rows.std(axis=0)
    plain = (rows - rows.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    plain = np.clip(np.nan_to_num(plain), -10.0, 10.0)
    _, bends = np.linalg.eigh(np.atleast_2d(np.cov(plain, rowvar=False)))
    turned: FloatArray = plain @ bends[:, ::-1][:, :MOST_DIMENSIONS]
    return turned


def _cells(rows: FloatArray, bins: int) -> NDArray[np.int64]:
    low, high = rows.min(axis=0), rows.max(axis=0)
    places = ((rows - low) / np.where(high > low, high - low, 1.0) * bins).clip(0, bins - 1).astype(np.int64)
    found: NDArray[np.int64] = places @ (bins ** np.arange(rows.shape[1]))
    return found
