"""The numbers of a run: which metrics it has, and their values over its course."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate
from typing import TYPE_CHECKING

from rlclinic.apps.mcp.epochs import epoch_meaning
from rlclinic.apps.mcp.reply import UNTRUSTED, Number, Part, Reply
from rlclinic.apps.mcp.workspace import OpenRun, Workspace
from rlclinic.reference.metric_lookup import EPOCH_NAMES, STEP_NAMES

if TYPE_CHECKING:
    from rlclinic.model.series import Series

# Rows that one answer holds at most, however many are asked for.
MOST_ROWS = 500
# Bytes of JSON for a page of metrics, and of one entry beside its names.
ROOM = 5_600
ENTRY = 70
AXES = STEP_NAMES | EPOCH_NAMES
# How the names of evaluations begin.
EVALUATIONS = ("val", "validation", "eval", "evaluation", "test")


class MetricRef(Part):
    metric: str
    """Canonical name."""
    logged_as: str
    caveat: str


class MetricRows(Reply):
    run_id: str
    rows: int
    """Rows in this answer."""
    total_rows: int
    metrics: list[dict[str, Number]]
    names: dict[str, MetricRef]
    """What each asked name means in this run."""
    unknown_metrics: list[str]
    """Asked names that the run does not log; list_available_metrics lists those that it does."""
    epoch: str
    """What an epoch is in this run."""
    step_axis: str
    note: str
    untrusted: str = UNTRUSTED


class MetricRange(MetricRows):
    start_epoch: Number
    end_epoch: Number


class MetricEntry(Part):
    name: str
    """As logged; every tool takes it, and the canonical name too."""
    metric: str | None
    """Canonical name; null where the vocabulary has none."""
    points: int
    last: Number | None


class MetricList(Reply):
    run_id: str
    total_metrics: int
    filtered_metrics: int
    metrics: list[str]
    """Of this page, as logged."""
    grouped: dict[str, list[str]]
    details: list[MetricEntry]
    next_offset: int | None
    missing: list[str]
    """Canonical metrics that a run of this algorithm is expected to log and that this one has not: not healthy, not
    unhealthy, unknown."""
    untrusted: str = UNTRUSTED


def get_run_metrics(
    workspace: Workspace, run_id: str, metric_names: list[str] | None = None, limit: int | None = None
) -> MetricRows:
    """Values of metrics over the run, as numbers. Without `limit` the whole course, thinned to a short answer; with
    `limit` the last N rows in full. Without `metric_names` the returns and the episode length. Names may be canonical
    (`approx_kl`), as logged, or gymnasium-solver's."""
    from rlclinic.apps.mcp.table import columns_of, room_for, rows_of, thinned

    opened = workspace.open(run_id)
    columns = columns_of(opened, metric_names or ())
    rows = rows_of(opened, columns)
    if limit is None:
        chosen = thinned(rows, room_for(columns))
        note = f"{len(chosen)} of {len(rows)} rows, evenly chosen" if len(chosen) < len(rows) else "every row"
    else:
        chosen = rows[-max(1, min(limit, MOST_ROWS)) :]
        note = f"the last {len(chosen)} of {len(rows)} rows"
    reply = MetricRows(
        run_id=opened.run.id,
        rows=len(chosen),
        total_rows=len(rows),
        metrics=chosen,
        names=_refs(columns),
        unknown_metrics=_unknown(columns, metric_names),
        epoch=epoch_meaning(opened),
        step_axis=opened.run.step_axis,
        note=note,
    )
    return reply.said(f"{len(columns)} metrics of {opened.run.id!r}: {note}.{_so_far(opened)}", wide=limit is not None)


