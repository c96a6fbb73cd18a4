"""Points of Gymnasium spaces as rows of numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rlclinic.model.series import FloatArray
from rlclinic.model.transitions import Space

MOST_NUMBERS = 512
"""Numbers of a point from which on it is taken for an image, of which some stand for all."""
PIXELS = 64

Flatten = Callable[[Any], FloatArray]


def flat(space: Any) -> tuple[Space, Flatten]:
    """The flattened space, and the function that flattens its points. Unknown spaces have no numbers."""
    kind = type(space).__name__
    if kind == "Discrete":
        start = float(space.start)
        bounds = np.array([start]), np.array([start + float(space.n) - 1.0])
        return Space("discrete", *bounds), lambda point: np.array([float(point)])
    if kind == "MultiDiscrete":
        counts = np.asarray(space.nvec, dtype=np.float64).ravel()
        low = np.asarray(getattr(space, "start", np.zeros_like(counts)), dtype=np.float64).ravel()
        return Space("multi", low, low + counts - 1.0), _ravel
    if kind == "MultiBinary":
        count = int(np.prod(space.shape))
        return Space("multi", np.zeros(count), np.ones(count)), _ravel
    if kind == "Box":
        return _box(space)
    if kind in ("Dict", "Tuple"):
        return _parts(space)
    return Space("other", np.zeros(0), np.zeros(0)), lambda point: np.zeros(0)


def _box(space: Any) -> tuple[Space, Flatten]:
    low, high = (np.asarray(end, dtype=np.float64).ravel() for end in (space.low, space.high))
    picture = space.dtype == np.uint8 and len(space.shape) >= 2
    if not picture and low.size <= MOST_NUMBERS:
        return Space("box", low, high), _ravel
    places = np.unique(np.linspace(0, low.size - 1, PIXELS).astype(int))
    names = tuple(f"pixel {place}" for place in places)

    def pixels(point: Any) -> FloatArray:
        found: FloatArray = np.asarray(point).ravel()[places].astype(np.float64)
        return found

    return Space("image", low[places], high[places], names), pixels


def _parts(space: Any) -> tuple[Space, Flatten]:
    members = space.spaces.items() if isinstance(space.spaces, Mapping) else enumerate(space.spaces)
    parts = [(key, *flat(member)) for key, member in members]
    known = [(key, part, flatten) for key, part, flatten in parts if part.size]
    kinds = {part.kind for _, part, _ in known}
    kind = "image" if "image" in kinds else "multi" if kinds <= {"discrete", "multi"} and kinds else "box"
    names = tuple(
        f"{key}" if part.size == 1 else f"{key}{part.name(index)}"
        for key, part, _ in known
        for index in range(part.size)
    )
    empty = np.zeros(0)
    low = np.concatenate([part.low for _, part, _ in known] or [empty])
    high = np.concatenate([part.high for _, part, _ in known] or [empty])

    def join(point: Any) -> FloatArray:
        return np.concatenate([flatten(point[key]) for key, _, flatten in known] or [empty])

    return Space(kind, low, high, names), join  # type: ignore[arg-type]


def _ravel(point: Any) -> FloatArray:
    return np.asarray(point, dtype=np.float64).ravel()
