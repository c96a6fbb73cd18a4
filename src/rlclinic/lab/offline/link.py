"""The line to the process that trains with d3rlpy."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from rlclinic.lab.errors import TrainingError
from rlclinic.lab.offline.data import COLUMNS, Dataset
from rlclinic.lab.offline.venv import worker_python

SCRIPT = Path(__file__).with_name("worker.py")


class Link:
    """A worker while it is used: `with Link() as link: link.ask("fit", steps=100)`.

    Ctrl-C does not reach it: the run that asks it ends in order.
    """

    def __enter__(self) -> Self:
        self.files = tempfile.TemporaryDirectory()
        self.errors = open(Path(self.files.name) / "errors.txt", "w+b")
        ours, theirs = os.pipe()
        self.answers = os.fdopen(ours, encoding="utf-8")
        try:
            self.process = subprocess.Popen(
                [str(worker_python()), "-P", str(SCRIPT), str(theirs)], stdin=subprocess.PIPE, stdout=self.errors,
                stderr=self.errors, text=True, cwd=self.files.name, pass_fds=(theirs,),
                env={**os.environ, "TORCH_FORCE_WEIGHTS_ONLY_LOAD": "1"}, start_new_session=True,
            )  # fmt: skip
        finally:
            os.close(theirs)
        assert self.process.stdin is not None
        self.told = self.process.stdin
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(BrokenPipeError):
            self.told.close()
        self.answers.close()
        if kind is not None:
            self.process.terminate()
        self.process.wait()
        self.errors.close()
        self.files.cleanup()

    def ask(self, do: str, **words: Any) -> dict[str, Any]:
        """One answer; TrainingError where the worker failed or is gone."""
        try:
            self.told.write(json.dumps({"do": do, **words}) + "\n")
            self.told.flush()
            line = self.answers.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            self.errors.seek(0)
            last = self.errors.read().decode(errors="replace").strip().splitlines()[-1:]
            raise TrainingError(f"d3rlpy's process ended: {' '.join(last)}", hint="rlclinic offline --setup")
        found: dict[str, Any] = json.loads(line)
        if "error" in found:
            raise TrainingError(f"d3rlpy failed: {found['error']}", hint="see the settings of the run")
        return found

    def arrays(self, name: str, data: Dataset) -> str:
        """The rows as a file for the worker; its path."""
        path = Path(self.files.name) / f"{name}.npz"
        np.savez(path, allow_pickle=False, **{column: getattr(data, column) for column in COLUMNS})
        return str(path)
