"""Tables whose reward is not yet a return: one row for every single step, running totals, rewards per step.

Numbers decide where names do not: what adds up to another column is its running total, and what times the length is
another column is a reward per step.
"""

from __future__ import annotations

from itertools import permutations

import numpy as np

from rlclinic.model.series import FloatArray
from rlclinic.readers.axes import counted
from rlclinic.readers.columns import renamed, without
from rlclinic.readers.formats.tables.table import Table
from rlclinic.readers.guess import AVERAGE, EPISODE, REWARD, is_of_a_step
from rlclinic.readers.return_names import is_return
from rlclinic.readers.words import words

# Rows of an episode, on average, from which on they are its steps.
STEPS_OF_AN_EPISODE = 3.0
# Fewer rows show no relation between columns.
ENOUGH_ROWS = 5
# Pairs of columns that are compared.
MAX_RETURNS = 6
ENDS = ("done", "terminated", "terminal", "dones", "is_done")


def per_episode(table: Table) -> tuple[Table, str]:
    """A table of single steps as one of episodes, and what to say about it; others as they are."""
    names = [name for name in table.numbers if set(words(name)) <= REWARD | {"r", "step"} and is_return(name)]
    episode = next((name for name in table.numbers if counted(name) == "episodes"), "")
    acted = any(map(is_of_a_step, (*table.numbers, *table.texts)))
    bounds = _bounds(table, episode, acted=acted) if names else None
    if bounds is None:
        if not names or not acted or _whole(table):
            return table, ""
        return renamed(table, {name: f"{name} of a step" for name in names}), f"{names[0]} is of single steps"
    totals = {name: np.add.reduceat(np.nan_to_num(table.numbers[name]), bounds) for name in names}
    last = np.append(bounds[1:], table.rows) - 1
    numbers = {name: column[last] for name, column in table.numbers.items() if name not in totals}
    numbers |= {f"episode {name}": values for name, values in totals.items()}
    numbers |= {"episode length": np.diff(np.append(bounds, table.rows)).astype(np.float64)}
    note = f"{table.rows} rows of single steps: {names[0]} is summed over each of {bounds.size} episodes"
    return Table(tuple(numbers), bounds.size, numbers, {}, {}), note


def without_derived(table: Table) -> tuple[Table, list[str]]:
    """The table without running totals and rewards per step of returns that it has as well."""
    found = [name for name in table.numbers if is_return(name)][:MAX_RETURNS]
    notes: dict[str, str] = {}
    for name, other in permutations(found, 2):
        values, total = table.numbers[name], table.numbers[other]
        if table.rows < ENOUGH_ROWS or not np.isfinite(values).all() or not np.isfinite(total).all():
            continue
        if _same(np.diff(total), values[1:]) and not _same(total, values):
            notes[other] = f"{other} is the running total of {name}, left out"
        elif any(_same(total * size, values) and not _same(total, values) for size in _sizes(table)):
            notes[other] = f"{other} is {name} per step, left out"
    return without(table, *notes) if notes else table, list(notes.values())


def _bounds(table: Table, episode: str, *, acted: bool) -> np.ndarray[tuple[int], np.dtype[np.intp]] | None:
    """Where episodes begin; None where the rows are no single steps, or nothing says to which episode they belong."""
    if episode:
        column = table.numbers[episode]
        begins = np.append(0, np.flatnonzero(np.diff(column) != 0) + 1)
        restarts = any(
            counted(name) == "env_steps" and _restarts(values, begins) for name, values in table.numbers.items()
        )
        return begins if (acted or restarts) and table.rows >= STEPS_OF_AN_EPISODE * begins.size else None
    end = next((table.numbers[name] for name in table.numbers if name.lower() in ENDS), None)
    if end is None or not acted or not 1 < np.nansum(end) <= table.rows / STEPS_OF_AN_EPISODE:
        return None
    begins = np.append(0, np.flatnonzero(end > 0) + 1)
    return begins[begins < table.rows]


def _restarts(values: FloatArray, begins: np.ndarray[tuple[int], np.dtype[np.intp]]) -> bool:
    return begins.size > 1 and bool((values[begins[1:]] < values[begins[1:] - 1]).mean() > 0.5)


def _whole(table: Table) -> bool:
    """Whether another column says what episodes came to."""
    return any(set(words(name)) & (EPISODE | AVERAGE) and is_return(name) for name in table.numbers)


def _sizes(table: Table) -> list[FloatArray]:
    lengths = ("step", "steps", "length", "len", "lengths", "timesteps", "l")
    return [column for name, column in table.numbers.items() if (words(name) or ("",))[-1] in lengths]


def _same(first: FloatArray, second: FloatArray) -> bool:
    """Whether two columns agree up to the digits that logs round to."""
    return bool(np.allclose(first, second, rtol=0.01, atol=0.02 * float(np.nanstd(second) or 1e-9)))
