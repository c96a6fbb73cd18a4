"""The runs of a root and how they stand, from their status.json and the last row of their metrics."""

from __future__ import annotations

import csv
import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rlclinic.lab.folder import CONFIG, METRICS, STATUS
from rlclinic.model.run import Status
from rlclinic.readers.no_links import open_file, read_file, real
from rlclinic.readers.state import RunState, read_state, status_now

# Enough for the last rows of a wide table; in bytes.
TAIL = 64 << 10
RETURNS = "train/roll/ep_rew/mean"


@dataclass(frozen=True, slots=True)
class Standing:
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


def standings(root: Path) -> list[Standing]:
    """Every run below a root that has a status.json, newest first; a run's own folder stands for itself."""
    if (root / STATUS).is_file():
        paths = [root]
    else:
        paths = [path.parent for path in root.glob(f"*/{STATUS}") if not path.parent.is_symlink()]
    found = [(state, _standing(path, state)) for path in paths if (state := read_state(path / STATUS)) is not None]
    return [standing for _, standing in sorted(found, key=lambda pair: pair[0].started, reverse=True)]


def _standing(path: Path, state: RunState) -> Standing:
    config = _config(path)
    now = status_now(state)
    total = config.get("total_steps")
    steps = total if isinstance(total, int) else None
    running = now.state is Status.RUNNING
    speed = state.env_steps / state.seconds if state.seconds > 0 else 0.0
    left = (steps - state.env_steps) / speed if running and steps and speed else None
    return Standing(
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
        data = json.loads(read_file(path / CONFIG))
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
    columns = next(csv.reader([header]), [])
    if RETURNS not in columns:
        return None
    at = columns.index(RETURNS)
    for row in csv.reader(reversed(lines)):
        if len(row) == len(columns) and row[at]:
            return float(row[at])
    return None
