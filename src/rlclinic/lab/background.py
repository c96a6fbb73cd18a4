"""Start a training process that outlives its parent, and stop one that is really the run's."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from rlclinic.lab.errors import TrainingError
from rlclinic.lab.folder import LOG, RunFolder, check_own
from rlclinic.model.run import Status
from rlclinic.readers.state import GONE, is_alive
from rlclinic.store.processes import is_noted

# How long the parent waits to see its child at work, in seconds: importing torch on a busy machine takes a while.
START_WAIT = 60.0
POLL = 0.1


def start(folder: RunFolder, command: Sequence[str]) -> int:
    """Run a command that trains the folder's run, apart from this terminal; its pid.

    What it prints goes straight to run.log, so nothing is lost when the parent ends.
    """
    check_own(folder.path)
    before = folder.state()
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with open(folder.path / LOG, "ab") as log:
        child = subprocess.Popen(
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env=environment,
        )
    until = time.monotonic() + START_WAIT
    while time.monotonic() < until:
        state = folder.state()
        if state is not None and state != before and state.pid == child.pid:
            break
        if child.poll() is not None:
            raise TrainingError("the background process ended at once", path=str(folder.path), hint=_tail(folder.path))
        time.sleep(POLL)
    # The child is on its own: nobody waits for it, so that it is no zombie of ours when it ends.
    child.returncode = 0
    return child.pid


def stop(folder: RunFolder, timeout: float) -> str:
    """Ask a run to save and end, and wait for it; a sentence on what came of it."""
    state = folder.state()
    if state is None or state.state != Status.RUNNING:
        return f"is not running: {state.state if state else 'never started'}"
    alive = is_alive(state)
    if alive is None:
        away = state.host not in ("", socket.gethostname())
        told = f"runs on {state.host}" if away else "its status.json names no process that can be seen from here"
        raise TrainingError(told, path=str(folder.path), hint="stop it where it was started")
    if not alive:
        folder.set_state(state.end(Status.INTERRUPTED, GONE, state.env_steps, state.seconds))
        return f"was not running any more: {GONE}; it can be resumed"
    if not is_noted(state.pid, state.process_started, folder.path):
        raise TrainingError(
            f"its status.json names process {state.pid}, which is no training of this folder that you started here",
            path=str(folder.path),
            hint="nothing was sent to it; stop the run as the user, and on the machine, that started it",
        )
    with suppress(ProcessLookupError):
        os.kill(state.pid, signal.SIGTERM)
    until = time.monotonic() + timeout
    while time.monotonic() < until:
        if not is_alive(state):
            now = folder.state() or state
            return f"stopped at step {now.env_steps:,}; it can be resumed"
        time.sleep(POLL)
    raise TrainingError(
        f"process {state.pid} was asked to stop and has not ended after {timeout:.0f} s",
        path=str(folder.path),
        hint="it ends after its current update; look again with rlclinic status",
    )


def _tail(path: Path) -> str:
    try:
        lines = (path / LOG).read_text(encoding="utf-8", errors="replace").strip().splitlines()
    except OSError:
        lines = []
    return lines[-1] if lines else f"see {path / LOG}"
