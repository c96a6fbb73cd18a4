"""The metrics that tell how training went: level early and late, shape, and the range that is usual."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rlclinic.model.diagnosis import Diagnosis
from rlclinic.model.finding import Severity
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.numbers import TO_SIGMA
from rlclinic.model.run import PERFORMANCE_METRICS, RETURN_METRICS, Run
from rlclinic.model.series import Series, StepAxis
from rlclinic.model.vocabulary import families_of
from rlclinic.reports.page import Block, Code, Inline, Listing, Table, Words
from rlclinic.reports.performance import axis_words
from rlclinic.reports.text import number, sparkline

# Share of a series' points that counts as early and as late.
WINDOW = 0.1
# Rows of the table, and metrics to watch: more is not read.
MAX_ROWS = 20
MAX_WATCHED = 6
SPARK_CELLS = 14
# Standard deviation of what rounding to one unit takes away.
ROUNDED = 0.289

# In the order of the decision path: critic, exploration, gradients, advantages, pace; then what else is telling.
KEY = (
    "explained_variance", "value_loss", "value/mean", "q/mean", "q/max", "q/spread", "q1/mean", "q2/mean", "td_error",
    "entropy", "action_std/mean", "action_std/min", "alpha", "epsilon", "entropy_coef",
    "grad_norm", "grad_norm/*", "advantage/mean", "advantage/std", "advantage/abs_max",
    "approx_kl", "clip_fraction", "kl_ref", "policy_loss", "learning_rate", "mmd",
    "episode_length", "response_length", "truncated_fraction", "zero_variance_groups", "reward/*", "fps",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Usual:
    """A range that is usual for a metric."""

    words: str
    families: frozenset[str]
    """Algorithms it was written for; empty for all."""


_PPO = frozenset({"ppo"})
_PG = frozenset({"ppo", "actor-critic"})

# Rules of thumb of practitioners. They are context for a reader; no finding rests on them.
USUAL: dict[str, Usual] = {
    "approx_kl": Usual("below 0.02", _PPO),
    "clip_fraction": Usual("0.1 to 0.3", _PPO),
    "explained_variance": Usual("above 0.7", _PG),
    "entropy": Usual("falls slowly", _PG),
    "grad_norm": Usual("0.01 to 10", frozenset()),
}


def key_metric_blocks(diagnosis: Diagnosis) -> list[Block]:
    """What the key metrics section says."""
    shown = relevant(diagnosis)[:MAX_ROWS]
    if not shown:
        return []
    run = diagnosis.run
    if run.is_language_model:
        # The score first: what else moved is read beside it.
        scores = [run.series[name] for name in RETURN_METRICS if len(run.series.get(name, ()))]
        return [*_courses([*scores, *shown][:MAX_ROWS], run.step_axis), *_care(shown)]
    rows = tuple(_row(series, run) for series in shown)
    header = ("metric", "early", "late", "trend", "usual", "logged as")
    blocks: list[Block] = [Table(header, rows, frozenset({1, 2}), cut=(0,), drop=(0, 3))]
    words = f"Early and late are medians of the first and last {100 * WINDOW:.0f}% of the points."
    if any(row[4] for row in rows):
        words += " Usual ranges are rules of thumb, shown as context: no finding rests on them alone."
    blocks.append(Words(words))
    return [*blocks, *_care(shown)]


def _care(shown: Sequence[Series]) -> list[Block]:
    notes = [note for series in shown for note in _notes(series)]
    return [Words("Read with care:"), Listing(tuple(notes))] if notes else []


def _courses(shown: Sequence[Series], axis: StepAxis) -> list[Block]:
    """Of language models, whose metrics move slowly: three levels, the change with its uncertainty, and the slope."""
    each = f"per {axis_words(axis).removesuffix('s')}"
    header = ("metric", "first", "middle", "last", "change", each, "trend", "logged as")
    rows = tuple(_course_row(series) for series in shown)
    words = (
        f"First and last are medians of {100 * WINDOW:.0f}% of the points, middle of as many half-way. The change "
        "is given with twice its standard error, from the scatter between neighbouring points."
    )
    return [Table(header, rows, frozenset({1, 2, 3, 4, 5}), cut=(0,), drop=(6, 2, 5, 4)), Words(words)]


def _course_row(series: Series) -> tuple[Inline, ...]:
    first, last = level(series, late=False), level(series, late=True)
    count = max(1, round(WINDOW * len(series)))
    half = series.values[(len(series) - count) // 2 :][:count]
    sound = half[np.isfinite(half)]
    values = series.values[np.isfinite(series.values)]
    # Of a median; neighbouring points differ by the noise of both.
    noise = TO_SIGMA * float(np.median(np.abs(np.diff(values)))) / np.sqrt(2.0) if values.size > 1 else 0.0
    if series.decimals is not None:
        noise = max(noise, ROUNDED * 10.0**-series.decimals)
    change = last - first if first is not None and last is not None else float("nan")
    span = float(series.steps[-1] - series.steps[0])
    return (
        series.name,
        number(first),
        number(float(np.median(sound)) if sound.size else None),
        number(last),
        f"{number(change)} ± {number(2.0 * 1.2533 * noise * np.sqrt(2.0 / count))}",
        number(change / span) if span else "",
        sparkline(series.values, SPARK_CELLS),
        Code(series.logged_as),
    )


def relevant(diagnosis: Diagnosis) -> list[Series]:
    """The series beside the return that matter: those named in evidence first, then the key metrics there are."""
    run = diagnosis.run
    named = [item.metric for finding in diagnosis.findings for item in finding.evidence]
    members = [name for key in KEY for name in _members(run, key)]
    names = dict.fromkeys(name for name in [*named, *members] if name in run and name not in PERFORMANCE_METRICS)
    return [run.series[name] for name in names if len(run.series[name])]


def watched(diagnosis: Diagnosis) -> tuple[Inline, ...]:
    """The metrics to look at in the next run, each with what was seen in this one."""
    run = diagnosis.run
    names = dict.fromkeys(
        item.metric
        for finding in diagnosis.findings
        if finding.severity is not Severity.INFO
        for item in finding.evidence
        if item.metric in run and item.metric not in RETURN_METRICS
    )
    lines = [_watch(run.series[name], run) for name in list(names)[:MAX_WATCHED]]
    returns = run.returns
    curve = diagnosis.curves.get(returns.name) if returns is not None else None
    if not lines or returns is None or curve is None:
        return tuple(lines)
    last = (
        Code(returns.logged_as),
        f": here {number(curve.final)} at the end. It lags behind the others: judge by them first.",
    )
    return (*lines, last)


def usual(name: str, run: Run) -> str:
    """The usual range of a metric for the run's algorithm, or nothing."""
    entry = USUAL.get(name)
    if entry is None:
        return ""
    if entry.families and run.is_language_model:
        # Language models are trained with one mini-batch per rollout and far smaller steps.
        return ""
    families = families_of(run.algorithm)
    return entry.words if not entry.families or not families or families & entry.families else ""


