"""A run on a W&B server, through its API: `wandb://entity/project/run`. Needs the extra `wandb`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from rlclinic.model.errors import RunReadError, UsageError
from rlclinic.model.run import Run, Status
from rlclinic.readers.assemble import assemble
from rlclinic.readers.columns import from_sparse, without
from rlclinic.readers.draft import TOLD, Draft, RawTable
from rlclinic.readers.place import Place

_ADDRESS = re.compile(r"wandb://(?P<entity>[\w.-]+)/(?P<project>[\w.-]+)/(?P<run>[\w.-]+)")

STATES = {
    "finished": Status.FINISHED,
    "running": Status.RUNNING,
    "crashed": Status.CRASHED,
    "failed": Status.CRASHED,
    "killed": Status.INTERRUPTED,
}


def read_remote(address: str) -> Run:
    """Fetch history, config and state of one run."""
    parts = _ADDRESS.fullmatch(address)
    if parts is None:
        raise UsageError("not a W&B address", path=address, hint="write wandb://entity/project/run")
    remote = _fetch("/".join(parts.group("entity", "project", "run")), address)
    draft = Draft(Place(Path(address), ()), reader="wandb-api", source="wandb", name=parts["run"])
    draft.document({key: value for key, value in dict(remote.config).items() if key != "_wandb"}, address)
    _history(draft, remote.scan_history(), address)
    state = STATES.get(str(remote.state))
    if state is not None:
        draft.clue(state, f"W&B says {remote.state}", TOLD)
    return assemble(draft)


def _fetch(path: str, address: str) -> Any:
    try:
        import wandb
    except ImportError as error:
        raise RunReadError(
            "reading from a W&B server needs the wandb library",
            path=address,
            hint="pip install 'rlclinic[wandb]', or point at the local folder wandb/run-...",
        ) from error
    try:
        return wandb.Api().run(path)
    except Exception as error:  # the client raises many kinds: login, network, not found
        message = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise RunReadError(
            f"W&B did not give the run: {message}", path=address, hint="check the name and `wandb login`"
        ) from error


def _history(draft: Draft, rows: Any, address: str) -> None:
    found: dict[str, tuple[list[int], list[float]]] = {}
    count = 0
    for index, row in enumerate(rows):
        count = index + 1
        for name, value in row.items():
            if isinstance(value, int | float) and not isinstance(value, bool):
                indices, values = found.setdefault(str(name), ([], []))
                indices.append(index)
                values.append(float(value))
    if not count:
        draft.note("the history is empty: nothing was logged")
        return
    table = from_sparse({name: (np.array(i), np.array(v)) for name, (i, v) in found.items()}, count)
    times = table.numbers.get("_timestamp")
    draft.tables.append(RawTable(without(table, "_timestamp", "_runtime"), address, None, times))
