"""How a run stands while it goes on. Progress is not a result."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import anyio

from rlclinic.apps.mcp.epochs import epoch_meaning, epochs_at
from rlclinic.apps.mcp.jobs import find_job
from rlclinic.apps.mcp.log_text import log_lines
from rlclinic.apps.mcp.reply import UNTRUSTED, Number, Part, Reply, plain_value
from rlclinic.apps.mcp.tools.runs import metrics_summary, stopping, threshold_of
from rlclinic.apps.mcp.tools.training import failure_of, run_of
from rlclinic.apps.mcp.workspace import OpenRun, Workspace
from rlclinic.model.diagnosis import Verdict
from rlclinic.model.errors import RunReadError
from rlclinic.readers.discover import split_name
from rlclinic.reference.metric_lookup import last_of

# Clients give up after a minute: a call never waits longer than this, in seconds.
LONGEST_WAIT = 50.0
RECENT_LINES = 8
# What is said of a run that has not ended, by its state.
NOTES = {
    "running": "still running: progress, not a result",
    "unknown": "whether it is still running is not known: read it as progress, not as a result",
}
# The word for whether a run goes on, and what that means for one who waits.
WORDS = {True: "running", False: "completed", None: "unknown"}
MESSAGES = {
    "running": "still running: the metrics are progress, not a result; call again",
    "completed": "ended",
    "unknown": "the files do not say whether it is still running; get_run_logs and get_training_progress tell more",
}
SUMMARY_KEYS = ("env_id", "algorithm", "n_envs", "n_steps", "batch_size", "learning_rate", "gamma", "total_steps")


class Progress(Part):
    total_timesteps: Number | None
    """Env steps over all environments."""
    total_env_steps: Number | None
    max_env_steps: Number | None
    """Null where the run does not count in env steps."""
    steps: Number
    """On the run's own axis."""
    budget: Number | None
    step_axis: str
    progress_pct: Number | None
    current_epoch: Number | None
    epoch: str
    """What an epoch is in this run."""
    seconds_left: Number | None


class Performance(Part):
    train_reward_mean: Number | None
    val_reward_mean: Number | None
    best_reward: Number | None
    """Highest logged value of the return that decides; `run.return.best` of diagnose."""
    reward_threshold: Number | None
    is_solved: bool | None
    """Null where no threshold or no return is known."""


class TrainingProgress(Reply):
    run_id: str
    status: str
    progress: Progress
    performance: Performance
    config_summary: dict[str, Any]
    note: str
    untrusted: str = UNTRUSTED


class TrainingStatus(Reply):
    run_id: str
    running: bool | None
    """Null where the run's files do not tell."""
    status: str
    source: str
    """tracked: from the status.json of a run that rlclinic trains; files: from the run's own files."""
    pid: int | None
    progress: Progress | None
    performance: Performance | None
    recent_logs: list[str]
    message: str
    untrusted: str = UNTRUSTED


class Completion(Reply):
    success: bool
    run_id: str
    status: str
    """completed, running, or unknown where the run's files do not tell whether it goes on."""
    completion_reason: str
    stopping_message: str
    elapsed_time: Number
    final_metrics: dict[str, Number]
    config_summary: dict[str, Any]
    message: str
    untrusted: str = UNTRUSTED


def get_training_progress(workspace: Workspace, run_id: str) -> TrainingProgress:
    """How far a run is in env steps and how it does, as numbers. While it runs these are progress, not results."""
    opened = workspace.open(run_id)
    progress = progress_of(opened)
    reply = TrainingProgress(
        run_id=opened.run.id,
        status=opened.run.status.state.value,
        progress=progress,
        performance=performance_of(opened),
        config_summary=config_summary(opened),
        note=NOTES.get(opened.run.status.state.value, "the run has ended"),
    )
    share = "unknown share" if progress.progress_pct is None else f"{progress.progress_pct}%"
    return reply.said(f"{opened.run.id!r}: {share} of its budget, {reply.note}.")


def get_training_status(workspace: Workspace, run_id: str, include_details: bool = True) -> TrainingStatus:  # noqa: FBT001, FBT002
    """Whether a run goes on, with progress and its newest log lines. Takes a run id, `@last`, or the job_id or
    config_id of start_training."""
    starting = _starting(workspace, run_id)
    if starting is not None:
        return starting
    path = training_folder(workspace, run_id)
    opened = workspace.open(str(path) if path is not None else run_id)
    overview = _overview(opened.path) if path is not None else None
    state = overview.state if overview else opened.run.status.state.value
    reply = TrainingStatus(
        run_id=opened.run.id,
        running=None if state == "unknown" else state == "running",
        status=state,
        source="tracked" if overview else "files",
        pid=overview.pid if overview and state == "running" else None,
        progress=progress_of(opened) if include_details else None,
        performance=performance_of(opened) if include_details else None,
        recent_logs=log_lines(opened)[1][-RECENT_LINES:] if include_details else [],
        message=(overview.reason if overview else opened.run.status.reason),
    )
    if reply.progress is not None and overview is not None:
        reply.progress.seconds_left = overview.seconds_left
    return reply.said(f"{opened.run.id!r} is {state}: {reply.message}.")


