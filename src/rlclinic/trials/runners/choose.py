"""What a runner offers, and which there are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Protocol

from rlclinic.model.errors import UsageError
from rlclinic.model.trial import Outcome
from rlclinic.trials.plan import Job

# name -> module with a `RUNNER` class taking the number of workers, and the extra to install.
_MODULES = {
    "local": ("rlclinic.trials.runners.local", "rlclinic[train]"),
    "ray": ("rlclinic.trials.runners.ray_runner", "rlclinic[ray]"),
}
RUNNERS = tuple(_MODULES)


class Runner(Protocol):
    """Trains jobs side by side."""

    def run(self, jobs: Sequence[Job], root: Path, wanted: Callable[[Job], bool]) -> Iterator[Outcome]:
        """Yield outcomes as runs end, each job in `root/<job name>`.

        `wanted` is asked before a job starts and while it runs; one that is not wanted any more is not started, or
        ended with the state `stopped`. A worker that dies is a failed outcome, and the others go on.
        """


def runner_for(name: str, workers: int) -> Runner:
    """A runner by name; UsageError with an install hint where its library is missing."""
    if name not in _MODULES:
        raise UsageError(f"no runner {name!r}", hint=f"one of {', '.join(RUNNERS)}")
    module, extra = _MODULES[name]
    try:
        runner: Runner = import_module(module).RUNNER(workers)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("rlclinic"):
            raise
        raise UsageError(f"the runner {name!r} needs {error.name}", hint=f"pip install '{extra}'") from error
    return runner
