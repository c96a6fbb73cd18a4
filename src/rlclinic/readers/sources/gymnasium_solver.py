"""gymnasium-solver's run folder, which rlclinic's own training writes too.

The traps of its metrics.csv, each handled here: `total_timesteps` counts vector steps; an evaluation row
stands before the training row of its epoch and counts its own steps; the last training row of a run that
ends by its budget repeats the row before it; evaluation uses the initial policy unless eval_async is set.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from rlclinic.model.run import Checkpoint, Status
from rlclinic.model.series import FloatArray, StepAxis
from rlclinic.readers.columns import present
from rlclinic.readers.draft import DECIDED, LIKELY, SEEN, TOLD, Draft
from rlclinic.readers.formats.tables.table import Table
from rlclinic.readers.parts.config_files import read_config
from rlclinic.readers.parts.json_files import load_object
from rlclinic.readers.parts.logs import log_entries, read_log
from rlclinic.readers.parts.tables import load_table
from rlclinic.readers.place import Entry
from rlclinic.readers.state import parse_state, status_now

# From this commit date on, synchronous evaluation never refreshes its copy of the policy.
STALE_SINCE = 1_761_177_600.0  # 2025-10-23
STALE = "the evaluated policy is the untrained one: with eval_async false the trainer never refreshes its copy"

ENV_STEPS = "train/cnt/total_env_steps"
_RESULT = re.compile(r"(✓ SOLVED|✗ NOT SOLVED)")
_REASON = re.compile(r"Reason:\s*(.+)")
_EARLY_STOP = re.compile(r"Early stopping!\s*(.+)")
_ALERTS = "METRIC ALERTS"


def read(draft: Draft) -> None:
    """Read config, metrics, logs and checkpoints of one run folder."""
    config = draft.place.first("config.json")
    if config is not None:
        read_config(draft, config)
    draft.framework = _framework(draft)
    draft.threshold = draft.number("reward_threshold", "spec.returns.threshold_solved")
    metrics = draft.place.first("metrics.csv")
    table = load_table(draft, metrics) if metrics is not None else None
    if metrics is not None and table is not None:
        _metrics(draft, table, metrics.relative)
    for entry in draft.place.match("report.md"):
        draft.used(entry, "report")
    _status_file(draft)
    _logs(draft, has_rows=table is not None and table.rows > 0)
    _checkpoints(draft)


def _framework(draft: Draft) -> str:
    own = draft.place.first("status.json") is not None or "rlclinic_version" in draft.settings
    return "rlclinic" if own else "gymnasium-solver"


def _metrics(draft: Draft, table: Table, source: str) -> None:
    if not table.rows:
        draft.note(f"{source}: a header but no row")
        return
    steps = _row_steps(draft, table, source)
    keep = np.ones(table.rows, dtype=bool)
    stub = _stub_row(table, steps)
    if stub is not None:
        keep[stub] = False
        draft.note(f"{source}: the last row repeats the one before it and was left out")
    times = table.numbers.get("time")
    caveat = STALE if _is_stale(draft, times) else ""
    # Learned from a data set, a step is an update.
    axis: StepAxis = "updates" if "dataset" in draft.settings else "env_steps"
    for name in table.numbers:
        if name in {"time", "total_timesteps", "epoch"}:
            continue
        chosen = present(table, name) & keep & np.isfinite(steps)
        if chosen.any():
            draft.metric(
                name,
                steps[chosen],
                table.numbers[name][chosen],
                source,
                wall_times=None if times is None else times[chosen],
                axis=axis,
                caveat=caveat if name.startswith("val/") and "/ep_" in name else "",
            )


def _row_steps(draft: Draft, table: Table, source: str) -> FloatArray:
    """Env steps of every row; evaluation rows get those of the training row of their epoch."""
    steps = table.numbers.get(ENV_STEPS)
    epochs = table.numbers.get("epoch")
    if steps is None:
        n_envs = draft.number("n_envs") or 1.0
        draft.note(f"{source}: no {ENV_STEPS}; total_timesteps x {n_envs:g} environments used")
        vector_steps = table.numbers.get("total_timesteps")
        return vector_steps * n_envs if vector_steps is not None else np.arange(table.rows, dtype=np.float64)
    if epochs is None:
        return steps
    trained = np.isfinite(steps) & np.isfinite(epochs)
    if not trained.any():
        return steps
    order = np.argsort(epochs[trained], kind="stable")
    filled = np.interp(epochs, epochs[trained][order], steps[trained][order])
    return np.where(np.isfinite(steps), steps, filled)


def _stub_row(table: Table, steps: FloatArray) -> int | None:
    trained = np.flatnonzero(present(table, ENV_STEPS)) if ENV_STEPS in table.numbers else np.array([], dtype=int)
    if trained.size < 2 or steps[trained[-1]] != steps[trained[-2]]:
        return None
    last = int(trained[-1])
    updates = [name for name in table.numbers if name.startswith("train/opt/")]
    blank = all(not present(table, name)[last] for name in updates)
    return last if updates and blank else None


def _is_stale(draft: Draft, times: FloatArray | None) -> bool:
    if draft.framework != "gymnasium-solver":
        return False
    setting = draft.settings.get("eval_async")
    finite = times[np.isfinite(times)] if times is not None else np.array([])
    return (setting is None or setting.value is False) and (not finite.size or finite[0] > STALE_SINCE)


def _status_file(draft: Draft) -> None:
    entry = draft.place.first("status.json")
    if entry is None:
        return
    state = parse_state(load_object(draft, entry, "status"))
    if state is not None:
        now = status_now(state)
        draft.clue(now.state, now.reason, DECIDED)


def _logs(draft: Draft, *, has_rows: bool) -> None:
    ended = False
    for entry in log_entries(draft.place):
        lines = read_log(draft, entry, metrics=False)
        ended = _end_of_log(draft, entry, lines) or ended
    if ended or any(clue.strength >= SEEN for clue in draft.clues):
        return
    if has_rows:
        draft.clue(Status.INTERRUPTED, "run.log has no result box: the process was ended from outside", LIKELY)
    else:
        reason = "ended before the first epoch; the trainer prints its traceback on the console only"
        draft.clue(Status.CRASHED, reason, SEEN)


def _end_of_log(draft: Draft, entry: Entry, lines: list[str]) -> bool:
    box = next((line for line in reversed(lines) if _RESULT.search(line)), "")
    reason = next((found[1] for line in reversed(lines) if (found := _REASON.search(line))), "")
    reason = reason or next((found[1] for line in reversed(lines) if (found := _EARLY_STOP.search(line))), "")
    interrupt = next((line for line in lines[-5:] if "KeyboardInterrupt" in line), "")
    if interrupt:
        draft.clue(Status.INTERRUPTED, f"{entry.relative}: {interrupt.strip()}", TOLD)
    elif box:
        draft.clue(Status.FINISHED, f"{entry.relative}: {box.strip()}; {reason}".rstrip("; "), TOLD)
    if any(_ALERTS in line for line in lines):
        draft.note(f"{entry.relative}: holds the trainer's own alerts")
    return bool(box or interrupt)


def _checkpoints(draft: Draft) -> None:
    labels = _links(draft.place.folder / "checkpoints")
    for entry in draft.place.match("checkpoints/*/metrics.json", "checkpoints/*/state.json"):
        name = entry.relative.split("/")[1]
        if any(found.path.endswith(name) for found in draft.checkpoints):
            continue
        numbers = {
            str(key): float(value)
            for key, value in load_object(draft, entry, "checkpoint").items()
            if isinstance(value, int | float) and not isinstance(value, bool)
        }
        step = numbers.get(ENV_STEPS, numbers.get("total_env_steps"))
        draft.checkpoints.append(Checkpoint(f"checkpoints/{name}", step, labels.get(name, ""), numbers))


def _links(folder: Path) -> dict[str, str]:
    """Which checkpoint `@best` and `@last` mean, by the last part of their target: a moved folder breaks them."""
    labels: dict[str, str] = {}
    for label in ("last", "best"):
        try:
            target = str((folder / f"@{label}").readlink())
        except OSError:
            continue
        name = target.replace("\\", "/").rstrip("/").rpartition("/")[2]
        labels[name] = f"{labels.get(name, '')} {label}".strip()
    return labels
