"""Runs beside each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rlclinic.apps.mcp.epochs import epochs_at
from rlclinic.apps.mcp.reply import UNTRUSTED, Number, Part, Reply, plain_value
from rlclinic.apps.mcp.workspace import OpenRun, Workspace
from rlclinic.model.errors import RlclinicError, UsageError
from rlclinic.reference.metric_lookup import last_of, lookup

if TYPE_CHECKING:
    from rlclinic.model.series import Series

BEST = "best_for_env"
MOST_RUNS = 12
MOST_BESIDE = 8
"""Metrics and settings of one run beside what works."""
BUDGETS = ("total_steps", "total_updates", "total_epochs")
METRICS = ("return/train", "return/eval", "episode_length")


class OutcomeOut(Part):
    run_id: str
    verdict: str
    cause: str
    final: Number | None
    final_interval: list[Number] | None
    best: Number | None
    steps_to_threshold: Number | None
    env_steps: Number | None
    seconds: Number | None


class RunComparison(Reply):
    runs_compared: int
    metrics: list[str]
    comparison: dict[str, dict[str, Any]]
    """By run: the last finite value of each metric, null where it has none that can be believed; or an error."""
    unknown_metrics: list[str]
    """Asked names that none of the runs logs."""
    at_equal_steps: dict[str, dict[str, Any]] | None
    """The same when the shortest run ended: runs of different length are compared there."""
    outcomes: list[OutcomeOut]
    winner: str | None
    """The run that is better beyond the noise; null where none is."""
    summary: str
    setting_differences: list[dict[str, Any]]
    partings: list[dict[str, Any]]
    confounded: list[str]
    """Settings that differ beside one change: no difference can be laid to one of them."""
    references: list[dict[str, Any]]
    """With `reference`: each run beside known-good runs of its task and algorithm."""
    notes: list[str]
    untrusted: str = UNTRUSTED


class Level(Part):
    value: Number | None
    """Mean of the last tenth."""
    last: Number | None
    epoch: Number | None
    env_steps: Number | None


class BaselineComparison(Reply):
    run_id: str
    baseline_id: str
    metric: str
    target: Level
    baseline: Level
    difference: Number | None
    pct_difference: Number | None
    status: str
    """better, worse, equal, different (where no direction is better) or unknown."""
    at_equal_steps: dict[str, Number] | None
    """Both values at the last step that both runs have: runs of different length are compared there."""
    note: str
    untrusted: str = UNTRUSTED


def compare_runs(
    workspace: Workspace, run_ids: list[str], metrics: list[str] | None = None, *, reference: bool = False
) -> RunComparison:
    """Compare runs: last values of metrics, outcomes, which one is better beyond the noise, which settings differ and
    where the curves part. Runs of different environments are not ranked. With `reference` each run, a single one too,
    is held against known-good runs of its task and algorithm: return and metrics against their bands, published
    returns, and the settings that differ, what is thought to matter most first."""
    if not run_ids:
        raise UsageError("no run is named", hint="call list_runs for the ids")
    if len(run_ids) > MOST_RUNS:
        raise UsageError(f"{len(run_ids)} runs at once", hint=f"at most {MOST_RUNS}; get_history sums up all of them")
    wanted = list(metrics or METRICS)
    table: dict[str, dict[str, Any]] = {}
    compared: list[OpenRun] = []
    for name in dict.fromkeys(run_ids):
        try:
            opened = workspace.open(name)
        except RlclinicError as error:
            table[name] = {"error": f"{error.message}; {error.hint}"}
            continue
        compared.append(opened)
        table[name] = {metric: plain_value(last_of(lookup(opened.run, metric))) for metric in wanted}
    if not compared:
        raise UsageError("none of the runs could be read", hint="call list_runs for the ids")
    return _whole(compared, wanted, table, reference=reference)


def compare_to_baseline(
    workspace: Workspace, run_id: str, baseline: str, metric: str = "train/roll/ep_rew/mean"
) -> BaselineComparison:
    """Hold a run against another one, or against the best of its environment (`baseline="best_for_env"`)."""
    from rlclinic.comparison.baseline import against_baseline

    opened = workspace.open(run_id)
    other = _best(workspace, opened) if baseline == BEST else workspace.open(baseline)
    here, there = opened.series(metric), other.series(metric)
    found = against_baseline(here, there)
    difference, base = found.difference, found.baseline
    reply = BaselineComparison(
        run_id=opened.run.id,
        baseline_id=other.run.id,
        metric=here.logged_as,
        target=_level(opened, here, found.value),
        baseline=_level(other, there, base),
        difference=difference,
        pct_difference=100.0 * difference / abs(base) if difference is not None and base else None,
        status=found.status,
        at_equal_steps=dict(zip(("step", "target", "baseline"), found.at_equal_steps, strict=True))
        if found.at_equal_steps
        else None,
        note="one run each: part of any difference may be the luck of the seed"
        + ("; the run is still going" if opened.running else ""),
    )
    return reply.said(f"{opened.run.id!r} is {reply.status} than {other.run.id!r} on {here.logged_as!r}.")


def _whole(
    compared: list[OpenRun], wanted: list[str], table: dict[str, dict[str, Any]], *, reference: bool
) -> RunComparison:
    from rlclinic.comparison.compare import compare
    from rlclinic.reports.compare_json import comparison_object

    data = comparison_object(compare([opened.run for opened in compared], reference=reference))
    outcomes = [
        OutcomeOut(
            run_id=item["run"]["id"],
            verdict=item["verdict"],
            cause=item["cause"],
            final=item["final"],
            final_interval=item["final_interval"],
            best=item["run"]["return"]["best"],
            steps_to_threshold=item["steps_to_threshold"],
            env_steps=item["run"]["env_steps"],
            seconds=item["seconds"],
        )
        for item in data["runs"]
    ]
    kept = ("first", "second", "step", "difference", "reason")
    reply = RunComparison(
        runs_compared=len(compared),
        metrics=wanted,
        comparison=table,
        unknown_metrics=[name for name in wanted if all(lookup(opened.run, name) is None for opened in compared)],
        outcomes=outcomes,
        winner=data["winner"],
        summary=data["summary"],
        at_equal_steps=_at_equal_steps(compared, wanted),
        setting_differences=[
            plain_value({"key": item["key"], "values": item["values"]}) for item in _by_weight(data)[:12]
        ],
        partings=[plain_value({key: item[key] for key in kept}) for item in data["partings"][:6]],
        confounded=data["confounded"],
        references=[plain_value(_shortened(item)) for item in data["references"]],
        notes=data["notes"],
    )
    return reply.said(data["summary"] or f"{len(compared)} runs beside each other.")


def _by_weight(data: dict[str, Any]) -> list[dict[str, Any]]:
    """Differences of settings: budgets first, then what is known to shape learning, then the rest of the config."""
    from rlclinic.reference.hyperparameters import hyperparameters

    budgets = [item for item in data["apart"] if item["key"] in BUDGETS]
    known = [item for item in data["differences"] if item["key"] in hyperparameters()]
    return [*budgets, *known, *(item for item in data["differences"] if item not in known)]


def _at_equal_steps(compared: list[OpenRun], wanted: list[str]) -> dict[str, dict[str, Any]] | None:
    """By run the values that it had logged when the shortest of them ended; None where steps count different things."""
    returns = [opened.run.returns for opened in compared]
    lasts = [series.last_step for series in returns if series is not None and series.last_step is not None]
    if len(compared) < 2 or len(lasts) < len(compared) or len({opened.run.step_axis for opened in compared}) > 1:
        return None
    step = min(lasts)
    return {
        opened.run.id: {"step": plain_value(step), **{name: _until(lookup(opened.run, name), step) for name in wanted}}
        for opened in compared
    }


def _until(series: Series | None, step: float) -> Any:
    """The last finite value logged up to a step."""
    import numpy as np

    if last_of(series) is None or series is None:
        return None
    there = series.values[(series.steps <= step) & np.isfinite(series.values)]
    return plain_value(float(there[-1])) if there.size else None


def _shortened(item: dict[str, Any]) -> dict[str, Any]:
    """A run beside what works, with the parts that lead."""
    keys = ("metrics", "differences", "frameworks")
    return {**item, **{key: item[key][:MOST_BESIDE] for key in keys}}


def _best(workspace: Workspace, opened: OpenRun) -> OpenRun:
    from rlclinic.comparison.pool import best_run, place_of, pool_of

    if not opened.run.environment:
        raise UsageError("the run does not name its environment", hint="name a run as the baseline")
    pool = pool_of(workspace.root, opened.run.environment)
    found = best_run(pool, frozenset({place_of(opened.run.location)}))
    if found is None:
        raise UsageError(
            f"no other run of {opened.run.environment} is below the root", hint="name a run as the baseline"
        )
    return workspace.open(found.path)


def _level(opened: OpenRun, series: Series, value: float | None) -> Level:
    import numpy as np

    if value is None:
        return Level(value=None, last=None, epoch=None, env_steps=opened.run.env_steps)
    last = series.steps[np.isfinite(series.values)][-1:]
    epoch = round(float(epochs_at(opened, last)[0]), 2)
    return Level(value=value, last=series.last, epoch=epoch, env_steps=opened.run.env_steps)
