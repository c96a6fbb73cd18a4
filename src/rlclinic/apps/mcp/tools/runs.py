"""Which runs there are, and what is known about one."""

from __future__ import annotations

import stat
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlclinic.apps.mcp.epochs import epochs_at
from rlclinic.apps.mcp.reply import UNTRUSTED, Number, Part, Reply, plain_value
from rlclinic.apps.mcp.workspace import OpenRun, Workspace
from rlclinic.model.numbers import date_text
from rlclinic.reference.metric_lookup import last_of

if TYPE_CHECKING:
    from rlclinic.model.run import Checkpoint, Run

# Checkpoints that get_run_info names; list_checkpoints has all.
SHOWN_CHECKPOINTS = 5
SUMMARY = {
    "train/roll/ep_rew/mean": "return/train",
    "train/roll/ep_rew/best": "return/best",
    "train/roll/ep_len/mean": "episode_length",
    "val/roll/ep_rew/mean": "return/eval",
}
# By the state of a run the word that gymnasium-solver's server uses.
REASONS = {"interrupted": "interrupted", "crashed": "error", "running": "running", "unknown": "unknown"}


class RunEntry(Part):
    run_id: str
    path: str
    timestamp: str | None
    config_id: str
    env_id: str
    algo: str
    framework: str
    status: str
    env_steps: Number | None
    last_return: Number | None
    best_return: Number | None


class RunList(Reply):
    count: int
    total: int
    runs: list[RunEntry]
    unreadable: int
    next_offset: int | None
    untrusted: str = UNTRUSTED


class RunInfo(Reply):
    run_id: str
    run_dir: str
    framework: str
    algorithm: str
    environment: str
    status: str
    env_steps: Number | None
    steps: Number
    """On the run's own axis, as the budget is."""
    step_axis: str
    budget: Number | None
    reward_threshold: Number | None
    config: dict[str, Any]
    checkpoints: list[str]
    metrics_summary: dict[str, Number]
    stopping_reason: str
    stopping_message: str
    notes: list[str]
    untrusted: str = UNTRUSTED


class CheckpointEntry(Part):
    name: str
    path: str
    size_mb: Number
    modified: str | None
    env_steps: Number | None
    label: str
    metrics: dict[str, Number]


class Checkpoints(Reply):
    run_id: str
    checkpoints: list[CheckpointEntry]
    has_best: bool
    has_last: bool
    untrusted: str = UNTRUSTED


def list_runs(
    workspace: Workspace, env_filter: str = "", algo_filter: str = "", limit: int = 20, offset: int = 0
) -> RunList:
    """List the runs of every framework below the root, newest first. The filters are parts of the environment's and
    algorithm's name. `offset` pages on."""
    from rlclinic.store.listing import list_runs as listing_of

    listing = listing_of(workspace.root)
    rows = listing.newest(env_filter, algo_filter)
    first = max(offset, 0)
    chosen = rows[first : first + max(min(limit, 200), 1)]
    entries = [_entry(workspace, row, when) for when, row in chosen]
    after = first + len(entries)
    reply = RunList(
        count=len(entries),
        total=len(rows),
        runs=entries,
        unreadable=len(listing.errors),
        next_offset=after if after < len(rows) else None,
    )
    return reply.said(f"{len(entries)} of {len(rows)} runs, newest first.", wide=limit != 20)


def get_run_info(workspace: Workspace, run_id: str) -> RunInfo:
    """Tell what a run is and how it ended: config as written, last values of the return and episode length,
    checkpoints, why it stopped. For causes call diagnose."""
    opened = workspace.open(run_id)
    run = opened.run
    reason, message = stopping(opened)
    native = {name: setting.value for name, setting in run.config.native.items()}
    canonical = {name: setting.value for name, setting in run.config.settings.items() if not setting.is_default}
    summary = metrics_summary(opened)
    reply = RunInfo(
        run_id=run.id,
        run_dir=workspace.shown(opened.path),
        framework=run.framework,
        algorithm=run.algorithm,
        environment=run.environment,
        status=run.status.state.value,
        env_steps=run.env_steps,
        steps=run.steps,
        step_axis=run.step_axis,
        budget=run.budget,
        reward_threshold=threshold_of(opened),
        config=plain_value(native or canonical),
        checkpoints=[Path(item.path).name for item in run.checkpoints][-SHOWN_CHECKPOINTS:],
        metrics_summary=summary,
        stopping_reason=reason,
        stopping_message=message,
        notes=[f"{series.logged_as}: {series.caveat}" for series in run.series.values() if series.caveat][:3],
    )
    names = {"training": "train/roll/ep_rew/mean", "evaluation": "val/roll/ep_rew/mean"}
    returns = [f"{word} return {float(summary[name]):.4g}" for word, name in names.items() if name in summary]
    progress = "so far" if opened.running else "at the end"
    told = f"{', '.join(returns)} {progress}" if returns else "no return was logged"
    return reply.said(
        f"{run.id!r}: {run.algorithm or 'unknown algorithm'} on {run.environment or 'an unknown environment'}, "
        f"{run.status.state.value}; {told}."
    )


