"""A run in one look, in the shape that gymnasium-solver's agents read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rlclinic.apps.mcp.reply import UNTRUSTED, Number, Part, Reply, plain_value
from rlclinic.apps.mcp.tools.health import SEVERITIES, TOP, by_weight, is_healthy
from rlclinic.apps.mcp.tools.progress import NOTES, Performance, Progress, performance_of, progress_of
from rlclinic.apps.mcp.tools.runs import threshold_of
from rlclinic.apps.mcp.workspace import OpenRun, Workspace
from rlclinic.reference.metric_lookup import last_of

if TYPE_CHECKING:
    from rlclinic.model.finding import Finding

RECENT = 5
# Key of the answer -> canonical metric.
KEY_METRICS = {
    "entropy": "entropy",
    "approx_kl": "approx_kl",
    "clip_frac": "clip_fraction",
    "explained_var": "explained_variance",
    "policy_loss": "policy_loss",
    "value_loss": "value_loss",
    "value_clip_frac": "clip_fraction/value",
    "grad_norm": "grad_norm",
}
CONFIG = {
    "n_envs": "n_envs",
    "n_steps": "n_steps",
    "policy_lr": "learning_rate",
    "batch_size": "batch_size",
    "ent_coef": "ent_coef",
    "clip_range": "clip_range",
}
HEALTH = {True: "healthy", False: "issues_detected", None: "unknown"}


class StatusOut(Part):
    is_active: bool | None
    """Null where the run's files do not tell."""
    is_solved: bool | None
    health: str
    """healthy, issues_detected, or unknown where too little could be checked."""
    verdict: str


class ProgressOut(Progress):
    elapsed_seconds: Number | None
    remaining_seconds_estimate: Number | None


class PerformanceOut(Performance):
    ep_len_mean: Number | None
    gap_to_threshold: Number | None
    """Of the last evaluation that can be believed, else of the training return."""
    gap_metric: str | None
    gap_pct: Number | None
    caveats: list[str]


class TrendOut(Part):
    direction: str
    change: Number | None
    change_pct: Number | None
    slope: Number | None


class AnomalyOut(Part):
    severity: str
    metric: str
    value: Number | None
    message: str


class Diagnostic(Reply):
    run_id: str
    status: StatusOut
    progress: ProgressOut
    performance: PerformanceOut
    key_metrics: dict[str, Number | None]
    """Last logged values; null where the run does not log it, never 0."""
    trends: dict[str, TrendOut | None]
    anomalies: list[AnomalyOut]
    config: dict[str, Any]
    training_speed: dict[str, Number | None]
    leading_cause: dict[str, Any] | None
    recommendations: list[str]
    recent_metrics: list[dict[str, Number]] | None
    full_config: dict[str, Any] | None
    note: str
    untrusted: str = UNTRUSTED


def comprehensive_diagnostic(
    workspace: Workspace,
    run_id: str,
    include_recent_metrics: bool = True,  # noqa: FBT001, FBT002
    include_full_config: bool = False,  # noqa: FBT001, FBT002
) -> Diagnostic:
    """Everything about a run in one call: status, progress, performance, key metrics, trends, anomalies, config, speed,
    leading cause and recommendations. An active run's numbers are progress, not results."""
    opened = workspace.open(run_id)
    run, diagnosis = opened.run, opened.diagnosis
    found, progress = by_weight(opened), _progress(opened)
    state = run.status.state.value
    lead = diagnosis.causes[0] if diagnosis.causes else None
    reply = Diagnostic(
        run_id=run.id,
        status=StatusOut(
            is_active=None if state == "unknown" else opened.running,
            is_solved=performance_of(opened).is_solved,
            health=HEALTH[is_healthy(opened)],
            verdict=diagnosis.verdict.value,
        ),
        progress=progress,
        performance=_performance(opened),
        key_metrics={key: _last(opened, name) for key, name in KEY_METRICS.items()},
        trends={
            "reward": _trend(opened, run.returns.name if run.returns else ""),
            "entropy": _trend(opened, "entropy"),
        },
        anomalies=[_anomaly(item) for item in found[:TOP]],
        config={
            "env_id": run.environment,
            "algo": run.algorithm.lower(),
            **{key: plain_value(run.config.get(name)) for key, name in CONFIG.items()},
            # The budget that was in force; the config may have been overridden.
            "max_env_steps": progress.max_env_steps,
        },
        training_speed=_speed(opened),
        leading_cause=None if lead is None else {"id": lead.id, "probability": round(lead.probability, 3)},
        recommendations=[f"[{item.priority.value}] {item.instruction}" for item in diagnosis.prescriptions[:3]],
        recent_metrics=_recent(opened) if include_recent_metrics else None,
        full_config=plain_value({name: setting.value for name, setting in run.config.settings.items()})
        if include_full_config
        else None,
        note=NOTES.get(state, diagnosis.reason),
    )
    return reply.said(f"{run.id!r}: {diagnosis.verdict.value}. {reply.note}.", wide=include_full_config)


def _anomaly(finding: Finding) -> AnomalyOut:
    shown = finding.evidence[0] if finding.evidence else None
    return AnomalyOut(
        severity=SEVERITIES[finding.severity.value],
        metric=(shown.logged_as or shown.metric) if shown else finding.name,
        value=shown.value if shown else None,
        message=f"{finding.code} {finding.name}: {finding.summary}",
    )


def _progress(opened: OpenRun) -> ProgressOut:
    from rlclinic.comparison.outcomes import wall_seconds

    found = progress_of(opened)
    ended = opened.run.status.state.value not in NOTES
    return ProgressOut(
        **found.model_dump(),
        elapsed_seconds=wall_seconds(opened.run),
        remaining_seconds_estimate=0.0 if ended else found.seconds_left,
    )


def _performance(opened: OpenRun) -> PerformanceOut:
    found, threshold = performance_of(opened), threshold_of(opened)
    judged = [opened.run.series[name] for name in ("return/eval", "return/train") if name in opened.run.series]
    by = next((series for series in judged if last_of(series) is not None), None)
    gap = threshold - float(by.last or 0.0) if threshold is not None and by is not None else None
    return PerformanceOut(
        **found.model_dump(),
        ep_len_mean=_last(opened, "episode_length"),
        gap_to_threshold=gap,
        gap_metric=by.logged_as if by is not None else None,
        gap_pct=100.0 * gap / abs(threshold) if gap is not None and threshold else None,
        caveats=[f"{item.logged_as}: {item.caveat}" for item in judged if item.caveat],
    )


def _last(opened: OpenRun, name: str) -> float | None:
    series = opened.run.series.get(name)
    return series.last if series else None


def _trend(opened: OpenRun, name: str) -> TrendOut | None:
    from rlclinic.facts.metric_summary import metric_trend

    series = opened.run.series.get(name)
    if series is None or not len(series):
        return None
    moved = metric_trend(series)
    return TrendOut(direction=moved.direction, change=moved.change, change_pct=moved.change_pct, slope=moved.slope)


def _speed(opened: OpenRun) -> dict[str, Number | None]:
    from rlclinic.comparison.outcomes import speed
    from rlclinic.reference.metric_lookup import lookup

    rollout = lookup(opened.run, "train/roll/fps")
    return {"rollout_fps": rollout.last if rollout else None, "system_fps": speed(opened.run)}


def _recent(opened: OpenRun) -> list[dict[str, Number]]:
    from rlclinic.apps.mcp.table import columns_of, rows_of

    return rows_of(opened, columns_of(opened, ()))[-RECENT:]
