"""status.json: the state of a run, so that it never has to be guessed. Here alone is decided whether a run goes on."""

from __future__ import annotations

import os
import socket
import time
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

from rlclinic.model.errors import RunReadError
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.run import RunStatus, Status
from rlclinic.readers.formats.errors import FormatError
from rlclinic.readers.formats.logs.log_text import decode
from rlclinic.readers.formats.safe_json import load_json_data
from rlclinic.readers.no_links import read_file
from rlclinic.readers.process import is_running, process_start
from rlclinic.readers.redaction.redact import redact
from rlclinic.readers.status import FRESH

# Seconds between two heartbeats while a run trains.
HEARTBEAT_EVERY = 5.0
# So many heartbeats without a sign, and the process is gone. It beats every few seconds; a busy disk may delay it.
MISSED_BEATS = 12
# However slowly the file says that it beats; in seconds.
PATIENCE = 86_400.0
GONE = "its process was killed"
STOPPED = "the heartbeat in status.json stopped: the process was killed"
AHEAD = "the heartbeat in status.json lies in the future, and its process cannot be seen from here"
# Bytes of the file and characters of a text in it; the largest number in it, in seconds or steps.
MAX_BYTES = 64 << 10
LONGEST = 1_000
LARGEST = 1e15


@dataclass(frozen=True, slots=True)
class RunState:
    """What status.json holds."""

    state: str = Status.UNKNOWN.value
    """One of the words of `model.run.Status`."""
    reason: str = ""
    pid: int = 0
    process_started: str = ""
    """When the system started that process: tells it from a later one with the same pid."""
    host: str = ""
    started: float = 0.0
    heartbeat: float = 0.0
    heartbeat_every: float = 0.0
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


def running_here(*, started: float | None = None, seconds: float = 0.0, env_steps: int = 0) -> RunState:
    """The state of a run that this process trains."""
    now, pid = time.time(), os.getpid()
    who = (pid, process_start(pid), socket.gethostname())
    return RunState("running", "training", *who, started or now, now, HEARTBEAT_EVERY, None, env_steps, seconds)


def read_state(path: Path) -> RunState | None:
    """Parse status.json; None where it is missing, damaged or not ours."""
    try:
        return load_state(path)
    except RunReadError:
        return None


def load_state(path: Path) -> RunState | None:
    """The same, with an error for a file that cannot be read."""
    try:
        data = load_json_data(decode(read_file(path, MAX_BYTES)))
    except (OSError, FormatError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise RunReadError(f"{path.name} cannot be read: {why}", path=str(path)) from error
    return parse_state(data)


def parse_state(data: object) -> RunState | None:
    """The content of a status.json; what is no text or number in bounds counts as not given."""
    if not isinstance(data, dict) or data.get("state") not in tuple(Status):
        return None
    found = RunState(**{field.name: _checked(data.get(field.name), field.default) for field in fields(RunState)})
    return replace(found, reason=redact(found.reason), host=redact(found.host))


def is_alive(state: RunState) -> bool | None:
    """Whether the process that wrote the state still runs; None where this machine cannot tell."""
    return state.state == Status.RUNNING and is_running(state.pid, state.process_started, state.host)


def status_now(state: RunState) -> RunStatus:
    """How the run stands now. Where its process can be seen no clock counts; elsewhere the heartbeat does."""
    alive = is_alive(state)
    if state.state == Status.RUNNING and alive is not True:
        age = time.time() - state.heartbeat if state.heartbeat else 0.0
        if alive is False:
            return RunStatus(Status.INTERRUPTED, GONE)
        if age > min(MISSED_BEATS * state.heartbeat_every or FRESH, PATIENCE):
            return RunStatus(Status.INTERRUPTED, STOPPED)
        if age < -FRESH:
            return RunStatus(Status.UNKNOWN, AHEAD)
    return RunStatus(Status(state.state), state.reason or "status.json says so")


def _checked(value: Any, default: Any) -> Any:
    if isinstance(default, str):
        return value[:LONGEST] if isinstance(value, str) else default
    is_sound = type(value) in (int, float) and 0 <= value <= LARGEST
    return (float if default is None else type(default))(value) if is_sound else default
