"""The labelled states of all rounds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

# One state in so many is kept for judging, never for fitting.
HELD_OUT = 10
KINDS = {"states": np.float32, "labels": None, "rounds": np.int64, "episodes": np.int64}


class Aggregate:
    """Rows of states with their labels, the round and the episode in which they were seen."""

    def __init__(self, arrays: dict[str, NDArray[Any]] | None = None) -> None:
        self.columns: dict[str, list[Any]] = {name: list(arrays[name]) if arrays else [] for name in KINDS}

    def add(self, *row: Any) -> None:
        """One labelled state, its round and its episode."""
        for values, value in zip(self.columns.values(), row, strict=True):
            values.append(value)

    def __len__(self) -> int:
        return len(self.columns["rounds"])

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All rows, as arrays that can be written and read again."""
        return {name: np.asarray(values, dtype=KINDS[name]) for name, values in self.columns.items()}
