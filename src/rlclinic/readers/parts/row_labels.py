"""Tables whose rows do not all belong together: two evaluators, train and test, several seeds, one row per metric.

A text column says whose row it is; a column `seed` or `run` with several values means several trainings.
"""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.readers.axes import GENERIC_COLUMNS
from rlclinic.readers.columns import renamed
from rlclinic.readers.formats.tables.table import Table
from rlclinic.readers.guess import EVALUATION, TRAINING, guess

# More than this many labels are data, not a few sources of rows.
MAX_LABELS = 8
MAX_TRAININGS = 100
TRAININGS = ("seed", "run", "run_id", "trial", "trial_id", "repetition")
# Column of metric names beside one column of values.
METRIC_COLUMNS = ("metric", "tag", "metric_name", "key")
VALUE = "value"
# Folders of an evaluator's own log; `test` would be the name of many a run.
EVALUATORS = frozenset({"evaluator", "evaluation", "eval", "eval_loop"})
_LABEL = re.compile(r"type|mode|phase|split|stage|evaluator|policy|kind", re.IGNORECASE)
_PROGRESS = re.compile(r"(\d{1,15})/(\d{1,15})")
_WORDS = re.compile(r"[a-z]+")
_STEPS = frozenset(name for name, _ in GENERIC_COLUMNS)
_OF_AN_EPISODE = frozenset({"return/train", "episode_length"})


@dataclass(frozen=True, slots=True)
class Split:
    """The parts of a table, and what the user should know of it."""

    tables: tuple[Table, ...]
    notes: tuple[str, ...] = ()
    budget: float | None = None


def split_rows(table: Table, source: str, member: str = "") -> Split:
    """The table by what its rows belong to; most tables stay whole."""
    table, budget = _progress(table)
    table, note = _one_training(table, member)
    notes = (note,) if note else ()
    for name, labels in table.texts.items():
        values = [value for value in dict.fromkeys(labels) if value]
        if name in METRIC_COLUMNS and VALUE in table.numbers and len(values) <= MAX_TRAININGS:
            return Split(tuple(_metric(table, name, value) for value in values), notes, budget)
        if _LABEL.search(name) and 1 < len(values) <= MAX_LABELS:
            told = f"rows of {len(values)} kinds by {name}: {', '.join(values)}"
            return Split(_labelled(table, name, values), (*notes, told), budget)
    return Split((_evaluations(table, source),), notes, budget)


def _labelled(table: Table, name: str, values: list[str]) -> tuple[Table, ...]:
    """One table for each label; the one with most rows keeps its names where the label tells no phase."""
    labels = np.array(table.texts[name])
    main = max(values, key=lambda value: int((labels == value).sum()))
    parts = []
    for value in values:
        words = set(_WORDS.findall(value.lower()))
        prefix = "eval" if words & EVALUATION else "train" if words & TRAINING else "" if value == main else value
        part = _rows(table, labels == value)
        parts.append(_prefixed(part, prefix) if prefix else part)
    return tuple(parts)


def _metric(table: Table, name: str, value: str) -> Table:
    part = _rows(table, np.array(table.texts[name]) == value)
    return renamed(part, {VALUE: value})


def _one_training(table: Table, member: str) -> tuple[Table, str]:
    for name in TRAININGS:
        column = table.numbers.get(name)
        found = np.unique(column[np.isfinite(column)]) if column is not None else np.zeros(0)
        if column is None or not 1 < found.size <= MAX_TRAININGS:
            continue
        if found.size == column.size and _STEPS & table.numbers.keys():
            # Every episode draws a seed of its own: one training.
            continue
        sizes = {f"{name}={value:g}": column == value for value in found}
        chosen = member if member in sizes else max(sizes, key=lambda key: int(sizes[key].sum()))
        note = f"{found.size} trainings by {name}; this is {chosen}, name another as FILE::{name}=NUMBER"
        return _rows(table, sizes[chosen]), note
    return table, ""


def _progress(table: Table) -> tuple[Table, float | None]:
    """`global_step/max_steps: 12/438` holds the step and the budget, `current_steps` stands beside `total_steps`."""
    for name, cells in table.texts.items():
        found = [_PROGRESS.fullmatch(cell.strip()) for cell in cells] if "step" in name.lower() else []
        if sum(match is not None for match in found) * 2 > len(cells) > 0:
            steps = np.array([float(match[1]) if match else np.nan for match in found])
            budget = max(float(match[2]) for match in found if match)
            names = dict(table.numbers) | {name.partition("/")[0]: steps}
            missing = dict(table.missing) | {name.partition("/")[0]: np.isnan(steps)}
            return replace(table, numbers=names, missing=missing), budget
    total = table.numbers.get("total_steps")
    counted = "current_steps" in table.numbers and total is not None and total.size and np.isfinite(total[-1])
    return table, float(total[-1]) if counted and total is not None else None


def _evaluations(table: Table, source: str) -> Table:
    """The columns of eval.csv or evaluator/logs.csv are evaluations, though named as those of training."""
    folder, _, file = source.rpartition("/")
    words = set(_WORDS.findall(file.rpartition(".")[0].lower()))
    evaluator = folder.rpartition("/")[2].lower() in EVALUATORS
    if not (words & EVALUATION or evaluator) or words & TRAINING:
        return table
    names = [name for name in table.numbers if guess(name) in _OF_AN_EPISODE or "success" in name.lower()]
    return renamed(table, {name: f"eval/{name}" for name in names})


def _prefixed(table: Table, prefix: str) -> Table:
    return renamed(table, {name: f"{prefix}/{name}" for name in table.numbers if name not in _STEPS})


def _rows(table: Table, kept: NDArray[np.bool_]) -> Table:
    numbers = {name: values[kept] for name, values in table.numbers.items()}
    missing = {name: values[kept] for name, values in table.missing.items()}
    texts = {name: tuple(np.array(cells)[kept].tolist()) for name, cells in table.texts.items()}
    return replace(table, rows=int(kept.sum()), numbers=numbers, missing=missing, texts=texts)
