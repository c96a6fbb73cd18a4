"""Start and stop training. Only known configurations, only validated overrides, never a shell command."""

from __future__ import annotations

import json
import time
from typing import Any

import anyio

from rlclinic.apps.mcp.jobs import Job, end_job, find_job, start_job
from rlclinic.apps.mcp.reply import UNTRUSTED, Reply, plain_value
from rlclinic.apps.mcp.tools.configs import config_source
from rlclinic.apps.mcp.workspace import Workspace
from rlclinic.model.errors import UsageError

# Seconds to see the new process at work, or failing, before the answer says that it is still starting.
START_WAIT = 10.0
STOP_WAIT = 45.0
LOOK = 0.2
MOST_OVERRIDES = 60


class Started(Reply):
    success: bool
    config_id: str
    run_id: str | None
    """Null while it is still starting; job_id then names it."""
    job_id: str
    pid: int
    overrides: dict[str, Any]
    message: str
    untrusted: str = UNTRUSTED


class Stopped(Reply):
    success: bool
    run_id: str
    message: str
    untrusted: str = UNTRUSTED


async def start_training(
    workspace: Workspace,
    config_id: str,
    max_env_steps: int | None = None,
    overrides: dict[str, Any] | None = None,
    quiet: bool = True,  # noqa: FBT001, FBT002
    wandb_mode: str = "disabled",
) -> Started:
    """Train a known configuration `<env_id>:<variant>` (see list_environments, list_variants) in the background and
    return its run id. Overrides are hyperparameters by canonical or gymnasium-solver name. Follow it with
    get_training_status or wait_for_training_completion. `quiet` and `wandb_mode` change nothing here: nothing is sent
    to W&B."""
    source, _ = await anyio.to_thread.run_sync(config_source, workspace, config_id)
    changes = [*assignments(overrides or {}), *(f"{key}={value}" for key, value in _budget(max_env_steps).items())]
    flags = [flag for change in changes for flag in ("-o", change)]
    arguments = ["train", source, *flags, "--root", str(workspace.runs), "--quiet", "--json"]
    job, child = await anyio.to_thread.run_sync(start_job, workspace, "training", config_id, arguments)
    run_id, until = None, time.monotonic() + START_WAIT
    while run_id is None and time.monotonic() < until:
        # Asked first, so that a very short run that has ended already is still found.
        ended = child.poll() is not None
        run_id = await anyio.to_thread.run_sync(run_of, workspace, job)
        if ended and run_id is None:
            raise failure_of(job)
        await anyio.sleep(LOOK)
    reply = Started(
        success=True,
        config_id=config_id,
        run_id=run_id,
        job_id=job.id,
        pid=job.pid,
        overrides=plain_value({**(overrides or {}), **_budget(max_env_steps)}),
        message="training" if run_id else "still starting: call get_training_status with the job_id",
    )
    return reply.said(f"Training of {config_id} started as {run_id or job.id!r}; poll get_training_status.")


async def stop_training(workspace: Workspace, run_id: str) -> Stopped:
    """Ask a training run that rlclinic started to save and end; it can be resumed. Takes the run id, the job id or the
    config_id of the one run of it that goes on; also the id of a trial or a probing."""
    return await anyio.to_thread.run_sync(_stop, workspace, run_id)


def run_of(workspace: Workspace, job: Job) -> str | None:
    """The id of the run that a job's process trains."""
    from rlclinic.lab.folder import STATUS
    from rlclinic.readers.state import read_state

    for path in workspace.runs.glob(f"*/{STATUS}") if workspace.runs.is_dir() else ():
        state = None if path.parent.is_symlink() else read_state(path)
        if state is not None and state.pid == job.pid and state.process_started == job.process_started:
            return path.parent.name
    return None


def _stop(workspace: Workspace, name: str) -> Stopped:
    from rlclinic.apps.mcp.tools.progress import training_folder
    from rlclinic.lab.background import stop
    from rlclinic.lab.errors import TrainingError
    from rlclinic.lab.folder import open_folder

    job = find_job(workspace, name)
    if job is not None and run_of(workspace, job) is None:
        return _end(job)
    path = training_folder(workspace, name)
    if path is None:
        raise UsageError(
            f"{name!r} is no run that rlclinic trains", hint="call get_training_status; other trainers are not stopped"
        )
    folder = open_folder(path)
    state = folder.state()
    if state is None or state.state != "running":
        word = state.state if state else "never started"
        return Stopped(success=False, run_id=folder.id, message=f"it is not running: {word}").said("Nothing to stop.")
    try:
        told = stop(folder, STOP_WAIT)
    except TrainingError as error:
        message = f"{error.message}; look again with get_training_status"
        return Stopped(success=False, run_id=folder.id, message=message).said(message)
    return Stopped(success=True, run_id=folder.id, message=told).said(f"{folder.id!r} {told}.")


def _end(job: Job) -> Stopped:
    """End a trial, a probing, or a training that has no run yet."""
    if not job.alive:
        return Stopped(success=False, run_id=job.id, message="it is not running").said("Nothing to stop.")
    ended = end_job(job, STOP_WAIT)
    after = "; started again with the same arguments it goes on where it was" if job.kind == "trial" else ""
    message = f"stopped{after}" if ended else "it was asked to end and has not yet; call again"
    return Stopped(success=ended, run_id=job.id, message=message).said(f"{job.id!r}: {message}.")


def assignments(overrides: dict[str, Any]) -> list[str]:
    """`key=value` as the command line takes it, of keys that set nothing but how the agent learns. What they are worth
    is checked by the lab before anything is trained."""
    from rlclinic.lab.values import is_setting

    if len(overrides) > MOST_OVERRIDES:
        raise UsageError(f"{len(overrides)} overrides", hint=f"at most {MOST_OVERRIDES}")
    found = []
    for key, value in overrides.items():
        if not key.replace("_", "").isalnum() or not key.isascii():
            raise UsageError(f"{key!r} is no hyperparameter", hint="call get_config for the names")
        if not is_setting(key):
            raise UsageError(
                f"{key} is no hyperparameter, or belongs to the configuration, and is not overridden here",
                hint="call get_config for the names, or choose another config_id or run",
            )
        text = value if isinstance(value, str) else json.dumps(plain_value(value))
        if len(text) > 500 or "\0" in text:
            raise UsageError(f"the value of {key} is too long", hint="give a number, a word or a short list")
        found.append(f"{key}={text}")
    return found


def _budget(max_env_steps: int | None) -> dict[str, int]:
    if max_env_steps is not None and max_env_steps < 1:
        raise UsageError(f"max_env_steps = {max_env_steps}", hint="a whole number of at least 1")
    return {} if max_env_steps is None else {"total_steps": max_env_steps}


def failure_of(job: Job) -> UsageError:
    """Why a training ended before its run began."""
    answer = (job.answer() or {}).get("error")
    if isinstance(answer, dict):
        return UsageError(str(answer.get("message", "")), hint=str(answer.get("hint", "")))
    return UsageError(f"the training ended at once: {job.last_words}", hint="check the config")