def get_metrics_range(
    workspace: Workspace, run_id: str, start_epoch: float, end_epoch: float, metric_names: list[str] | None = None
) -> MetricRange:
    """Values of metrics between two epochs, both included, as numbers; long stretches are thinned."""
    from rlclinic.apps.mcp.table import columns_of, room_for, rows_of, thinned
    from rlclinic.model.errors import UsageError

    if start_epoch > end_epoch:
        raise UsageError(f"start_epoch {start_epoch:g} lies behind end_epoch {end_epoch:g}", hint="swap them")
    opened = workspace.open(run_id)
    columns = columns_of(opened, metric_names or ())
    rows = rows_of(opened, columns, (start_epoch, end_epoch))
    chosen = thinned(rows, room_for(columns))
    note = f"{len(chosen)} of {len(rows)} rows, evenly chosen" if len(chosen) < len(rows) else "every row"
    reply = MetricRange(
        run_id=opened.run.id,
        start_epoch=start_epoch,
        end_epoch=end_epoch,
        rows=len(chosen),
        total_rows=len(rows),
        metrics=chosen,
        names=_refs(columns),
        unknown_metrics=_unknown(columns, metric_names),
        epoch=epoch_meaning(opened),
        step_axis=opened.run.step_axis,
        note=note if rows else "no row lies in this range; get_training_progress tells the last epoch",
    )
    return reply.said(f"Epochs {start_epoch:g} to {end_epoch:g} of {opened.run.id!r}: {reply.note}.")


def list_available_metrics(
    workspace: Workspace,
    run_id: str,
    filter: str = "",  # noqa: A002
    offset: int = 0,
) -> MetricList:
    """List what a run logged, with canonical names and last values, those that rlclinic knows first, and what is
    missing. `filter` is a part of the name; `next_offset` of the answer, given as `offset`, pages on."""
    from rlclinic.model.vocabulary import expected_metrics

    opened = workspace.open(run_id)
    series = list(opened.run.series.values())
    chosen = [
        item for item in series if filter.lower() in item.logged_as.lower() or filter.lower() in item.name.lower()
    ]
    chosen.sort(key=lambda item: not item.known)
    first = max(offset, 0)
    page = _page(chosen[first:])
    grouped: dict[str, list[str]] = {"train": [], "val": [], "other": []}
    for item in page:
        grouped[_group(item)].append(item.logged_as)
    after = first + len(page)
    reply = MetricList(
        run_id=opened.run.id,
        total_metrics=len(series),
        filtered_metrics=len(chosen),
        metrics=[item.logged_as for item in page],
        grouped=grouped,
        details=[
            MetricEntry(name=item.logged_as, metric=item.name if item.known else None, points=len(item), last=item.last)
            for item in page
        ],
        next_offset=after if after < len(chosen) else None,
        missing=[entry.name for entry in expected_metrics(opened.run.algorithm) if entry.name not in opened.run],
    )
    told = f"{len(page)} of {len(chosen)} metrics; {len(reply.missing)} expected ones are not logged."
    return reply.said(told if reply.next_offset is None else f"{told} Go on with offset={reply.next_offset}.")


def _page(series: list[Series]) -> list[Series]:
    """As many as an answer can name: each stands in it three times."""
    sizes = accumulate(3 * len(item.logged_as) + len(item.name) + ENTRY for item in series)
    return series[: max(1, sum(size <= ROOM for size in sizes))]


def _group(series: Series) -> str:
    head = series.logged_as.partition("/")[0].lower()
    if head in EVALUATIONS:
        return "val"
    return "train" if head in ("train", "rollout") or series.known else "other"


def _unknown(columns: Mapping[str, Series], names: list[str] | None) -> list[str]:
    return [name for name in dict.fromkeys(names or ()) if name not in columns and name not in AXES]


def _refs(columns: Mapping[str, Series]) -> dict[str, MetricRef]:
    return {
        name: MetricRef(metric=series.name, logged_as=series.logged_as, caveat=series.caveat)
        for name, series in columns.items()
    }


def _so_far(opened: OpenRun) -> str:
    return " The run is still going: this is progress, not a result." if opened.running else ""
