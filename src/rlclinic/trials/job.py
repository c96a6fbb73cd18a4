"""One run of a trial, in a process of its own: `python -m rlclinic.trials.job FOLDER` with the job on stdin.

The outcome is the only thing written to stdout. An error of the training is an outcome too; the process itself fails
only where it is killed.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

from rlclinic.model.errors import NothingReadable, RlclinicError
from rlclinic.model.run import Run
from rlclinic.model.trial import Outcome, OutcomeState, outcome_object
from rlclinic.trials.command import FOLDER, SEED, STEPS, arguments, placeholders
from rlclinic.trials.measure import measure
from rlclinic.trials.plan import Job, job_from_json

# One thread for each process: a second one costs twice the CPU time and gains nothing at these sizes.
ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
LOG = "run.log"
# Seconds between two looks at whether the trial's process still lives.
LOOK = 1.0


def run_job(job: Job, folder: Path) -> Outcome:
    """Train and measure. What an earlier, killed attempt left in the folder is removed, so that numbers repeat."""
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    started = time.perf_counter()
    try:
        place = _run_command(job, folder) if job.command else _train(job, folder)
        run = _read(place, folder / LOG)
    except RlclinicError as error:
        seconds = time.perf_counter() - started
        where = error.path or str(folder)
        return Outcome(job.arm, job.seed, OutcomeState.FAILED, wall_time=seconds, folder=where, error=error.message)
    seconds = time.perf_counter() - started
    outcome = measure(run, job.arm, job.seed, budget=job.budget, threshold=job.threshold, wall_time=seconds)
    return replace(outcome, state=OutcomeState.STOPPED) if _was_cut(job, outcome) else outcome


def _read(place: Path, output: Path) -> Run:
    """The run that was trained. A trainer that keeps a folder may print its metrics all the same, as verl does."""
    from rlclinic.readers.open import read

    try:
        run = read(place)
    except NothingReadable:
        if not output.exists() or place == output:
            raise
        return read(output)
    return run if run.returns is not None or not output.exists() else read(output)


def _was_cut(job: Job, outcome: Outcome) -> bool:
    ended = outcome.state is OutcomeState.FAILED or outcome.steps_to_threshold is not None
    return job.stop_after is not None and not ended and outcome.steps < job.budget


def _train(job: Job, folder: Path) -> Path:
    from rlclinic.lab.recipe import recipe_of_config
    from rlclinic.lab.train import train

    recipe = recipe_of_config(job.config, job.trust)
    changed = recipe.with_changes({"seed": job.seed, "total_steps": job.budget})
    return train(changed, folder, stop_after=job.stop_after)


def _run_command(job: Job, folder: Path) -> Path:
    """Run the user's command, keep its output, and say where its logs are: `{logdir}`, else the output itself."""
    logs = folder / "logs"
    values = {**job.config, SEED: job.seed, STEPS: job.budget, FOLDER: str(logs)}
    words = arguments(job.command, values)
    logs.mkdir()
    with open(folder / LOG, "wb") as output:
        try:
            ended = subprocess.run(
                words, stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, check=False
            )
        except OSError as error:
            raise RlclinicError(f"{words[0]}: {error.strerror}", path=str(folder), hint="check --command") from error
    if ended.returncode != 0:
        last = (folder / LOG).read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:]
        words_left = f": {last[0]}" if last else ""
        raise RlclinicError(f"the command ended with exit code {ended.returncode}{words_left}", path=str(folder))
    return logs if FOLDER in placeholders(job.command) else folder / LOG


def end_with(parent: int) -> None:
    """End this process and what it started once its parent is gone: the trial that goes on trains the job anew."""
    while os.getppid() == parent:
        time.sleep(LOOK)
    os.killpg(0, signal.SIGKILL)


def main() -> None:
    """Entry of the worker process, which leads a process group of its own."""
    os.environ.update(ONE_THREAD)
    if os.getpgid(0) == os.getpid():
        threading.Thread(target=end_with, args=(os.getppid(),), daemon=True).start()
    job = job_from_json(sys.stdin.read())
    # Whatever the environment or the trainer prints must not mix with the outcome.
    answer, sys.stdout = sys.stdout, sys.stderr
    outcome = run_job(job, Path(sys.argv[1]))
    answer.write(json.dumps(outcome_object(outcome)))
    answer.flush()


if __name__ == "__main__":
    main()
