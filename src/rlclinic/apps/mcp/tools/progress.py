"""How a run stands while it goes on. Progress is not a result."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import anyio

from rlclinic.apps.mcp.desk import Case, Desk
from rlclinic.apps.mcp.epochs import epoch_meaning, epochs_at
from rlclinic.apps.mcp.jobs import find_job
from rlclinic.apps.mcp.log_text import log_lines
from rlclinic.apps.mcp.reply import UNTRUSTED, Number, Part, Reply, plain_value
from rlclinic.apps.mcp.tools.runs import metrics_summary, stopping, threshold_of
from rlclinic.apps.mcp.tools.training import failure_of, run_of
from rlclinic.model.errors import RunReadError
from rlclinic.readers.discover import split_name
from rlclinic.reference.metric_lookup import last_of

# Clients give up after a minute: a call never waits longer than this, in seconds.
LONGEST_WAIT = 50.0
RECENT_LINES = 8
# What is said of a run that has not ended, by its state.
NOTES = {
    "running": "still running: progress, not a result",
    "unknown": "whether it still goes on is not known: read it as progress, not as a result",
}
# The word for whether a run goes on, and what that means for one who waits.
WORDS = {True: "running", False: "completed", None: "unknown"}
MESSAGES = {
    "running": "still running: the metrics are progress, not a result; call again",
    "completed": "ended",
    "unknown": "the run's files do not tell whether it still goes on; get_run_logs and get_training_progress tell more",
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
    """Highest logged mean return, of training or of an evaluation that can be believed."""
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


def get_training_progress(desk: Desk, run_id: str) -> TrainingProgress:
    """How far a run is in env steps and how it does, as numbers. While it runs these are progress, not results."""
    case = desk.case(run_id)
    progress = progress_of(case)
    reply = TrainingProgress(
        run_id=case.run.id,
        status=case.run.status.state.value,
        progress=progress,
        performance=performance_of(case),
        config_summary=config_summary(case),
        note=NOTES.get(case.run.status.state.value, "the run has ended"),
    )
    share = "unknown share" if progress.progress_pct is None else f"{progress.progress_pct}%"
    return reply.said(f"{case.run.id!r}: {share} of its budget, {reply.note}.")


def get_training_status(desk: Desk, run_id: str, include_details: bool = True) -> TrainingStatus:  # noqa: FBT001, FBT002
    """Whether a run goes on, with progress and its newest log lines. Takes a run id, `@last`, or the job_id or
    config_id of start_training."""
    starting = _starting(desk, run_id)
    if starting is not None:
        return starting
    path = training_folder(desk, run_id)
    case = desk.case(str(path) if path is not None else run_id)
    standing = _standing(case.path) if path is not None else None
    state = standing.state if standing else case.run.status.state.value
    reply = TrainingStatus(
        run_id=case.run.id,
        running=None if state == "unknown" else state == "running",
        status=state,
        source="tracked" if standing else "files",
        pid=standing.pid if standing and state == "running" else None,
        progress=progress_of(case) if include_details else None,
        performance=performance_of(case) if include_details else None,
        recent_logs=log_lines(case)[1][-RECENT_LINES:] if include_details else [],
        message=(standing.reason if standing else case.run.status.reason),
    )
    if reply.progress is not None and standing is not None:
        reply.progress.seconds_left = standing.seconds_left
    return reply.said(f"{case.run.id!r} is {state}: {reply.message}.")


async def wait_for_training_completion(
    desk: Desk, run_id: str, timeout: float = 3600, poll_interval: float = 5
) -> Completion:
    """Wait until a run has ended, at most 50 s in one call: with status `running` call it again. The run goes on
    whether or not somebody waits."""
    started = time.monotonic()
    longest = max(0.0, min(timeout, LONGEST_WAIT))
    status = await anyio.to_thread.run_sync(get_training_status, desk, run_id, False)
    while status.running and time.monotonic() - started < longest:
        left = longest - (time.monotonic() - started)
        await anyio.sleep(max(0.05, min(poll_interval, 5.0, left)))
        status = await anyio.to_thread.run_sync(get_training_status, desk, run_id, False)
    elapsed = time.monotonic() - started
    if status.source == "starting":
        return Completion(
            success=False, run_id=run_id, status="running", completion_reason="", stopping_message="",
            elapsed_time=elapsed, final_metrics={}, config_summary={}, message=status.message,
        ).said(f"{run_id!r} is still starting; call again.")  # fmt: skip
    case = await anyio.to_thread.run_sync(desk.case, await anyio.to_thread.run_sync(_case_name, desk, run_id))
    reason, message = ("running", "") if status.running else stopping(case)
    word = WORDS[status.running]
    reply = Completion(
        success=word == "completed",
        run_id=case.run.id,
        status=word,
        completion_reason=reason,
        stopping_message=message or status.message,
        elapsed_time=elapsed,
        final_metrics=metrics_summary(case),
        config_summary=config_summary(case),
        message=MESSAGES[word],
    )
    return reply.said(f"{case.run.id!r}: {reply.status}. {reply.message}.")


def progress_of(case: Case) -> Progress:
    """Progress in env steps, or in the run's own steps where env steps are not known."""
    import numpy as np

    run = case.run
    share = 100.0 * run.steps / run.budget if run.budget else None
    outlook = case.diagnosis.outlook if case.running and run.series else None
    return Progress(
        total_timesteps=run.env_steps,
        total_env_steps=run.env_steps,
        max_env_steps=run.budget if run.step_axis == "env_steps" else None,
        steps=run.steps,
        budget=run.budget,
        step_axis=run.step_axis,
        progress_pct=None if share is None else min(round(share, 2), 100.0),
        current_epoch=round(float(epochs_at(case, np.array([run.steps]))[0])) if run.series else None,
        epoch=epoch_meaning(case),
        seconds_left=None if outlook is None else outlook.seconds_left,
    )


