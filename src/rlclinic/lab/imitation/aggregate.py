"""The labelled states of all rounds."""

from __future__ import annotations

from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rlclinic.model.lazy_dataclass import dataclass

Floats = NDArray[np.float64]
# One state in so many is kept for judging, never for fitting.
HELD_OUT = 10


@dataclass
class Aggregate:
    """Rows of states with their labels, the round and the episode in which they were seen."""

    states: list[NDArray[Any]] = field(default_factory=list)
    labels: list[NDArray[Any]] = field(default_factory=list)
    rounds: list[int] = field(default_factory=list)
    episodes: list[int] = field(default_factory=list)

    def add(self, state: NDArray[Any], label: NDArray[Any], round_: int, episode: int) -> None:
        """One labelled state."""
        self.states.append(state)
        self.labels.append(np.asarray(label))
        self.rounds.append(round_)
        self.episodes.append(episode)

    def __len__(self) -> int:
        return len(self.rounds)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All rows, as arrays that can be written."""
        return {
            "states": np.asarray(self.states, dtype=np.float32),
            "labels": np.asarray(self.labels),
            "rounds": np.asarray(self.rounds, dtype=np.int64),
            "episodes": np.asarray(self.episodes, dtype=np.int64),
        }

    @classmethod
    def of(cls, arrays: dict[str, NDArray[Any]]) -> Aggregate:
        """The rows that `arrays` gave."""
        return cls(
            list(arrays["states"]), list(arrays["labels"]), arrays["rounds"].tolist(), arrays["episodes"].tolist()
        )
