"""The public `read`: any way of naming one run in, a Run out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rlclinic.model.errors import UsageError
from rlclinic.model.run import Run
from rlclinic.readers import open as readers
from rlclinic.store.names import resolve


def read(
    name: str | Path,
    *,
    root: str | Path | None = None,
    columns: Mapping[str, str] | None = None,
    configs: Sequence[str | Path] = (),
    environment: str = "",
    algorithm: str = "",
) -> Run:
    """Read one run.

    Args:
        name: A run folder, a file of it, a run id or the unique beginning of one, `@last`, `@best`,
            or `wandb://entity/project/run`.
        root: Where ids and `@last` are looked up; `runs/` or the current folder by default.
        columns: Canonical metric -> name in the log, for logs whose names rlclinic does not know.
        configs: Training scripts or configs of the run; they count where its own files say nothing, and no script is
            executed.
        environment: The environment, where the files do not tell it or are wrong.
        algorithm: The algorithm, likewise.

    Raises:
        RunReadError: Nothing is there, or it cannot be read. The message says what, where and what to do.
        UsageError: The name fits several runs.
    """
    paths = resolve(str(name), root=Path(root) if root is not None else None)
    if len(paths) > 1:
        shown = ", ".join(paths[:3])
        raise UsageError(
            f"{name} holds {len(paths)} runs: {shown}{', ...' if len(paths) > 3 else ''}",
            path=str(name),
            hint="name one of them, or list them with `rlclinic runs`",
        )
    return readers.read(paths[0], columns=columns, configs=configs, environment=environment, algorithm=algorithm)
