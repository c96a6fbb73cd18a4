"""Runs inside the peers' own environment and imports nothing of this project: JSON lines in, JSON lines out.

    python drive.py rldoctor < runs.jsonl > answers.jsonl

A line in: `{"name", "rows": [{metric: value}]}` with the peer's own names. A line out: `{"name", "alarms", "checks",
"seconds"}`; `checks` is how many of its checks had what they need, where the peer tells.
"""

from __future__ import annotations

import contextlib
import io
import json
import logging
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

Rows = list[dict[str, float]]
Found = tuple[list[str], int]


def rldoctor(rows: Rows) -> Found:
    """Afterwards, from records; anything from WARNING on is an alarm."""
    from rl_doctor import Severity, diagnose, run_from_records  # type: ignore[import-not-found]

    found = diagnose(run_from_records(rows))
    alarms = [finding.detector for finding in found.problems if finding.severity >= Severity.WARNING]
    return alarms, len(found.findings) - len(found.skipped)


def rlwatch(rows: Rows) -> Found:
    """Live, fed row by row as if the run were training."""
    from rlwatch import RLWatch, RLWatchConfig  # type: ignore[import-not-found]

    with tempfile.TemporaryDirectory() as folder:
        config = RLWatchConfig()
        config.storage.log_dir = folder
        watch = RLWatch(config)
        watch.start()
        alarms: dict[str, None] = {}
        for at, row in enumerate(rows):
            values = {name: value for name, value in row.items() if name != "step"}
            for alert in watch.log_step(at, **values):
                alarms[alert.detector] = None
        watch.stop()
    inputs = {"entropy", "kl_divergence", "reward_mean", "advantage_std", "loss", "grad_norm"}
    return list(alarms), len(inputs & {name for row in rows for name in row})


def rlprobe(rows: Rows) -> Found:
    """Its own recording, then its doctor; `info` is no alarm."""
    from rlprobe import Recorder  # type: ignore[import-not-found]
    from rlprobe.doctor.engine import diagnose  # type: ignore[import-not-found]

    with tempfile.TemporaryDirectory() as folder:
        recorder = Recorder(folder, algorithm="ppo", capture_env=False, install_handlers=False)
        for at, row in enumerate(rows):
            recorder.log_step(at, **{name: value for name, value in row.items() if name != "step"})
        recorder.close()
        found = diagnose(folder)
    names = {name for row in rows for name in row} - {"step"}
    return [finding.signature_id for finding in found if finding.severity != "info"], len(names)


PEERS: dict[str, Callable[[Rows], Found]] = {"rldoctor": rldoctor, "rlwatch": rlwatch, "rlprobe": rlprobe}


def main(peer: str) -> None:
    """All runs of the standard input."""
    logging.disable(logging.CRITICAL)
    for line in sys.stdin:
        asked: dict[str, Any] = json.loads(line)
        began = time.perf_counter()
        error, checks = "", 0
        alarms: list[str] = []
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                alarms, checks = PEERS[peer](asked["rows"])
        except Exception as problem:
            error = f"{type(problem).__name__}: {problem}"
        seconds = time.perf_counter() - began
        answer = {"name": asked["name"], "alarms": alarms, "checks": checks, "seconds": seconds, "error": error}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
