"""Whether the process that a file names is still there. The file may be anybody's, the number another process's."""

from __future__ import annotations

import os
import socket
import subprocess
from pathlib import Path


def is_running(pid: int, started: str, host: str) -> bool | None:
    """Whether the process `pid` of `host`, as `process_start` told it, still runs; None where that cannot be told."""
    if host != socket.gethostname() or not 0 < pid < 2**31:
        return None
    now = process_start(pid)
    if not now:
        return None if _is_hidden(pid) else False
    return now == started if started else None


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


def _is_hidden(pid: int) -> bool:
    """/proc can be mounted so that it does not show the processes of other users."""
    try:
        os.kill(pid, 0)
    except OSError as error:
        return isinstance(error, PermissionError)
    return False
