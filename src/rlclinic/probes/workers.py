"""Worker processes for seeds: a trainer that hangs or dies costs its seed, never the ladder."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection, wait
from typing import Any

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.probes.definition import Case
from rlclinic.probes.portrait import Portrait, draw_portrait
from rlclinic.probes.seed_run import Job, SeedResult, run_seed
from rlclinic.store.children import settled, spawning

STALL_SECONDS = 120.0
"""A worker that reports nothing for so long hangs. The longest chunk of the ladder takes a few seconds."""
LOADING_SECONDS = 300.0
"""The same for importing the trainer's libraries and building it the first time."""


@dataclass(slots=True)
class _Worker:
    process: Any
    pipe: Connection
    job: Job | None = None
    steps: int = 0
    since: float = 0.0
    started: float = 0.0


class Workers:
    """A few processes that each load the trainer once and then run one seed after the other."""

    def __init__(self, trainer: Any, count: int, stall_seconds: float = STALL_SECONDS) -> None:
        self._trainer = trainer
        self._count = count
        self._stall = stall_seconds
        self._workers: list[_Worker] = []

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            _end(worker)

    def portrait(self) -> Portrait:
        """What the trainer can do, found out in a worker."""
        worker = self._start()
        self._workers.append(worker)
        worker.pipe.send(None)
        if not worker.pipe.poll(max(LOADING_SECONDS, self._stall)):
            self._drop(worker)
            return Portrait("on-policy", (), (), (), f"make_trainer did not return within {LOADING_SECONDS:g} s")
        try:
            found: Portrait = worker.pipe.recv()
        except EOFError:
            worker.process.join(5)
            code = worker.process.exitcode
            self._drop(worker)
            return Portrait("on-policy", (), (), (), f"the process died while building the trainer (exit code {code})")
        return found

    def free(self) -> int:
        """How many jobs can start now."""
        return self._count - sum(worker.job is not None for worker in self._workers)

    def submit(self, job: Job) -> None:
        """Start a job; there must be a free place."""
        idle = next((worker for worker in self._workers if worker.job is None), None)
        if idle is None:
            idle = self._start()
            self._workers.append(idle)
        idle.job, idle.steps = job, 0
        idle.since = idle.started = time.monotonic()
        idle.pipe.send(job)

    def results(self) -> Iterator[tuple[Job, SeedResult]]:
        """Wait until at least one running job has ended."""
        while True:
            busy = [worker for worker in self._workers if worker.job is not None]
            if not busy:
                return
            ended = False
            for pipe in wait([worker.pipe for worker in busy], timeout=0.5):
                worker = next(worker for worker in busy if worker.pipe is pipe)
                result = self._receive(worker)
                if result is not None:
                    ended = True
                    yield result
            for worker in [worker for worker in busy if worker.job is not None]:
                limit = self._stall if worker.steps else max(self._stall, min(LOADING_SECONDS, 3 * self._stall))
                if time.monotonic() - worker.since > limit:
                    ended = True
                    yield self._lost(worker, "hung", f"no progress for {limit:g} s")
            if ended:
                return

    def _receive(self, worker: _Worker) -> tuple[Job, SeedResult] | None:
        job = worker.job
        assert job is not None
        try:
            message = worker.pipe.recv()
        except (EOFError, OSError):
            worker.process.join(5)
            return self._lost(worker, "died", f"the process ended with exit code {worker.process.exitcode}")
        worker.since = time.monotonic()
        if isinstance(message, int):
            worker.steps = message
            return None
        worker.job = None
        return job, message

    def _lost(self, worker: _Worker, kind: Any, message: str) -> tuple[Job, SeedResult]:
        job = worker.job
        assert job is not None
        seconds = time.monotonic() - worker.started
        self._drop(worker)
        return job, SeedResult(
            job.seed, {}, {}, passed=False, steps=worker.steps, seconds=seconds, error=kind, message=message
        )

    def _start(self) -> _Worker:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=serve, args=(theirs, self._trainer), daemon=True)
        with spawning():
            process.start()
        theirs.close()
        return _Worker(process, ours, since=time.monotonic())

    def _drop(self, worker: _Worker) -> None:
        self._workers.remove(worker)
        _end(worker)


def serve(pipe: Connection, trainer: Any) -> None:
    """The worker's loop: a job comes in, a result goes out; None asks for the portrait."""
    settled()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    factory, problem = _loaded(trainer)
    while True:
        try:
            job = pipe.recv()
        except EOFError:
            return
        if job is None:
            pipe.send(Portrait("on-policy", (), (), (), problem) if factory is None else draw_portrait(factory))
        elif factory is None:
            pipe.send(SeedResult(job.seed, {}, {}, passed=False, steps=0, seconds=0.0, error="raised", message=problem))
        else:
            pipe.send(run_seed(_case(job), job, factory, pipe.send))


def _loaded(trainer: Any) -> tuple[Callable[..., Any] | None, str]:
    from rlclinic.model.errors import RlclinicError
    from rlclinic.probes.load import load_trainer

    try:
        return (load_trainer(trainer) if isinstance(trainer, str) else trainer), ""
    except RlclinicError as error:
        return None, error.message


def _case(job: Job) -> Case:
    from rlclinic.probes.ladder import find_probe

    probe = find_probe(job.code)
    assert probe is not None
    return next(case for case in probe.cases if case.name == job.case)


def _end(worker: _Worker) -> None:
    worker.pipe.close()
    if worker.process.is_alive():
        worker.process.terminate()
    worker.process.join(5)
    if worker.process.is_alive():
        worker.process.kill()
        worker.process.join(5)
