"""One metric of a run: values over steps, as frozen float64 arrays."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rlclinic.model.lazy_dataclass import dataclass

FloatArray = NDArray[np.float64]

StepAxis = Literal["env_steps", "updates", "iterations", "epochs", "episodes", "tokens", "seconds", "rows"]


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """One metric over time.

    A point that was not logged is not there: gaps stay gaps. A value that was logged as NaN or Inf is
    a point with that value. Steps never decrease; several points may share a step.
    """

    name: str
    """Canonical name of the vocabulary, or the logged name where the vocabulary has none."""
    logged_as: str
    steps: FloatArray
    values: FloatArray
    axis: StepAxis = "env_steps"
    """What `steps` counts."""
    wall_times: FloatArray | None = None
    """Unix seconds of each point, where the log has them."""
    known: bool = False
    """Whether the name is one of the vocabulary."""
    estimator: str = ""
    """How the framework computes it, where that differs between frameworks (k1 or k3, clipped, ...)."""
    window: str = ""
    """Over what it is averaged before it is logged (last 100 episodes, last minibatch, ...)."""
    decimals: int | None = None
    """Decimals the writer rounded to: with 3, a value of 0.0 means anything below 0.0005."""
    caveat: str = ""
    """Why the value does not mean what its name says, where that is known."""
    source: str = ""
    """File the points come from, relative to the run."""

    def __post_init__(self) -> None:
        for field in ("steps", "values", "wall_times"):
            array = getattr(self, field)
            if array is not None:
                object.__setattr__(self, field, _frozen(array))
        if self.steps.shape != self.values.shape:
            raise ValueError(f"{self.name}: {self.steps.size} steps but {self.values.size} values")
        if self.wall_times is not None and self.wall_times.shape != self.values.shape:
            raise ValueError(f"{self.name}: {self.wall_times.size} wall times but {self.values.size} values")

    def __len__(self) -> int:
        return int(self.values.size)

    @property
    def last(self) -> float | None:
        """The last finite value."""
        if self.values.size and np.isfinite(self.values[-1]):
            return float(self.values[-1])
        finite = self.values[np.isfinite(self.values)]
        return float(finite[-1]) if finite.size else None

    @property
    def highest(self) -> float | None:
        """The largest finite value."""
        finite = self.values[np.isfinite(self.values)]
        return float(finite.max()) if finite.size else None

    @property
    def last_step(self) -> float | None:
        """The step of the last point."""
        return float(self.steps[-1]) if self.steps.size else None


def _frozen(array: FloatArray) -> FloatArray:
    if not array.flags.writeable and array.flags.c_contiguous and array.ndim == 1 and array.dtype == np.float64:
        return array
    result = np.ascontiguousarray(array, dtype=np.float64)
    if result.ndim != 1:
        raise ValueError(f"a series has one dimension, not {result.ndim}")
    if result is array and result.flags.writeable:
        result = result.copy()
    result.flags.writeable = False
    return result
