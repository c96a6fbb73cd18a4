"""Ray: the same jobs on a local or remote cluster. The folder of the trial must be visible to every node."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import ray
from ray.exceptions import RayError

from rlclinic.model.trial import Outcome, OutcomeState
from rlclinic.trials.job import ONE_THREAD, run_job
from rlclinic.trials.plan import Job

# Seconds between looks at whether running jobs are still wanted.
LOOK = 1.0


class RayRunner:
    """Runs jobs as Ray tasks. Joins the cluster of RAY_ADDRESS, else starts a local one and ends it."""

    def __init__(self, workers: int) -> None:
        self._workers = workers

    def run(self, jobs: Sequence[Job], root: Path, wanted: Callable[[Job], bool]) -> Iterator[Outcome]:
        """Yield outcomes as runs end."""
        owns = not ray.is_initialized()
        if owns:
            local = {} if os.environ.get("RAY_ADDRESS") else {"num_cpus": self._workers, "include_dashboard": False}
            # Ray puts the current folder on its workers' path, first, unless another one is their working folder.
            with TemporaryDirectory() as empty:
                environment = {"env_vars": ONE_THREAD, "working_dir": empty}
                ray.init(log_to_driver=False, configure_logging=False, runtime_env=environment, **local)
        try:
            yield from self._run(list(jobs), root.absolute(), wanted)
        finally:
            if owns:
                ray.shutdown()

    def _run(self, waiting: list[Job], root: Path, wanted: Callable[[Job], bool]) -> Iterator[Outcome]:
        # One process for each run, as the local runner has it: numbers depend on no run before.
        task = ray.remote(num_cpus=1, max_retries=0, max_calls=1)(_work)
        running: dict[ray.ObjectRef, Job] = {}
        while waiting or running:
            while waiting and len(running) < self._workers:
                job = waiting.pop(0)
                if wanted(job):
                    running[task.remote(job.to_json(), str(root / job.name), str(Path.cwd()))] = job
            for reference in [reference for reference, job in running.items() if not wanted(job)]:
                job = running.pop(reference)
                ray.cancel(reference, force=True)
                yield Outcome(job.arm, job.seed, OutcomeState.STOPPED, folder=str(root / job.name))
            ready, _ = ray.wait(list(running), timeout=LOOK) if running else ([], [])
            for reference in ready:
                yield _outcome(reference, running.pop(reference), root)


def _work(text: str, folder: str, here: str) -> Outcome:
    from rlclinic.trials.plan import job_from_json

    # A user's command and own modules are named from where the trial was started.
    if Path(here).is_dir():
        os.chdir(here)
    return run_job(job_from_json(text), Path(folder))


def _outcome(reference: ray.ObjectRef, job: Job, root: Path) -> Outcome:
    try:
        outcome: Outcome = ray.get(reference)
    except RayError as error:
        why = str(error).strip().splitlines()[0]
        return Outcome(
            job.arm, job.seed, OutcomeState.FAILED, folder=str(root / job.name), error=f"the worker died: {why}"
        )
    return outcome


RUNNER = RayRunner
