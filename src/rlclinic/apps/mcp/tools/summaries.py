"""A metric in a few numbers: its range, its trend, what moves with it, and the hyperparameters in force."""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rlclinic.apps.mcp.epochs import epochs_at
from rlclinic.apps.mcp.reply import UNTRUSTED, Number, Part, Reply, plain_value
from rlclinic.apps.mcp.workspace import OpenRun, Workspace
from rlclinic.model.errors import RlclinicError, UsageError

if TYPE_CHECKING:
    from rlclinic.model.series import Series

_WINDOW = re.compile(r"(last|first)_(\d{1,6})_epochs")
MOST_PAIRS = 50


class MetricSummary(Reply):
    run_id: str
    metric: str
    logged_as: str
    count: int
    min: Number | None
    max: Number | None
    mean: Number | None
    std: Number | None
    first: Number | None
    middle: Number | None
    """The level half-way; the ends are single points."""
    last: Number | None
    trend: str
    """improving, declining, rising, falling, stable or insufficient_data."""
    trend_delta: Number | None
    epoch_range: list[Number]
    step_range: list[Number]
    not_finite: int
    caveat: str
    untrusted: str = UNTRUSTED


class MetricTrend(Reply):
    run_id: str
    metric: str
    logged_as: str
    window: str
    n_samples: int
    first_value: Number | None
    """Mean of the first tenth."""
    last_value: Number | None
    change: Number | None
    change_pct: Number | None
    """Of the first value's size."""
    slope: Number | None
    """Per step of the run's axis (Theil-Sen)."""
    direction: str
    """rising, falling, or for metrics of which more is better improving and declining; stable; insufficient_data."""
    p_value: Number | None
    """Of a trend this strong by chance."""
    significance: str
    epoch_range: list[Number]
    untrusted: str = UNTRUSTED


class Correlation(Part):
    metrics: list[str]
    correlation: Number | None = None
    """Spearman's: of ranks, so that one spike does not make it."""
    strength: str = ""
    n_samples: int = 0
    error: str = ""


class Correlations(Reply):
    run_id: str
    correlations: list[Correlation]
    note: str
    untrusted: str = UNTRUSTED


class HyperparameterCourse(Part):
    is_scheduled: bool
    first: Number | None
    last: Number | None
    min: Number | None
    max: Number | None
    n_samples: int
    configured: Any = None


class HyperparameterHistory(Reply):
    run_id: str
    epoch_range: list[Number]
    params: list[str]
    scheduled_params: list[str]
    constant_params: list[str]
    summary: dict[str, HyperparameterCourse]
    unknown_params: list[str]
    """Asked names that the run neither logs nor configures."""
    untrusted: str = UNTRUSTED


def get_metrics_summary(workspace: Workspace, run_id: str, metric_name: str) -> MetricSummary:
    """One metric in numbers: count, range, mean, first, last and trend. Values that are not finite are counted, not
    averaged."""
    from rlclinic.facts.metric_summary import metric_summary, metric_trend

    opened = workspace.open(run_id)
    series = opened.series(metric_name)
    moved = metric_trend(series)
    reply = MetricSummary(
        run_id=opened.run.id,
        metric=series.name,
        logged_as=series.logged_as,
        **asdict(metric_summary(series)),
        trend=moved.direction,
        trend_delta=moved.change,
        epoch_range=_epochs(opened, series),
        step_range=[float(series.steps[0]), float(series.steps[-1])] if len(series) else [],
        caveat=series.caveat,
    )
    return reply.said(f"{series.logged_as!r} of {opened.run.id!r}: {reply.first} to {reply.last}, {reply.trend}.")


def get_metric_trend(workspace: Workspace, run_id: str, metric: str, window: str = "all") -> MetricTrend:
    """Whether a metric rises or falls, and how surely. `window` is `all`, `last_N_epochs` or `first_N_epochs`. A
    direction other than `stable` is only given where chance is an unlikely explanation."""
    from rlclinic.facts.metric_summary import metric_trend

    opened = workspace.open(run_id)
    series = _windowed(opened, opened.series(metric), window)
    reply = MetricTrend(
        run_id=opened.run.id,
        metric=series.name,
        logged_as=series.logged_as,
        window=window,
        epoch_range=_epochs(opened, series),
        **asdict(metric_trend(series)),
    )
    told = "progress so far" if opened.running else "over this window"
    return reply.said(f"{series.logged_as!r} is {reply.direction} {told}: {reply.first_value} to {reply.last_value}.")


