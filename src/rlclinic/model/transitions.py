"""Steps of an environment as arrays: what was seen, done and paid, in the order in which it happened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.series import FloatArray

SpaceKind = Literal["box", "discrete", "multi", "image", "other"]
"""`multi` is several whole numbers; `image` a picture of which some pixels stand for all."""

IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Space:
    """A flattened space."""

    kind: SpaceKind
    low: FloatArray
    high: FloatArray
    """Of each number; infinite where there is no bound. A discrete space is one number from 0 on."""
    names: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """How many numbers a point has."""
        return int(self.low.size)

    @property
    def whole(self) -> bool:
        """Whether its numbers are choices, not amounts."""
        return self.kind in ("discrete", "multi")

    @property
    def choices(self) -> int:
        """The number of choices of a discrete space; 0 for any other."""
        return int(self.high[0] - self.low[0] + 1) if self.kind == "discrete" else 0

    def name(self, index: int) -> str:
        """What a number is called."""
        return self.names[index] if index < len(self.names) else f"[{index}]"


@dataclass(frozen=True, slots=True, eq=False)
class Transitions:
    """Rows of steps. Rows that follow each other within an episode stand one after the other."""

    observation_space: Space
    action_space: Space
    observations: FloatArray
    """What was seen before the step; one row each."""
    actions: FloatArray
    rewards: FloatArray
    next_observations: FloatArray
    """What was seen after it, the last observation of an ended episode included."""
    terminated: BoolArray
    truncated: BoolArray
    episodes: IntArray
    """Number of the episode, different for each copy of the environment."""
    times: IntArray
    """Steps that the episode had before."""
    copies: IntArray
    """Which of the parallel copies."""
    clock: IntArray
    """Steps that the copy had taken before, over all its episodes."""
    components: Mapping[str, FloatArray] = field(default_factory=dict)
    """Parts of the reward by name; NaN where a step did not tell."""
    distances: Mapping[str, FloatArray] = field(default_factory=dict)
    """The same of what `info` calls a distance or an error."""

    def __post_init__(self) -> None:
        rows = len(self.rewards)
        arrays = (
            self.observations, self.actions, self.next_observations, self.terminated, self.truncated, self.episodes,
            self.times, self.copies, self.clock, *self.components.values(),
            *self.distances.values(),
        )  # fmt: skip
        if any(len(array) != rows for array in arrays):
            raise ValueError("the arrays of transitions have different lengths")

    def __len__(self) -> int:
        return int(self.rewards.size)

    @property
    def ended(self) -> BoolArray:
        """Whether the episode was over after the step."""
        return self.terminated | self.truncated

    @property
    def follows(self) -> BoolArray:
        """Whether a row goes on where the row before it stopped."""
        found = np.zeros(len(self), dtype=bool)
        found[1:] = (np.diff(self.episodes) == 0) & (np.diff(self.times) == 1)
        return found

    def chosen(self, rows: NDArray[np.generic]) -> Transitions:
        """Only these rows."""
        return Transitions(
            self.observation_space, self.action_space, self.observations[rows], self.actions[rows], self.rewards[rows],
            self.next_observations[rows], self.terminated[rows], self.truncated[rows], self.episodes[rows],
            self.times[rows], self.copies[rows], self.clock[rows],
            {name: values[rows] for name, values in self.components.items()},
            {name: values[rows] for name, values in self.distances.items()},
        )  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class EpisodeTable:
    """Every episode that ended, where more are known than their steps."""

    returns: FloatArray
    lengths: FloatArray
    terminated: BoolArray
    first: FloatArray
    """First observation; one row each."""
    last: FloatArray
    copies: IntArray
    discounted: FloatArray

    def __len__(self) -> int:
        return int(self.returns.size)


@dataclass(frozen=True, slots=True, eq=False)
class Observed:
    """What a recorder kept of an environment: a sample of its steps, all its episodes, and totals."""

    environment: str
    transitions: Transitions
    episodes: EpisodeTable
    steps: int
    """Over all copies."""
    not_finite: int = 0
    """Steps with an observation or reward that is no finite number."""
    outside: int = 0
    """Of those looked at, steps whose observation lay outside its space."""