def performance_of(case: Case) -> Performance:
    """Returns as logged; an evaluation that does not mean what it says is left out."""
    run, threshold = case.run, threshold_of(case)
    train, val = run.series.get("return/train"), run.series.get("return/eval")
    believed = [series for series in (train, val) if series is not None and last_of(series) is not None]
    best = max((series.highest for series in believed if series.highest is not None), default=None)
    return Performance(
        train_reward_mean=last_of(train),
        val_reward_mean=last_of(val),
        best_reward=best,
        reward_threshold=threshold,
        is_solved=None if threshold is None or best is None else case.diagnosis.verdict.value == "solved",
    )


def config_summary(case: Case) -> dict[str, Any]:
    """The settings that an agent asks for first, under canonical names and gymnasium-solver's for the rate."""
    config = case.run.config
    found = {key: plain_value(config.get(key)) for key in SUMMARY_KEYS if key in config}
    if case.run.environment:
        found["env_id"] = case.run.environment
    if "learning_rate" in found:
        found["policy_lr"] = found["learning_rate"]
    return found


def training_folder(desk: Desk, name: str) -> Path | None:
    """The folder of a run of the lab, by run id, job id, or the config_id of the one run of it that goes on."""
    from rlclinic.lab.folder import STATUS
    from rlclinic.lab.overview import standings

    job = find_job(desk, name)
    if job is not None:
        run_id = run_of(desk, job)
        return None if run_id is None else desk.runs / run_id
    if ":" in name and "::" not in name and desk.runs.is_dir():
        env_id, _, variant = name.rpartition(":")
        running = [
            item
            for item in standings(desk.runs)
            if item.state == "running" and item.environment == env_id and item.algorithm.lower() in variant.lower()
        ]
        if len(running) == 1:
            return Path(running[0].path)
    path = Path(split_name(desk.locate(name))[0])
    return path if (path / STATUS).is_file() else None


def _case_name(desk: Desk, name: str) -> str:
    path = training_folder(desk, name)
    return str(path) if path is not None else name


def _starting(desk: Desk, name: str) -> TrainingStatus | None:
    """A job whose run does not exist yet."""
    job = find_job(desk, name)
    if job is None or run_of(desk, job) is not None:
        return None
    if job.kind != "training":
        raise RunReadError(f"{name!r} is a {job.kind}", hint="call trial_status or probe_trainer with this id")
    if not job.alive:
        raise failure_of(job)
    return TrainingStatus(
        run_id=name, running=True, status="starting", source="starting", pid=job.pid, progress=None, performance=None,
        recent_logs=[], message="the process is starting",
    ).said(f"{name!r} is starting.")  # fmt: skip


def _standing(path: Path) -> Any:
    from rlclinic.lab.overview import standings

    return next(iter(standings(path)), None)