def correlate_metrics(workspace: Workspace, run_id: str, metric_pairs: list[list[str]]) -> Correlations:
    """How two metrics of a run move together, for each pair [a, b]. Two metrics that both drift correlate without one
    causing the other."""
    opened = workspace.open(run_id)
    if not metric_pairs:
        raise UsageError("no pair was named", hint='for example [["approx_kl", "return/train"]]')
    found = [_correlation(opened, pair) for pair in metric_pairs[:MOST_PAIRS]]
    note = "correlation is no cause: most metrics of a run share its trend; diagnose weighs the order of onsets"
    return Correlations(run_id=opened.run.id, correlations=found, note=note).said(f"{len(found)} pairs of metrics.")


def get_hyperparam_history(workspace: Workspace, run_id: str, params: list[str] | None = None) -> HyperparameterHistory:
    """The hyperparameters in force over the run, scheduled or constant, beside what the config says."""
    from rlclinic.facts.metric_summary import IN_FORCE, hyperparameter_history

    opened = workspace.open(run_id)
    names = params or [name for name in IN_FORCE if name in opened.run.series]
    found, unknown = {}, []
    for name in names:
        try:
            found[name] = hyperparameter_history(opened.run, name)
        except UsageError:
            unknown.append(name)
    if unknown and not found:
        told = ", ".join(unknown)
        raise UsageError(f"the run neither logs nor configures {told}", hint="call get_run_info for its config")
    summary = {
        name: HyperparameterCourse(
            is_scheduled=item.is_scheduled,
            first=item.summary.first,
            last=item.summary.last,
            min=item.summary.min,
            max=item.summary.max,
            n_samples=item.summary.count,
            configured=plain_value(item.configured),
        )
        for name, item in found.items()
    }
    ranges = next((_epochs(opened, item.series) for item in found.values() if item.series is not None), [])
    scheduled = [name for name, course in summary.items() if course.is_scheduled]
    constant = [name for name, course in summary.items() if not course.is_scheduled and course.n_samples]
    reply = HyperparameterHistory(
        run_id=opened.run.id,
        epoch_range=ranges,
        params=list(summary),
        scheduled_params=scheduled,
        constant_params=constant,
        summary=summary,
        unknown_params=unknown,
    )
    return reply.said(f"{len(scheduled)} hyperparameters changed during the run, {len(constant)} stayed.")


def _correlation(opened: OpenRun, pair: list[str]) -> Correlation:
    from rlclinic.facts.metric_summary import metric_correlation

    if len(pair) != 2:
        return Correlation(metrics=pair[:4], error="a pair has two names")
    try:
        first, second = (opened.series(name) for name in pair)
    except RlclinicError as error:
        return Correlation(metrics=pair, error=f"{error.message}; {error.hint}")
    found = metric_correlation(first, second)
    return Correlation(
        metrics=pair,
        correlation=found.value,
        strength=found.strength,
        n_samples=found.n_samples,
        error=found.problem,
    )


def _windowed(opened: OpenRun, series: Series, window: str) -> Series:
    if window == "all":
        return series
    found = _WINDOW.fullmatch(window)
    if found is None:
        raise UsageError(f"window {window!r}", hint="write all, last_N_epochs or first_N_epochs")
    from dataclasses import replace

    epochs = epochs_at(opened, series.steps)
    count = int(found[2])
    if not epochs.size:
        return series
    inside = epochs > epochs[-1] - count if found[1] == "last" else epochs < epochs[0] + count
    times = None if series.wall_times is None else series.wall_times[inside]
    return replace(series, steps=series.steps[inside], values=series.values[inside], wall_times=times)


def _epochs(opened: OpenRun, series: Series) -> list[Number]:
    if not len(series):
        return []
    epochs = epochs_at(opened, series.steps)
    return [round(float(epochs[0]), 2), round(float(epochs[-1]), 2)]
