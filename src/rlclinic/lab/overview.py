"""The runs of a root and how they stand, from their status.json and the last row of their metrics."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from rlclinic.lab.folder import CONFIG, METRICS, STATUS
from rlclinic.model.errors import RlclinicError, contained
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.numbers import number, number_in
from rlclinic.model.run import Status
from rlclinic.readers.formats.safe_json import load_json_file
from rlclinic.readers.no_links import open_file, real
from rlclinic.readers.state import RunState, load_state, status_now

# Enough for the last rows of a wide table; in bytes.
TAIL = 64 << 10
RETURNS = "train/roll/ep_rew/mean"


@dataclass(frozen=True, slots=True)
class RunOverview:
    """One run at this moment."""

    id: str
    path: str
    algorithm: str
    environment: str
    state: str
    reason: str
    env_steps: int
    total_steps: int | None
    train_return: float | None
    seconds: float
    seconds_left: float | None
    heartbeat_age: float
    pid: int

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def run_overviews(root: Path) -> list[RunOverview]:
    """Every run below a root that has a status.json, newest first; a run's own folder stands for itself."""
    if (root / STATUS).is_file():
        paths = [root]
    else:
        paths = [path.parent for path in root.glob(f"*/{STATUS}") if not path.parent.is_symlink()]
    found = [pair for path in paths if (pair := _dated(path)) is not None]
    return [overview for _, overview in sorted(found, key=lambda pair: pair[0], reverse=True)]


def _dated(path: Path) -> tuple[float, RunOverview] | None:
    """When a run started and how it stands; of a damaged one what is wrong with it."""
    try:
        with contained(path):
            state = load_state(path / STATUS)
            return None if state is None else (state.started, _overview(path, state))
    except RlclinicError as error:
        unknown = Status.UNKNOWN.value
        return 0.0, RunOverview(path.name, str(path), "", "", unknown, error.message, 0, None, None, 0.0, None, 0.0, 0)


def _overview(path: Path, state: RunState) -> RunOverview:
    config = _config(path)
    now = status_now(state)
    total = number(config.get("total_steps"))
    steps = None if total is None else round(total)
    running = now.state is Status.RUNNING
    speed = state.env_steps / state.seconds if state.seconds > 0 else 0.0
    left = (steps - state.env_steps) / speed if running and steps and speed else None
    return RunOverview(
        path.name,
        str(path),
        str(config.get("algorithm", "")),
        str(config.get("env_id", "")),
        now.state.value,
        now.reason,
        state.env_steps,
        steps,
        _last(path / METRICS),
        state.seconds,
        left,
        max(time.time() - state.heartbeat, 0.0),
        state.pid,
    )


def _config(path: Path) -> dict[str, Any]:
    try:
        data = load_json_file(path / CONFIG)
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}


def _last(path: Path) -> float | None:
    """The newest training return, from the end of the table."""
    try:
        with open_file(real(path)) as file:
            header = file.readline(TAIL).decode(errors="replace")
            start = max(file.tell(), file.seek(0, 2) - TAIL)
            file.seek(start)
            lines = file.read().decode(errors="replace").splitlines()
    except OSError:
        return None
    columns = header.strip().split(",")
    if RETURNS not in columns:
        return None
    at = columns.index(RETURNS)
    for row in (line.split(",") for line in reversed(lines)):
        if len(row) == len(columns) and row[at]:
            return number_in(row[at])
    return None
