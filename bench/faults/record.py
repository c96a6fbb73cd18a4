"""Record the runs of the plan that are not recorded yet. Kill it at any moment and start it again: it goes on.

Every run has a process of its own, forked from a server that has loaded what takes long and nothing that a fault may
patch: a patch must come before the import.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from pathlib import Path

from bench.faults import job, shards
from bench.faults.plan import Entry

LONGEST = 900.0
"""Seconds after which a run is given up."""
FAILURES = "failures.jsonl"
ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
PRELOAD = ["torch.utils.tensorboard", "torchrl.objectives", "gymnasium", "pandas", "bench.faults.job"]


@dataclass(frozen=True, slots=True)
class _Work:
    entry: Entry
    process: BaseProcess
    target: Path
    began: float


def missing(planned: Iterable[Entry], folder: Path = shards.FOLDER, *, retry: bool = False) -> list[Entry]:
    """The planned entries that are neither recorded as they are now nor given up."""
    known, lost = shards.keys(folder), set() if retry else _given_up(folder)
    return [
        entry
        for entry in planned
        if entry.name not in lost and not (entry.name in known and known[entry.name] == entry.key())
    ]


def record(
    planned: Sequence[Entry],
    *,
    workers: int = 1,
    limit: int | None = None,
    minutes: float | None = None,
    only: str = "*",
    retry: bool = False,
    folder: Path = shards.FOLDER,
) -> int:
    """Record the missing runs whose names fit a pattern, with `retry` those given up too; how many were added."""
    os.environ.update(ONE_THREAD)
    # A polite kill ends the running processes too, as Ctrl-C does.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOAD)
    waiting = [entry for entry in missing(planned, folder, retry=retry) if fnmatch(entry.name, only)][:limit]
    print(f"{len(waiting)} runs to record, {len(planned)} in the plan", flush=True)
    end = time.monotonic() + 60.0 * minutes if minutes is not None else float("inf")
    running: list[_Work] = []
    added = 0
    with tempfile.TemporaryDirectory() as place:
        try:
            while running or (waiting and time.monotonic() < end):
                while waiting and len(running) < workers and time.monotonic() < end:
                    entry = waiting.pop(0)
                    target = Path(place) / f"{len(waiting)}.record"
                    process = context.Process(target=job.run, args=(entry.name, str(target)))
                    process.start()
                    running.append(_Work(entry, process, target, time.monotonic()))
                wait([work.process.sentinel for work in running], timeout=1.0)
                ended = [work for work in running if _is_over(work)]
                running = [work for work in running if work not in ended]
                added += _kept(ended, folder)
        finally:
            for work in running:
                # Not terminated: training takes that for a wish to end in order, and would take its time.
                work.process.kill()
                work.process.join()
    return added


def _is_over(work: _Work) -> bool:
    if work.process.is_alive() and time.monotonic() - work.began > LONGEST:
        work.process.kill()
    if not work.process.is_alive():
        work.process.join()
        return True
    return False


def _kept(ended: Sequence[_Work], folder: Path) -> int:
    added = 0
    for work in ended:
        seconds = time.monotonic() - work.began
        if work.target.exists():
            payload = work.target.read_bytes()
            shards.append(payload, folder)
            print(f"{work.entry.name}  {seconds:.0f} s, {len(payload) / 1000:.1f} kB", flush=True)
            added += 1
            continue
        why = f"exit code {work.process.exitcode} after {seconds:.0f} s"
        if work.process.exitcode == job.AGAIN:
            print(f"{work.entry.name}  stopped by the machine or somebody, still to be recorded", flush=True)
            continue
        folder.mkdir(parents=True, exist_ok=True)
        with open(folder / FAILURES, "a", encoding="utf-8") as file:
            file.write(json.dumps({"name": work.entry.name, "why": why}) + "\n")
        print(f"{work.entry.name}  given up: {why}", flush=True)
    return added


def _given_up(folder: Path) -> set[str]:
    path = folder / FAILURES
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {json.loads(line)["name"] for line in lines}