async def wait_for_training_completion(
    workspace: Workspace, run_id: str, timeout: float = 3600, poll_interval: float = 5
) -> Completion:
    """Wait until a run has ended, at most 50 s in one call: with status `running` call it again. The run goes on
    whether or not somebody waits."""
    started = time.monotonic()
    longest = max(0.0, min(timeout, LONGEST_WAIT))
    status = await anyio.to_thread.run_sync(get_training_status, workspace, run_id, False)
    while status.running and time.monotonic() - started < longest:
        left = longest - (time.monotonic() - started)
        await anyio.sleep(max(0.05, min(poll_interval, 5.0, left)))
        status = await anyio.to_thread.run_sync(get_training_status, workspace, run_id, False)
    elapsed = time.monotonic() - started
    if status.source == "starting":
        return Completion(
            success=False, run_id=run_id, status="running", completion_reason="", stopping_message="",
            elapsed_time=elapsed, final_metrics={}, config_summary={}, message=status.message,
        ).said(f"{run_id!r} is still starting; call again.")  # fmt: skip
    opened = await anyio.to_thread.run_sync(
        workspace.open, await anyio.to_thread.run_sync(_run_name, workspace, run_id)
    )
    reason, message = ("running", "") if status.running else stopping(opened)
    word = WORDS[status.running]
    reply = Completion(
        success=word == "completed",
        run_id=opened.run.id,
        status=word,
        completion_reason=reason,
        stopping_message=message or status.message,
        elapsed_time=elapsed,
        final_metrics=metrics_summary(opened),
        config_summary=config_summary(opened),
        message=MESSAGES[word],
    )
    return reply.said(f"{opened.run.id!r}: {reply.status}. {reply.message}.")


def progress_of(opened: OpenRun) -> Progress:
    """Progress in env steps, or in the run's own steps where env steps are not known."""
    import numpy as np

    run = opened.run
    share = 100.0 * run.steps / run.budget if run.budget else None
    outlook = opened.diagnosis.outlook if opened.running and run.series else None
    return Progress(
        total_timesteps=run.env_steps,
        total_env_steps=run.env_steps,
        max_env_steps=run.budget if run.step_axis == "env_steps" else None,
        steps=run.steps,
        budget=run.budget,
        step_axis=run.step_axis,
        progress_pct=None if share is None else min(round(share, 2), 100.0),
        current_epoch=round(float(epochs_at(opened, np.array([run.steps]))[0])) if run.series else None,
        epoch=epoch_meaning(opened),
        seconds_left=None if outlook is None else outlook.seconds_left,
    )


def performance_of(opened: OpenRun) -> Performance:
    """Returns as logged; an evaluation that does not mean what it says is left out."""
    run, threshold, verdict = opened.run, threshold_of(opened), opened.diagnosis.verdict
    is_known = verdict is Verdict.SOLVED or (threshold is not None and run.returns is not None)
    return Performance(
        train_reward_mean=last_of(run.series.get("return/train")),
        val_reward_mean=last_of(run.series.get("return/eval")),
        best_reward=run.returns.highest if run.returns is not None else None,
        reward_threshold=threshold,
        is_solved=verdict is Verdict.SOLVED if is_known else None,
    )


def config_summary(opened: OpenRun) -> dict[str, Any]:
    """The settings that an agent asks for first, under canonical names and gymnasium-solver's for the rate."""
    config = opened.run.config
    found = {key: plain_value(config.get(key)) for key in SUMMARY_KEYS if key in config}
    if opened.run.environment:
        found["env_id"] = opened.run.environment
    if "learning_rate" in found:
        found["policy_lr"] = found["learning_rate"]
    return found


def training_folder(workspace: Workspace, name: str) -> Path | None:
    """The folder of a run of the lab, by run id, job id, or the config_id of the one run of it that goes on."""
    from rlclinic.lab.folder import STATUS
    from rlclinic.lab.overview import run_overviews

    job = find_job(workspace, name)
    if job is not None:
        run_id = run_of(workspace, job)
        return None if run_id is None else workspace.runs / run_id
    if ":" in name and "::" not in name and workspace.runs.is_dir():
        env_id, _, variant = name.rpartition(":")
        running = [
            item
            for item in run_overviews(workspace.runs)
            if item.state == "running" and item.environment == env_id and item.algorithm.lower() in variant.lower()
        ]
        if len(running) == 1:
            return Path(running[0].path)
    path = Path(split_name(workspace.locate(name))[0])
    return path if (path / STATUS).is_file() else None


def _run_name(workspace: Workspace, name: str) -> str:
    path = training_folder(workspace, name)
    return str(path) if path is not None else name


def _starting(workspace: Workspace, name: str) -> TrainingStatus | None:
    """A job whose run does not exist yet."""
    job = find_job(workspace, name)
    if job is None or run_of(workspace, job) is not None:
        return None
    if job.kind != "training":
        raise RunReadError(f"{name!r} is a {job.kind}", hint="call trial_status or probe_trainer with this id")
    if not job.alive:
        raise failure_of(job)
    return TrainingStatus(
        run_id=name, running=True, status="starting", source="starting", pid=job.pid, progress=None, performance=None,
        recent_logs=[], message="the process is starting",
    ).said(f"{name!r} is starting.")  # fmt: skip


def _overview(path: Path) -> Any:
    from rlclinic.lab.overview import run_overviews

    return next(iter(run_overviews(path)), None)
