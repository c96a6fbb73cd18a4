"""How far a policy is from its data: actions and states that the data do not show."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from rlclinic.lab.offline.data import Dataset, Floats

# Rows of the data that are compared with, and states by which a policy is measured.
NEIGHBOURS, SAMPLE = 4_000, 512
# Share of the data's own rows that count as near to the others.
USUAL = 0.95


class Support:
    """Distances to the nearest rows of the data, as a share of what is usual among the data themselves."""

    def __init__(self, data: Dataset, n_actions: int | None, random: np.random.Generator) -> None:
        chosen = random.permutation(len(data.rewards))[:NEIGHBOURS]
        self.mean, spread = data.observations.mean(axis=0), data.observations.std(axis=0)
        self.spread = np.where(spread > 1e-6, spread, 1.0)
        self.n_actions = n_actions
        self.states = self._scaled(data.observations[chosen])
        self.pairs = self._pairs(self.states, data.actions[chosen])
        self.near_state = _usual(self.states)
        self.near_pair = _usual(self.pairs)

    def states_outside(self, observations: Floats) -> float:
        """Share of states that are farther from the data than the data are among themselves."""
        return float(np.mean(_nearest(self._scaled(observations), self.states) > self.near_state))

    def pairs_outside(self, observations: Floats, actions: Floats) -> float:
        """The same of actions in their states."""
        pairs = self._pairs(self._scaled(observations), actions)
        return float(np.mean(_nearest(pairs, self.pairs) > self.near_pair))

    def _scaled(self, observations: Floats) -> Floats:
        return np.asarray((observations - self.mean) / self.spread)

    def _pairs(self, states: Floats, actions: Floats) -> Floats:
        """An action weighs as much as a whole state, or its distance would drown in that of many observations."""
        if self.n_actions is not None:
            known = np.eye(self.n_actions)[actions.astype(np.int64).reshape(-1)]
        else:
            known = actions.reshape(len(states), -1)
        return np.concatenate([states, known * np.sqrt(states.shape[1] / known.shape[1])], axis=1)


def _nearest(rows: Floats, others: Floats, rank: int = 1) -> Floats:
    return np.asarray(cKDTree(others).query(rows, k=[rank])[0][:, 0])


def _usual(rows: Floats) -> float:
    # The nearest of each is itself.
    return float(np.quantile(_nearest(rows, rows, rank=2), USUAL)) if len(rows) > 1 else np.inf
