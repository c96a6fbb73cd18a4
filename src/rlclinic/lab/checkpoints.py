"""Checkpoints of a run: folders that appear complete, hold tensors and plain numbers only, and are never unpickled.

checkpoints/step=NNN/   what the backend saved (model.pt, optimizer.pt, *.npz), state.json, metrics.json
checkpoints/@last, @best   relative links
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field
from pathlib import Path
from pickle import UnpicklingError
from typing import IO, Any

import numpy as np

from rlclinic.lab.errors import TrainingError
from rlclinic.lab.folder import CHECKPOINTS, RunFolder
from rlclinic.model.errors import RlclinicError, UsageError
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.numbers import number
from rlclinic.readers.formats.errors import FormatError
from rlclinic.readers.formats.safe_json import load_json_file
from rlclinic.store.files import link_whole, write_whole

# The newest is what a run resumes from; the one before it is kept for the case that the newest is damaged.
KEPT = 2
# Bytes of the arrays of one file of a checkpoint; a replay buffer has at most a quarter of it.
MOST_BYTES = 1 << 30
# A disk with less than this is full; in bytes.
FULL = 1 << 20

Save = Callable[[Path], None]
"""Writes the state of training (weights, optimiser, normaliser, replay) into a folder, as tensors and npz only."""


@dataclass(frozen=True, slots=True)
class Saved:
    """A checkpoint to go on from."""

    path: Path
    env_steps: int
    state: Mapping[str, Any] = field(default_factory=dict)
    """The content of state.json."""


def save_checkpoint(
    folder: RunFolder, save: Save, env_steps: int, state: Mapping[str, Any], metrics: Mapping[str, float], *, best: bool
) -> Path:
    """Write a checkpoint and let `@last` (and `@best`) point to it; older ones go."""
    home = folder.checkpoints
    home.mkdir(exist_ok=True)
    path = home / f"step={env_steps:09d}"
    beside = home / f".{path.name}.part"
    shutil.rmtree(beside, ignore_errors=True)
    beside.mkdir()
    try:
        save(beside)
        facts = {"total_env_steps": env_steps, "run_id": folder.id, **state}
        write_whole(beside / "state.json", json.dumps(facts, indent=2) + "\n")
        finite = {key: value for key, value in metrics.items() if value - value == 0}
        write_whole(beside / "metrics.json", json.dumps(finite, indent=2) + "\n")
        for file in beside.iterdir():
            _to_disk(file)
        if path.exists():
            shutil.rmtree(path)
        beside.replace(path)
    except BaseException as error:
        full = isinstance(error, RuntimeError) and shutil.disk_usage(home).free < FULL
        shutil.rmtree(beside, ignore_errors=True)
        if full:
            # torch reports a full disk as a broken stream.
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)) from error
        raise
    link_whole(home / "@last", path.name)
    if best:
        link_whole(home / "@best", path.name)
    _prune(home)
    return path


@contextmanager
def loading(path: Path) -> Iterator[None]:
    """Meanwhile a checkpoint is loaded: TrainingError where it is damaged, another run's, or no tensors alone."""
    try:
        for file in path.glob("*.pt"):
            refuse_compressed(file)
        yield
    except RlclinicError:
        raise
    except Exception as error:  # torch, numpy and zipfile raise a dozen kinds
        # torch's words on a pickle tell how to run it.
        told = type(error).__name__ if isinstance(error, UnpicklingError) else str(error) or type(error).__name__
        hint = "resume with the config that the run was started with, or delete the checkpoint to use an older one"
        raise TrainingError(f"the checkpoint does not fit: {told}", path=str(path), hint=hint) from error


def refuse_compressed(file: Path | IO[bytes]) -> None:
    """FormatError where something in an archive of tensors is compressed: torch never does so, and it may be a bomb."""
    if zipfile.is_zipfile(file):
        with zipfile.ZipFile(file) as archive:
            if any(member.compress_type != zipfile.ZIP_STORED for member in archive.infolist()):
                raise FormatError("its tensors are compressed")


def open_arrays(path: Path) -> Any:
    """The arrays of an npz of a checkpoint, never unpickled; UsageError where they would fill the memory."""
    with zipfile.ZipFile(path) as archive:
        size = sum(member.file_size for member in archive.infolist())
    if size > MOST_BYTES:
        raise UsageError(f"holds {size:,} bytes of arrays", path=str(path), hint=f"at most {MOST_BYTES:,} are loaded")
    return np.load(path, allow_pickle=False)


def last_checkpoint(path: Path) -> Saved | None:
    """The newest complete checkpoint of a run's folder; None where there is none."""
    for found in reversed(_complete(path / CHECKPOINTS)):
        try:
            state = load_json_file(found / "state.json")
        except (OSError, FormatError):
            continue
        steps = number(state.get("total_env_steps")) if isinstance(state, dict) else None
        if isinstance(state, dict) and steps is not None:
            return Saved(found, int(steps), state)
    return None


def _complete(home: Path) -> list[Path]:
    return sorted(found for found in home.glob("step=*") if (found / "state.json").is_file())


def _prune(home: Path) -> None:
    linked = {(home / f"@{label}").resolve().name for label in ("best", "last")}
    for old in _complete(home)[:-KEPT]:
        if old.name not in linked:
            shutil.rmtree(old, ignore_errors=True)
    for part in home.glob(".step=*.part"):
        shutil.rmtree(part, ignore_errors=True)


def _to_disk(file: Path) -> None:
    with open(file, "rb") as handle:
        os.fsync(handle.fileno())
