"""A run in one look, in the shape that gymnasium-solver's agents read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rlclinic.apps.mcp.desk import Case, Desk
from rlclinic.apps.mcp.epochs import epochs_at
from rlclinic.apps.mcp.reply import UNTRUSTED, Number, Part, Reply, plain_value
from rlclinic.apps.mcp.tools.health import SEVERITIES, TOP, by_weight
from rlclinic.apps.mcp.tools.runs import threshold_of

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
    "max_env_steps": "total_steps",
}


class StatusOut(Part):
    is_active: bool
    is_solved: bool | None
    health: str
    verdict: str


class ProgressOut(Part):
    total_env_steps: Number | None
    max_env_steps: Number | None
    progress_pct: Number | None
    current_epoch: Number | None
    elapsed_seconds: Number | None
    remaining_seconds_estimate: Number | None


class PerformanceOut(Part):
    train_reward_mean: Number | None
    val_reward_mean: Number | None
    best_reward: Number | None
    ep_len_mean: Number | None
    reward_threshold: Number | None
    gap_to_threshold: Number | None
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
    desk: Desk,
    run_id: str,
    include_recent_metrics: bool = True,  # noqa: FBT001, FBT002
    include_full_config: bool = False,  # noqa: FBT001, FBT002
) -> Diagnostic:
    """Everything about a run in one call: status, progress, performance, key metrics, trends, anomalies, config, speed,
    leading cause and recommendations. An active run's numbers are progress, not results."""
    case = desk.case(run_id)
    run, diagnosis = case.run, case.diagnosis
    found = by_weight(case)
    serious = any(item.severity.value != "info" for item in found)
    lead = diagnosis.causes[0] if diagnosis.causes else None
    threshold = threshold_of(case)
    reply = Diagnostic(
        run_id=run.id,
        status=StatusOut(
            is_active=case.running,
            is_solved=None if threshold is None or run.returns is None else diagnosis.verdict.value == "solved",
            health="issues_detected" if serious else "healthy" if run.series else "unknown",
            verdict=diagnosis.verdict.value,
        ),
        progress=_progress(case),
        performance=_performance(case, threshold),
        key_metrics={key: _last(case, name) for key, name in KEY_METRICS.items()},
        trends={"reward": _trend(case, run.returns.name if run.returns else ""), "entropy": _trend(case, "entropy")},
        anomalies=[_anomaly(item) for item in found[:TOP]],
        config={
            "env_id": run.environment,
            "algo": run.algorithm.lower(),
            **{key: plain_value(run.config.get(name)) for key, name in CONFIG.items()},
        },
        training_speed=_speed(case),
        leading_cause=None if lead is None else {"id": lead.id, "probability": round(lead.probability, 3)},
        recommendations=[f"[{item.priority.value}] {item.instruction}" for item in diagnosis.prescriptions[:3]],
        recent_metrics=_recent(case) if include_recent_metrics else None,
        full_config=plain_value({name: setting.value for name, setting in run.config.settings.items()})
        if include_full_config
        else None,
        note="the run is still going: this is progress, not a result" if case.running else diagnosis.reason,
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


def _progress(case: Case) -> ProgressOut:
    import numpy as np

    from rlclinic.comparison.outcomes import wall_seconds

    run = case.run
    share = min(100.0 * run.steps / run.budget, 100.0) if run.budget else None
    seconds = wall_seconds(run)
    left = seconds * (100.0 / share - 1.0) if case.running and seconds and share else 0.0 if not case.running else None
    return ProgressOut(
        total_env_steps=run.env_steps,
        max_env_steps=run.budget,
        progress_pct=None if share is None else round(share, 2),
        current_epoch=round(float(epochs_at(case, np.array([run.steps]))[0])) if run.series else None,
        elapsed_seconds=seconds,
        remaining_seconds_estimate=left,
    )


def _performance(case: Case, threshold: float | None) -> PerformanceOut:
    run = case.run
    train, val, counted = run.series.get("return/train"), run.series.get("return/eval"), run.returns
    last = counted.last if counted else None
    gap = threshold - last if threshold is not None and last is not None else None
    return PerformanceOut(
        train_reward_mean=train.last if train else None,
        val_reward_mean=val.last if val and not val.caveat else None,
        best_reward=counted.highest if counted else None,
        ep_len_mean=_last(case, "episode_length"),
        reward_threshold=threshold,
        gap_to_threshold=gap,
        gap_pct=100.0 * gap / abs(threshold) if gap is not None and threshold else None,
        caveats=[f"{item.logged_as}: {item.caveat}" for item in (train, val) if item is not None and item.caveat],
    )


def _last(case: Case, name: str) -> float | None:
    series = case.run.series.get(name)
    return series.last if series else None


def _trend(case: Case, name: str) -> TrendOut | None:
    from rlclinic.apps.mcp.trends import trend_of

    series = case.run.series.get(name)
    if series is None or not len(series):
        return None
    moved = trend_of(series)
    return TrendOut(direction=moved.direction, change=moved.change, change_pct=moved.change_pct, slope=moved.slope)


def _speed(case: Case) -> dict[str, Number | None]:
    from rlclinic.apps.mcp.metric_names import lookup
    from rlclinic.comparison.outcomes import speed

    rollout = lookup(case.run, "train/roll/fps")
    return {"rollout_fps": rollout.last if rollout else None, "system_fps": speed(case.run)}


def _recent(case: Case) -> list[dict[str, Number]]:
    from rlclinic.apps.mcp.table import columns_of, rows_of

    return rows_of(case, columns_of(case, ()))[-RECENT:]
