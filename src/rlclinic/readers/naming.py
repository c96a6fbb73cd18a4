"""Logged metrics become canonical series: name, sign, scale, step axis, order."""

from __future__ import annotations

from dataclasses import replace
from statistics import median

import numpy as np
from numpy.typing import NDArray

from rlclinic.model.config import Config
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.numbers import bounded_array, bounded_columns
from rlclinic.model.run import RETURN_METRICS
from rlclinic.model.series import FloatArray, Series, StepAxis
from rlclinic.model.vocabulary import metric
from rlclinic.readers.axes import env_step_factor, in_written_order, logged_axis, plain, table_steps, trainings
from rlclinic.readers.columns import present
from rlclinic.readers.draft import Draft, RawMetric, RawTable
from rlclinic.readers.guess import guess, is_of_episodes
from rlclinic.readers.identify import Tables, identify_framework
from rlclinic.reference.framework import COUNTER, Framework, MetricName
from rlclinic.reference.patterns import matches

COMMON = "common"


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A series with how good a source of its canonical name it is: smaller is better."""

    rank: tuple[int, int]
    series: Series


@dataclass(frozen=True, slots=True)
class _Placed:
    """Where the points of a metric stand."""

    axis: StepAxis
    steps: FloatArray
    order: NDArray[np.intp] | slice
    """Which points stay, in the order of their steps."""
    overwritten: int


def name_series(draft: Draft, tables: Tables, config: Config, algorithm: str, environment: str) -> dict[str, Series]:
    """Every metric of the draft under its canonical name, or its logged name where it has none."""
    factor = env_step_factor(tables.own, config)
    placed: dict[tuple[int, StepAxis | None, StepAxis], _Placed] = {}
    named: dict[str, list[_Candidate]] = {}
    unnamed: list[Series] = []
    metrics = _one_per_name(draft, tables.own)
    for raw in metrics:
        rank, entry, captured = _lookup(raw.name, tables, algorithm)
        if entry is not None and entry.name == COUNTER:
            continue
        axis: StepAxis = raw.axis or (entry.axis if entry and entry.axis else logged_axis(raw.name, tables.own))  # type: ignore[assignment]
        key = id(raw.steps), raw.axis, axis  # the columns of a table share one array of steps
        if key not in placed:
            placed[key] = _placed(raw, axis, tables.own, factor)
        if entry is not None and entry.caveat_for and not any(matches(p, environment) for p in entry.caveat_for):
            entry = replace(entry, caveat="")
        series = _series(raw, entry, captured, config, placed[key])
        if entry is None or not series.known:
            unnamed.append(series)
        else:
            named.setdefault(series.name, []).append(_Candidate(rank, series))
    overwritten = max((place.overwritten for place in placed.values()), default=0)
    if overwritten:
        draft.note(
            f"steps go back in the log (a resumed run): up to {overwritten} overwritten points per metric left out"
        )
    return _choose(named, unnamed, draft)


def _choose(named: dict[str, list[_Candidate]], unnamed: list[Series], draft: Draft) -> dict[str, Series]:
    result: dict[str, Series] = {}
    rest: list[Series] = []
    for name, candidates in named.items():
        # A metric that was declared but never got a finite value must not hide one that did.
        candidates.sort(key=lambda item: (item.series.last is None, item.rank))
        result[name] = candidates[0].series
        rest.extend(item.series for item in candidates[1:])
        if len(candidates) > 1 and name in RETURN_METRICS:
            others = ", ".join(item.series.logged_as for item in candidates[1:4])
            draft.note(f"{name} is read from {candidates[0].series.logged_as}; also logged as {others}")
    for series in (*rest, *_guessed(unnamed, result, draft)):
        if series.logged_as not in result:
            own = series.name == series.logged_as
            result[series.logged_as] = series if own else replace(series, name=series.logged_as)
    return result


def _guessed(unnamed: list[Series], result: dict[str, Series], draft: Draft) -> list[Series]:
    """Give home-made names the canonical name that their words stand for, and return those left over."""
    if identify_framework(draft) != "unknown":
        return unnamed
    left: list[Series] = []
    for series in unnamed:
        name = guess(series.logged_as)
        other = result.get(name)
        if other is not None and other.caveat and name in RETURN_METRICS and is_of_episodes(series.logged_as):
            # What is of an episode comes before what may be of a step.
            left.append(replace(other, name=other.logged_as, known=False))
            del result[name]
        if name and name not in result:
            result[name] = replace(series, name=name, known=True)
            draft.note(f"{series.logged_as} is taken for {name} by its words; say --map {name}=COLUMN if it is not")
        else:
            left.append(series)
    return left


def _one_per_name(draft: Draft, tables: Framework) -> list[RawMetric]:
    """Tables taken apart into metrics; of one name in several files the longest is kept."""
    best: dict[str, RawMetric] = {}
    for raw in (*_table_metrics(draft, _counting(draft, tables), tables), *draft.metrics):
        other = best.get(raw.name)
        if other is None or raw.values.size > other.values.size:
            best[raw.name] = raw
    return list(best.values())


def _counting(draft: Draft, tables: Framework) -> list[RawTable]:
    """The tables without what a console says in words, where another file logs a return."""
    own = [raw for raw in draft.tables if not raw.spare]
    names = {metric.name for metric in draft.metrics}.union(*(raw.table.numbers for raw in own))
    told = any(guess(name).startswith("return/") or _is_return(name, tables) for name in names)
    return own if told else draft.tables


def _is_return(name: str, tables: Framework) -> bool:
    found = tables.metrics.find(name)
    return found is not None and any(entry.name.startswith("return/") for entry in found[1])


def _table_metrics(draft: Draft, found_tables: list[RawTable], tables: Framework) -> list[RawMetric]:
    metrics: list[RawMetric] = []
    for raw in found_tables:
        column, steps, axis = table_steps(raw, tables)
        if column:
            draft.note(f"{raw.source}: steps from column {column}")
        found = trainings(steps)
        longest = max(reversed(found), key=lambda rows: rows.stop - rows.start)
        if len(found) > 1:
            draft.note(
                f"{raw.source}: {len(found)} trainings one after another; this is the longest, "
                f"rows {longest.start + 1} to {longest.stop}"
            )
        shared = steps[longest]
        for name, values in bounded_columns(raw.table.numbers).items():
            if name == column:
                continue
            rows: slice | NDArray[np.bool_] = longest
            if name in raw.table.missing:
                rows = present(raw.table, name)
                rows[: longest.start] = rows[longest.stop :] = False
            # Columns without gaps share the steps of their rows.
            own = shared if rows is longest else steps[rows]
            if not own.size:
                continue
            times = None if raw.wall_times is None else raw.wall_times[rows]
            metrics.append(RawMetric(name, own, values[rows], raw.source, times, axis, raw.decimals.get(name)))
    return metrics


def _lookup(name: str, tables: Tables, algorithm: str) -> tuple[tuple[int, int], MetricName | None, str]:
    # Home-made headers write the same words in their own way and language.
    spellings = (name, plain(name)) if tables.own.head.id == COMMON else (name,)
    for rank, table in enumerate(tables):
        found = next((found for spelling in spellings if (found := table.metrics.find(spelling)) is not None), None)
        if found is None:
            continue
        key, entries, captured = found
        for entry in entries:
            if not entry.algorithms or algorithm in entry.algorithms:
                return (rank, table.metrics.position(key)), entry, captured
    if metric(name) is not None:
        # Logged under the canonical name itself, or named so by the user.
        return (0, 0), MetricName(name), ""
    return (99, 0), None, ""


def _placed(raw: RawMetric, axis: StepAxis, tables: Framework, factor: float | None) -> _Placed:
    steps, offset = bounded_array(raw.steps), tables.steps.offset
    if not (axis != tables.steps.axis or factor is None or (raw.axis == "env_steps" and not tables.steps.times)):
        axis = "env_steps"
        steps = steps if (factor, offset) == (1.0, 0) else bounded_array((steps + offset) * factor)
    order, overwritten = in_written_order(steps)
    kept = steps[order].copy()
    kept.flags.writeable = False
    return _Placed(axis, kept, order, overwritten)


def _series(
    raw: RawMetric,
    entry: MetricName | None,
    captured: str,
    config: Config,
    place: _Placed,
) -> Series:
    order = place.order
    values = raw.values[order]
    name, known, caveat = raw.name, False, raw.caveat
    if entry is not None:
        scale = _scale(entry, config)
        known = scale is not None
        if scale is not None:
            scale = _sign_of_entropy(values) * entry.scale if entry.sign == 0 else scale
            values = bounded_array(values * scale + entry.offset) if (scale, entry.offset) != (1.0, 0.0) else values
            name = entry.name.replace("*", captured)
            caveat = caveat or entry.caveat
    return Series(
        name=name,
        logged_as=raw.name,
        steps=place.steps,
        values=values,
        axis=place.axis,
        wall_times=None if raw.wall_times is None else raw.wall_times[order],
        known=known,
        estimator=entry.estimator if entry else "",
        window=raw.window or (entry.window if entry else ""),
        decimals=raw.decimals if raw.decimals is not None else (entry.decimals if entry else None),
        caveat=caveat,
        source=raw.source,
    )


def _sign_of_entropy(values: FloatArray) -> int:
    """Home-made logs write the entropy or its negative under one name: a policy starts with much of it.

    Discrete entropies are never negative and densities start wide, so the first values have the true sign.
    """
    finite = values[np.isfinite(values)]
    return -1 if finite.size and float(median(finite[: max(3, finite.size // 10)].tolist())) < 0 else 1


def _scale(entry: MetricName, config: Config) -> float | None:
    """The factor from the logged to the canonical value; None where a coefficient is not known."""
    scale = entry.sign * entry.scale
    if not entry.divide_by:
        return scale
    coefficient = config.number(entry.divide_by)
    return scale / coefficient if coefficient else None
