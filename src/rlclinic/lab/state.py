"""status.json: the state of a run, so that it never has to be guessed, and whether its process is alive."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from rlclinic.model.errors import RunReadError
from rlclinic.model.numbers import number
from rlclinic.model.run import Status
from rlclinic.readers.formats.errors import FormatError
from rlclinic.readers.formats.safe_json import load_json_file

# Seconds between two heartbeats while a run trains.
HEARTBEAT_EVERY = 5.0


@dataclass(frozen=True, slots=True)
class RunState:
    """What status.json holds."""

    state: str
    """One of the words of `model.run.Status`."""
    reason: str = ""
    pid: int = 0
    process_started: str = ""
    """When the system started that process: tells it from a later one with the same pid."""
    host: str = ""
    started: float = 0.0
    heartbeat: float = 0.0
    heartbeat_every: float = HEARTBEAT_EVERY
    ended: float | None = None
    env_steps: int = 0
    seconds: float = 0.0
    """Time spent training, earlier sessions of a resumed run included."""

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)

    def beat(self, env_steps: int, seconds: float) -> RunState:
        """The same state a moment later."""
        return replace(self, heartbeat=time.time(), env_steps=env_steps, seconds=seconds)

    def end(self, state: Status, reason: str, env_steps: int, seconds: float) -> RunState:
        """The state of a run that is over."""
        now = time.time()
        return replace(
            self, state=state.value, reason=reason, heartbeat=now, ended=now, env_steps=env_steps, seconds=seconds
        )


_TYPES = {"str": str, "int": int, "float": int | float, "float | None": int | float}
KINDS = {field.name: _TYPES[str(field.type)] for field in fields(RunState)}


def running_here(*, started: float | None = None, seconds: float = 0.0, env_steps: int = 0) -> RunState:
    """The state of a run that this process trains."""
    now = time.time()
    return RunState(
        Status.RUNNING.value,
        "training",
        os.getpid(),
        process_start(os.getpid()),
        socket.gethostname(),
        started or now,
        now,
        env_steps=env_steps,
        seconds=seconds,
    )


def read_state(path: Path) -> RunState | None:
    """Parse status.json; None where it is missing, damaged or not ours."""
    try:
        return parse_state(path)
    except RunReadError:
        return None


def parse_state(path: Path) -> RunState | None:
    """The same, with an error for a file that cannot be read; a value of the wrong kind counts as not given."""
    try:
        data = load_json_file(path)
    except (OSError, FormatError) as error:
        raise RunReadError(f"{path.name} cannot be read: {error}", path=str(path)) from error
    if not isinstance(data, dict) or not isinstance(data.get("state"), str):
        return None
    sound = {name: value for name, value in data.items() if isinstance(value, str) or number(value) is not None}
    known: dict[str, Any] = {name: value for name, value in sound.items() if isinstance(value, KINDS.get(name, ()))}
    return RunState(**known)


def is_alive(state: RunState) -> bool | None:
    """Whether the process that wrote the state still runs; None where this machine cannot tell."""
    if state.state != Status.RUNNING:
        return False
    if state.host != socket.gethostname():
        return None
    now = process_start(state.pid)
    return bool(now) and now == state.process_started


def process_start(pid: int) -> str:
    """When the system started a process, as an opaque text; empty where there is no such process."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return _start_without_proc(pid)
    # The name in brackets may hold spaces; field 3 (state) and 22 (start time) follow it.
    after = stat.rpartition(")")[2].split()
    return "" if after[0] in {"Z", "X"} else after[19]


def _start_without_proc(pid: int) -> str:
    """Without /proc the system's `ps` tells."""
    if Path("/proc/self").exists() or pid <= 0:
        return ""
    try:
        told = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return told.stdout.strip()