def list_checkpoints(workspace: Workspace, run_id: str) -> Checkpoints:
    """List the checkpoints of a run with size, step, and whether they are the best or the last."""
    opened = workspace.open(run_id)
    folder = opened.path if opened.path.is_dir() else opened.path.parent
    found = [(item, *_size_and_time(folder / item.path)) for item in opened.run.checkpoints]
    entries = [
        CheckpointEntry(
            name=Path(item.path).name,
            path=item.path,
            size_mb=size / 1e6,
            modified=modified,
            env_steps=_env_steps(opened.run, item),
            label=item.label,
            metrics={key: value for key, value in item.metrics.items() if "ep_rew" in key or "reward" in key},
        )
        for item, size, modified in found
    ]
    labels = {word for entry in entries for word in entry.label.split()}
    has_last = bool(labels & {"last", "final"})
    reply = Checkpoints(run_id=opened.run.id, checkpoints=entries, has_best="best" in labels, has_last=has_last)
    text = f"{len(entries)} checkpoints." if entries else "No checkpoint was saved in a form that rlclinic lists."
    return reply.said(text)


def metrics_summary(opened: OpenRun) -> dict[str, Number]:
    """The last values, under the names of gymnasium-solver; metrics that the run has not are left out."""
    import numpy as np

    found: dict[str, Number] = {}
    for name, canonical in SUMMARY.items():
        last = last_of(opened.run.series.get(canonical))
        if last is not None:
            found[name] = last
    if "train/roll/ep_rew/best" not in found and "return/train" in opened.run.series:
        best = opened.run.series["return/train"].highest
        if best is not None:
            found["train/roll/ep_rew/best_mean"] = best
    if opened.run.env_steps is not None:
        found["train/cnt/total_env_steps"] = opened.run.env_steps
    if opened.run.series:
        found["epoch"] = round(float(epochs_at(opened, np.array([opened.run.steps]))[0]))
    return found


def stopping(opened: OpenRun) -> tuple[str, str]:
    """Why the run stopped: the old server's word, and what shows it."""
    status = opened.run.status
    if status.state.value != "finished":
        return REASONS[status.state.value], status.reason
    text = status.reason.lower()
    by_threshold = "ep_rew" in text or "threshold" in text
    return ("early_stop_threshold" if by_threshold and "total_env_steps" not in text else "completed_normally"), (
        status.reason
    )


def threshold_of(opened: OpenRun) -> float | None:
    """The goal that the diagnosis judges by; the run's own threshold where there is no return to judge."""
    goal = opened.diagnosis.goal
    return opened.run.threshold if goal is None else goal.level


def _env_steps(run: Run, item: Checkpoint) -> float | None:
    """The env steps of a checkpoint; a number in its name that counts something else is none."""
    counts_steps = item.metrics or "step" in Path(item.path).name.lower()
    return item.step if counts_steps and run.step_axis == "env_steps" else None


def _entry(workspace: Workspace, row: dict[str, Any], when: float) -> RunEntry:
    return RunEntry(
        run_id=str(row["id"]),
        path=workspace.shown(str(row["path"])),
        timestamp=date_text(when) if when else None,
        config_id=f"{row['environment']}:{str(row['algorithm']).lower()}",
        env_id=str(row["environment"]),
        algo=str(row["algorithm"]).lower(),
        framework=str(row["framework"]),
        status=str(row["status"]),
        env_steps=row["env_steps"],
        last_return=row["return"]["last"],
        best_return=row["return"]["best"],
    )


def _size_and_time(path: Path) -> tuple[float, str | None]:
    """Bytes of a file, or of the files in a folder, and when it was changed; links are not followed."""
    from rlclinic.readers.no_links import listing, real, status

    try:
        where = str(Path(real(path.parent)) / path.name)
        found = status(where)
        size = found.st_size
        if stat.S_ISDIR(found.st_mode):
            with listing(where) as entries:
                size = sum(item.stat().st_size for item in entries if item.is_file(follow_symlinks=False))
    except OSError:
        return 0.0, None
    return float(size), datetime.fromtimestamp(found.st_mtime, UTC).isoformat(timespec="seconds")
