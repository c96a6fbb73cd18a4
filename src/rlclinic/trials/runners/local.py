"""A pool of local processes, one run each.

Every run gets a fresh interpreter rather than a place in a process pool: one that is killed or runs out of memory takes
nothing with it, and its numbers depend on no run before it.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from rlclinic.model.trial import Outcome, OutcomeState, outcome_from
from rlclinic.store.children import python
from rlclinic.trials.job import ONE_THREAD
from rlclinic.trials.plan import Job

# Seconds between looks at whether a running job is still wanted, and until one that was asked to end is killed.
LOOK = 0.5
PATIENCE = 10.0


class LocalRunner:
    """Runs jobs in local processes."""

    def __init__(self, workers: int) -> None:
        self._workers = workers

    def run(self, jobs: Sequence[Job], root: Path, wanted: Callable[[Job], bool]) -> Iterator[Outcome]:
        """Yield outcomes as runs end."""
        waiting: queue.SimpleQueue[Job] = queue.SimpleQueue()
        ended: queue.SimpleQueue[Outcome | None] = queue.SimpleQueue()
        for job in jobs:
            waiting.put(job)
        closing = threading.Event()

        def still_wanted(job: Job) -> bool:
            return not closing.is_set() and wanted(job)

        def work() -> None:
            while not closing.is_set():
                try:
                    job = waiting.get_nowait()
                except queue.Empty:
                    break
                if wanted(job):
                    ended.put(_run_apart(job, root / job.name, partial(still_wanted, job)))
            ended.put(None)

        threads = [threading.Thread(target=work, daemon=True) for _ in range(min(self._workers, len(jobs)))]
        for thread in threads:
            thread.start()
        try:
            left = len(threads)
            while left:
                outcome = ended.get()
                if outcome is None:
                    left -= 1
                else:
                    yield outcome
        finally:
            # Reached early when the caller stops (Ctrl-C): the processes end, what they wrote stays.
            closing.set()
            for thread in threads:
                thread.join()


def _run_apart(job: Job, folder: Path, wanted: Callable[[], bool]) -> Outcome:
    command = python("-m", "rlclinic.trials.job", str(folder))
    errors = folder.with_name(folder.name + ".stderr")
    errors.parent.mkdir(parents=True, exist_ok=True)
    with open(errors, "wb") as stderr:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env={**os.environ, **ONE_THREAD},
            # Ctrl-C reaches the caller alone, who then ends the runs in order.
            start_new_session=True,
        )
        answer = _converse(process, job.to_json().encode(), wanted)
    if answer is None:
        return Outcome(job.arm, job.seed, OutcomeState.STOPPED, folder=str(folder))
    try:
        outcome = outcome_from(json.loads(answer))
    except (ValueError, KeyError, TypeError):
        return Outcome(job.arm, job.seed, OutcomeState.FAILED, folder=str(folder), error=_death(process, errors))
    errors.unlink(missing_ok=True)
    return outcome


def _converse(process: subprocess.Popen[bytes], text: bytes, wanted: Callable[[], bool]) -> bytes | None:
    """The answer of the process; None where it was ended because nobody wants it."""
    question: bytes | None = text
    while True:
        try:
            answer, _ = process.communicate(question, timeout=LOOK)
            return answer
        except subprocess.TimeoutExpired:
            question = None
        if not wanted():
            process.terminate()
            try:
                process.communicate(timeout=PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
            return None


def _death(process: subprocess.Popen[bytes], errors: Path) -> str:
    """Why a worker gave no answer, from its exit code and its last words."""
    code = process.returncode
    how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
    last = errors.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:]
    return f"the worker {how}" + (f": {last[0]}" if last else "")


RUNNER = LocalRunner
