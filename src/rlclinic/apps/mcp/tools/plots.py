"""Pictures of metrics, as PNG beside a few numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlclinic.apps.mcp.epochs import epochs_at
from rlclinic.apps.mcp.reply import UNTRUSTED, Number, Part, Reply
from rlclinic.apps.mcp.workspace import OpenRun, Workspace
from rlclinic.model.errors import UsageError
from rlclinic.reference.metric_lookup import EPOCH_NAMES, STEP_NAMES, lookup

if TYPE_CHECKING:
    from rlclinic.model.series import Series

MOST_CURVES = 7


class CurveOut(Part):
    label: str
    metric: str
    points: int
    first: Number | None
    last: Number | None
    min: Number | None
    max: Number | None


class PlotReply(Reply):
    title: str
    x_axis: str
    curves: list[CurveOut]
    width: int
    height: int
    unknown_metrics: list[str]
    """Asked names that the run does not log; the others are drawn."""
    untrusted: str = UNTRUSTED


def plot_run_metric(
    workspace: Workspace,
    run_id: str,
    metric_names: list[str],
    x_axis: str = "epoch",
    title: str | None = None,
    width: int = 800,
    height: int = 600,
) -> PlotReply:
    """Draw metrics of a run as a PNG. `x_axis` is `epoch` or `total_env_steps`."""
    opened = workspace.open(run_id)
    if not 1 <= len(metric_names) <= MOST_CURVES:
        raise UsageError(f"{len(metric_names)} metrics in one plot", hint=f"between 1 and {MOST_CURVES}")
    known = [name for name in metric_names if lookup(opened.run, name) is not None]
    # Where none is known the error names near ones.
    drawn = [opened.series(name) for name in known or metric_names]
    lines = [(series.logged_as, opened, series) for series in drawn]
    unknown = [name for name in metric_names if name not in known]
    return _drawn(lines, x_axis, title or f"{opened.run.id}: {', '.join(known)}", (width, height), unknown)


def plot_compare_runs(
    workspace: Workspace,
    run_ids: list[str],
    metric: str,
    x_axis: str = "epoch",
    title: str | None = None,
    width: int = 800,
    height: int = 600,
) -> PlotReply:
    """Draw one metric of several runs as a PNG. Runs of different frameworks are best compared over
    `total_env_steps`."""
    if not 1 <= len(run_ids) <= MOST_CURVES:
        raise UsageError(f"{len(run_ids)} runs in one plot", hint=f"between 1 and {MOST_CURVES}")
    compared = [workspace.open(name) for name in run_ids]
    lines = [(opened.run.id, opened, opened.series(metric)) for opened in compared]
    return _drawn(lines, x_axis, title or f"{metric} of {len(compared)} runs", (width, height), [])


def _drawn(
    lines: list[tuple[str, OpenRun, Series]], x_axis: str, title: str, size: tuple[int, int], unknown: list[str]
) -> PlotReply:
    from rlclinic.facts.metric_summary import metric_summary
    from rlclinic.reports.curves import Chart, Line
    from rlclinic.reports.png import png

    if x_axis not in EPOCH_NAMES | STEP_NAMES:
        raise UsageError(f"x_axis {x_axis!r}", hint="epoch or total_env_steps")
    by_epoch = x_axis in EPOCH_NAMES
    curves, rows = [], []
    for label, opened, series in lines:
        steps = epochs_at(opened, series.steps) if by_epoch else series.steps
        curves.append(Line(label, steps, series.values))
        seen = metric_summary(series)
        rows.append(
            CurveOut(
                label=label,
                metric=series.logged_as,
                points=len(series),
                first=seen.first,
                last=seen.last,
                min=seen.min,
                max=seen.max,
            )
        )
    axis = "epoch" if by_epoch else lines[0][2].axis.replace("_", " ")
    width, height = size
    picture = png(Chart(title[:200], tuple(curves), width=width, height=height), axis)
    reply = PlotReply(title=title[:200], x_axis=axis, curves=rows, width=width, height=height, unknown_metrics=unknown)
    return reply.said(f"A plot of {len(rows)} curves over {axis}.", pictures=(picture,))
