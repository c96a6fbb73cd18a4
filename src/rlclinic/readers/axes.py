"""Step axes: which column holds the step, what it counts, and how it becomes env steps."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from rlclinic.model.config import Config
from rlclinic.model.numbers import bounded_array, number
from rlclinic.model.series import FloatArray, StepAxis
from rlclinic.readers.draft import RawTable
from rlclinic.readers.words import english, words
from rlclinic.reference.framework import Framework
from rlclinic.reference.patterns import matches

# A step below this share of the highest before it starts a new training; less far back it is a resumed one.
NEW_TRAINING = 0.05
# Trainings in one table; a step that starts again more often counts within episodes or epochs.
MAX_TRAININGS = 8
# Columns that home-made logs use, best first. A plain `step` counts what the framework's steps count.
GENERIC_COLUMNS: tuple[tuple[str, StepAxis | None], ...] = (
    ("total_env_steps", "env_steps"),
    ("num_env_steps", "env_steps"),
    ("env_steps", "env_steps"),
    ("env_step", "env_steps"),
    ("global_step", None),
    ("total_timesteps", "env_steps"),
    ("timesteps_total", "env_steps"),
    ("num_timesteps", "env_steps"),
    ("timesteps", "env_steps"),
    ("timestep", "env_steps"),
    ("total_steps", "env_steps"),
    ("total_num_steps", "env_steps"),
    ("step_count", "env_steps"),
    ("num_steps", "env_steps"),
    ("total_frames", "env_steps"),
    ("frames", "env_steps"),
    ("frame", "env_steps"),
    ("step", None),
    ("steps", None),
    ("Step", None),
    ("update", "updates"),
    ("updates", "updates"),
    ("n_updates", "updates"),
    ("training_iteration", "iterations"),
    ("iteration", "iterations"),
    ("iterations", "iterations"),
    ("iter", "iterations"),
    ("itr", "iterations"),
    ("global_episode", "episodes"),
    ("episode", "episodes"),
    ("Episode", "episodes"),
    ("episodes", "episodes"),
    ("ep", "episodes"),
    ("epoch", "epochs"),
    ("Epoch", "epochs"),
    ("_step", None),
)

# What a name counts by its last word, what counts finest first.
COUNTED: Mapping[StepAxis, frozenset[str]] = {
    "env_steps": frozenset({"step", "steps", "timestep", "timesteps", "numsteps", "frame", "frames", "t", "ts",
                            "interacts", "interactions", "sofar"}),
    "updates": frozenset({"update", "updates"}),
    "iterations": frozenset({"iteration", "iterations", "iter", "iters", "itr", "generation", "generations", "gen"}),
    # A rising whole number called `eps` counts episodes; an epsilon falls.
    "episodes": frozenset({"episode", "episodes", "ep", "epi", "episod", "game", "games", "trial", "trials", "round",
                           "rounds", "match", "run", "eps"}),
    "epochs": frozenset({"epoch", "epochs"}),
}  # fmt: skip
# Words behind a counter that change nothing, and words with which it is a size, a rate or a time.
_NUMBERING = frozenset({"num", "number", "no", "nr", "count", "idx", "index", "id", "done", "total", "n", "so", "far",
                        "env"})  # fmt: skip
_SIZED = frozenset(
    {"per", "len", "length", "reward", "rewards", "loss", "time", "mean", "avg", "average", "max", "min", "rate",
     "size", "return", "score", "std", "last", "seconds", "speed", "this", "best", "since", "after", "every", "left"}
)  # fmt: skip
# Steps of the optimiser, not of the environment.
_TRAINED = frozenset({"training", "gradient", "grad", "learner", "optimizer", "optimiser"})
# Share of the rows in which a clock may go back without restarting, and of its way that may lead back.
BACKWARD, BACKWARD_WAY = 0.1, 0.2


@lru_cache(maxsize=4096)
def counted(name: str) -> StepAxis | None:
    """What a name counts by its words; None where it names no count. `episode steps` are the length of one."""
    found = [word for word in words(name) if word not in _NUMBERING] or list(words(name))
    if not found or _SIZED & set(found):
        return None
    axis = next((axis for axis, nouns in COUNTED.items() if found[-1] in nouns), None)
    if axis == "env_steps" and _TRAINED & set(found):
        return "updates"
    return None if axis == "env_steps" and COUNTED["episodes"] & set(found) else axis


def logged_axis(name: str, tables: Framework) -> StepAxis:
    """What the step of an event of this name counts."""
    for pattern, axis in tables.steps.exceptions:
        if matches(pattern, name):
            return axis  # type: ignore[return-value]
    return tables.steps.axis  # type: ignore[return-value]


def table_steps(raw: RawTable, tables: Framework) -> tuple[str, FloatArray, StepAxis]:
    """The step of every row of a table: the column it comes from, the values, what they count."""
    numbers = raw.table.numbers
    framework_axis: StepAxis = tables.steps.axis  # type: ignore[assignment]
    candidates = [(name, tables.steps.column_axis) for name in tables.steps.columns]
    generic = [(name, axis or raw.axis or framework_axis) for name, axis in GENERIC_COLUMNS]
    # Headers write the same words in their own way: `Total steps`, `Episode #`.
    written = {plain(name): name for name in reversed(list(numbers))}
    generic = [(name if name in numbers else written.get(plain(name), name), axis) for name, axis in generic]
    for name, axis in (*candidates, *generic):
        column = numbers.get(name)
        if column is not None and _is_step_column(column := bounded_array(column)):
            return name, _filled(column), axis  # type: ignore[return-value]
    found = clock(numbers)
    if found is not None:
        return found[0], _filled(bounded_array(numbers[found[0]])), found[1]
    if raw.axis is None and any(map(_of_one_episode, numbers)):
        return "", np.arange(raw.table.rows, dtype=np.float64), "episodes"
    return "", np.arange(raw.table.rows, dtype=np.float64), raw.axis or "rows"


def clock(numbers: Mapping[str, FloatArray]) -> tuple[str, StepAxis] | None:
    """The column that counts what the rows stand for, by the words of its name and by its rise."""
    named = [(axis, name) for name in numbers if (axis := counted(name)) is not None]
    ranked = sorted(named, key=lambda pair: list(COUNTED).index(pair[0]))
    found = [(name, axis) for axis, name in ranked if _is_step_column(bounded_array(numbers[name]))]
    # Lengths of episodes may rise most of the time: what never goes back beside them counts.
    return next((pair for pair in found if _never_back(numbers[pair[0]])), next(iter(found), None))


def _of_one_episode(name: str) -> bool:
    """Whether a name is of what one whole episode came to; a list of `rewards` has one for each."""
    found = set(words(name))
    if found & {"mean", "avg", "average", "max", "min", "std"}:
        return False
    lists = found & {"rewards", "returns", "scores"}
    return bool(lists or (found & {"episode", "episodic", "ep"} and found & {"reward", "return", "score"}))


def env_step_factor(tables: Framework, config: Config) -> float | None:
    """By what the logged step has to be multiplied to get env steps; None where that is not known."""
    if tables.steps.axis == "env_steps" and not tables.steps.times:
        return 1.0
    if not tables.steps.times:
        return None
    factors = [config.number(name) for name in tables.steps.times]
    return None if any(factor is None for factor in factors) else number(math.prod(f for f in factors if f))


def in_written_order(steps: FloatArray) -> tuple[NDArray[np.intp] | slice, int]:
    """Which points stay when a resumed run wrote some steps twice, and how many were overwritten.

    A point whose step is no number stands nowhere and does not stay.

    The later writing wins: where the steps go back, older points from that step on go. Where that would
    cost more than half of the points the log is merely unsorted, and all stay.
    """
    # NaN is not above anything, so that steps in order between finite ends are all finite.
    if not steps.size or (
        math.isfinite(steps[0]) and math.isfinite(steps[-1]) and np.logical_and.reduce(steps[1:] >= steps[:-1])
    ):
        return slice(None), 0
    known = np.isfinite(steps)
    if not known.all():
        order, dropped = in_written_order(steps[known])
        return np.flatnonzero(known)[order], dropped
    back = np.append(steps[1:] < steps[:-1], False)
    restarts = np.where(back, np.append(steps[1:], np.inf), np.inf)
    keep = steps < np.minimum.accumulate(restarts[::-1])[::-1]
    dropped = int(steps.size - keep.sum())
    jumps = int(back.sum())
    if dropped * 2 > steps.size and jumps > 3:
        return np.argsort(steps, kind="stable"), 0
    return np.flatnonzero(keep), dropped


def trainings(steps: FloatArray) -> list[slice]:
    """The rows of each training that a table holds, where the step starts again; a step that often does is no clock."""
    starts = [0]
    while len(starts) <= MAX_TRAININGS:
        rest = steps[starts[-1] :]
        back = np.flatnonzero(rest < NEW_TRAINING * np.maximum.accumulate(rest))
        if not back.size:
            break
        starts.append(starts[-1] + int(back[0]))
    if len(starts) > MAX_TRAININGS:
        return [slice(0, steps.size)]
    return [slice(start, end) for start, end in zip(starts, [*starts[1:], steps.size], strict=True)]


def plain(name: str) -> str:
    """A name in lower case and English, with lines between its words."""
    return english(name).lower().strip(" #").replace(" ", "_")


def _is_step_column(column: FloatArray) -> bool:
    finite = column[np.isfinite(column)]
    if not finite.size or finite.min() < 0:
        return False
    moves = np.diff(finite)
    # A short training may follow a long one: most rows rise all the same.
    if finite.size > 1 and not (finite[-1] > finite[0] or np.median(moves) > 0):
        return False
    back = moves < 0
    few = int(back.sum()) <= max(MAX_TRAININGS, BACKWARD * moves.size) and int(back.sum()) < 0.5 * moves.size
    return finite.size == 1 or few or -float(moves[back].sum()) < BACKWARD_WAY * float(np.abs(moves).sum())


def _never_back(column: FloatArray) -> bool:
    return bool((np.diff(column[np.isfinite(column)]) >= 0).all())


def _filled(column: FloatArray) -> FloatArray:
    """Rows without a step take the last one before them; rows before the first take the first."""
    known = np.isfinite(column)
    if known.all():
        return column
    last = np.maximum.accumulate(np.where(known, np.arange(column.size), -1))
    last[last < 0] = int(np.argmax(known))
    return np.asarray(column[last], dtype=np.float64)