def level(series: Series, *, late: bool) -> float | None:
    """The median of the finite values of the first or last part; NaN where that part has none."""
    count = max(1, round(WINDOW * len(series)))
    part = series.values[-count:] if late else series.values[:count]
    if not part.size:
        return None
    sound = part[np.isfinite(part)]
    return float(np.median(sound)) if sound.size else float("nan")


def _members(run: Run, key: str) -> list[str]:
    if not key.endswith("/*"):
        return [key]
    return [name for name, series in run.series.items() if series.known and name.startswith(key[:-1])]


def _row(series: Series, run: Run) -> tuple[Inline, ...]:
    return (
        series.name,
        number(level(series, late=False)),
        number(level(series, late=True)),
        sparkline(series.values, SPARK_CELLS),
        usual(series.name, run),
        Code(series.logged_as),
    )


def _watch(series: Series, run: Run) -> Inline:
    early, late = number(level(series, late=False)), number(level(series, late=True))
    band = usual(series.name, run)
    context = f"; usual: {band}" if band else ""
    return (Code(series.logged_as), f": here {early} early, {late} late, {number(series.highest)} at most{context}")


def _notes(series: Series) -> list[Inline]:
    notes: list[Inline] = []
    broken = int((~np.isfinite(series.values)).sum())
    if broken:
        first = float(series.steps[int(np.argmax(~np.isfinite(series.values)))])
        text = (
            f": {number(broken)} of {number(len(series))} points are not finite (!), the first at step {number(first)}"
        )
        notes.append((series.name, text))
    if series.caveat:
        notes.append((series.name, f": {series.caveat}"))
    return notes
