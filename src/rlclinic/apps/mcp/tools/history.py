"""What the runs below the root have taught about an environment."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from rlclinic.apps.mcp.reply import UNTRUSTED, Number, Part, Reply, plain_value
from rlclinic.apps.mcp.workspace import Workspace
from rlclinic.model.errors import NothingReadable
from rlclinic.reference.metric_lookup import lookup

if TYPE_CHECKING:
    from rlclinic.model.run import Run
    from rlclinic.model.series import Series

DEFAULT = "val/roll/ep_rew/mean"


class BestRun(Part):
    run_id: str
    path: str
    framework: str
    algorithm: str
    env_steps: Number | None
    status: str
    config: dict[str, Any]


class BestReply(Reply):
    env_id: str
    metric: str
    best_value: Number
    """Last logged value of the metric."""
    ranked_by: Number
    """Mean of its last tenth, so that one lucky point does not win."""
    best_run: BestRun
    runs_looked_at: int
    judged_by: dict[str, int]
    """Runs by the metric that they were judged by: more than one kind is no fair comparison."""
    skipped: list[str]
    note: str
    untrusted: str = UNTRUSTED


class PastConfigOut(Part):
    label: str
    algorithm: str
    framework: str
    seeds: int
    final: Number
    final_range: list[Number]
    steps_to_threshold: Number | None
    steps: Number
    settings: dict[str, Any]


class SeparationOut(Part):
    key: str
    better: str
    worse: str
    better_count: int
    worse_count: int
    effect: Number
    """Cliff's delta, 0 to 1."""
    effect_interval: list[Number]
    difference: Number
    p_value: Number
    sure: bool
    confounded: list[str]


class HistoryReply(Reply):
    env_id: str
    algorithm: str
    runs: int
    configs: int
    enough: bool
    """Whether there are configs enough to look for patterns."""
    summary: str
    best: list[PastConfigOut]
    separations: list[SeparationOut]
    """Settings whose values surely go with good and bad runs (p below 0.05, corrected), the surest first."""
    tried: list[dict[str, Any]]
    """What was already tried around the best config, and what came of it."""
    suggestions: list[dict[str, Any]]
    trials: list[dict[str, Any]]
    """Paired experiments of this environment that were run, with their verdicts."""
    notes: list[str]
    untrusted: str = UNTRUSTED


def get_best_run(
    workspace: Workspace,
    env_id: str,
    metric: str = DEFAULT,
    minimize: bool = False,  # noqa: FBT001, FBT002
) -> BestReply:
    """The best run of an environment below the root by the end of a metric. Where a run logs no evaluation, or one of
    an untrained policy, its training return counts instead of the default metric."""
    from rlclinic.comparison.baseline import best_by_metric
    from rlclinic.comparison.pool import pool_of

    def chosen(run: Run) -> Series | None:
        series = lookup(run, metric)
        return run.returns if metric == DEFAULT and (series is None or series.caveat) else series

    found = best_by_metric(pool_of(workspace.root, env_id), metric, chosen, minimize=minimize)
    if not found.ranked:
        known = sorted({str(row["environment"]) for row in _listing(workspace) if row["environment"]})
        told = f"there are runs of {', '.join(known[:8])}" if known else "there are no runs below the root"
        raise NothingReadable(f"no run of {env_id!r} has the metric {metric!r}; {told}", hint="call list_runs")
    value, run, series = found.ranked[0]
    settings = {name: setting.value for name, setting in run.config.settings.items() if not setting.is_default}
    best = BestRun(
        run_id=run.id,
        path=workspace.shown(run.path),
        framework=run.framework,
        algorithm=run.algorithm,
        env_steps=run.env_steps,
        status=run.status.state.value,
        config=plain_value(settings),
    )
    reply = BestReply(
        env_id=env_id,
        metric=series.logged_as,
        best_value=series.last if series.last is not None else value,
        ranked_by=value,
        best_run=best,
        runs_looked_at=found.looked_at,
        judged_by=dict(Counter(item.logged_as for _, _, item in found.ranked)),
        skipped=list(found.skipped[:10]),
        note="one run may be luck of the seed: get_history compares configs over their seeds",
    )
    return reply.said(
        f"{run.id!r} is the best of {len(found.ranked)} runs on {env_id}: {reply.best_value} at its end "
        f"({series.logged_as})."
    )


def get_history(workspace: Workspace, env_id: str, algorithm: str = "") -> HistoryReply:
    """What the runs of an environment below the root have taught, over every framework: the best configs over their
    seeds, which settings separate good from bad runs (effect size and how sure), what was already tried, what to try
    next."""
    from rlclinic.comparison.history import history
    from rlclinic.reports.history_json import history_object
    from rlclinic.store.ledger import Ledger

    data = history_object(history(workspace.root, env_id, algorithm))
    trials = [item for item in Ledger().results() if item["environment"] == env_id]
    reply = HistoryReply(
        env_id=env_id,
        algorithm=data["algorithm"],
        runs=data["runs"],
        configs=data["configs"],
        enough=data["enough"],
        summary=data["summary"],
        best=[
            PastConfigOut(
                label=item["label"],
                algorithm=item["algorithm"],
                framework=item["framework"],
                seeds=len(item["paths"]),
                final=item["final"],
                final_range=[item["final_low"], item["final_high"]],
                steps_to_threshold=item["steps_to_threshold"],
                steps=item["steps"],
                settings=plain_value(item["settings"]),
            )
            for item in data["best"][:3]
        ],
        separations=[
            SeparationOut(
                **{key: item[key] for key in ("key", "better", "worse", "better_count", "worse_count", "effect")},
                **{key: item[key] for key in ("difference", "p_value", "sure")},
                effect_interval=[item["low"], item["high"]],
                confounded=list(item["confounded"]),
            )
            for item in [item for item in data["separations"] if item["sure"]][:6]
        ],
        tried=[plain_value(item) for item in data["attempts"][:6]],
        suggestions=[plain_value(item) for item in data["suggestions"][:5]],
        trials=[plain_value({key: item[key] for key in ("id", "algorithm", "arms")}) for item in trials[-4:]],
        notes=data["notes"],
    )
    return reply.said(data["summary"])


def _listing(workspace: Workspace) -> tuple[dict[str, Any], ...]:
    from rlclinic.store.listing import list_runs

    return list_runs(workspace.root).summaries
