"""From a record back to a run, as the readers see it: whole or in part, with the config or without."""

from __future__ import annotations

import base64
import csv
import hashlib
import json
import random
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from bench.faults.plan import Instance
from bench.faults.shards import Record
from rlclinic.model.config import Config
from rlclinic.model.run import Run, RunStatus, Status
from rlclinic.readers.open import read

LOGGERS = Path(__file__).with_name("loggers.toml")
STARTED = 1_794_700_000.0
"""Unix time at which every replayed run began."""
ALWAYS = ("time", "total_timesteps", "epoch", "train/cnt/total_env_steps", "train/cnt/total_vec_steps")
CONFIG_FILES = ("config.json", "config.yml")


def replay(record: Record, instance: Instance, folder: Path, *, config: bool = True) -> Run:
    """Write the files of a run below a folder and read them."""
    run = read(write(record, instance, folder, config=config))
    return run if config or not record.files else _without_config(run)


def write(record: Record, instance: Instance, folder: Path, *, config: bool = True) -> Path:
    """Write the files of a run below a folder; its place there."""
    place = folder / ("with" if config else "without") / _folder_name(record)
    place.mkdir(parents=True)
    if record.files:
        for name, content in record.files.items():
            if config or Path(name).name not in CONFIG_FILES:
                (place / name).parent.mkdir(parents=True, exist_ok=True)
                (place / name).write_bytes(base64.b64decode(content))
    else:
        _write_lab(record, instance, place, config=config)
    return place


def cut(run: Run, share: float) -> Run:
    """The run as it stood at a share of its steps, still running."""
    last = share * run.steps
    series = {}
    for name, one in run.series.items():
        kept = one.steps <= last
        if kept.any():
            times = one.wall_times[kept] if one.wall_times is not None else None
            series[name] = replace(one, steps=one.steps[kept], values=one.values[kept], wall_times=times)
    status = RunStatus(Status.RUNNING, "replayed up to here")
    return replace(run, series=series, steps=last, status=status, episodes=None, logs=(), checkpoints=())


def visible_columns(columns: Mapping[str, str], instance: Instance) -> list[str]:
    """The columns that the instance's logger keeps."""
    profile = _loggers()[instance.profile]
    chance = random.Random(hashlib.sha256(instance.name.encode()).digest())
    found = []
    for name in columns:
        if name in ALWAYS or name in profile.get("never_dropped", ()):
            found.append(name)
            continue
        wanted = any(fnmatch(name, pattern) for pattern in profile["keep"])
        unwanted = any(fnmatch(name, pattern) for pattern in profile.get("without", ()))
        if wanted and not unwanted and chance.random() >= profile.get("dropped", 0.0):
            found.append(name)
    return found


def _write_lab(record: Record, instance: Instance, place: Path, *, config: bool) -> None:
    names = visible_columns(record.columns, instance)
    table = [record.columns[name].split(",") for name in names]
    table[0] = [repr(STARTED + float(cell)) for cell in table[0]]
    with open(place / "metrics.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([names, *np.array(table).T.tolist()])
    shift = STARTED - float(record.status.get("started") or STARTED)
    moments = {key: record.status[key] + shift for key in ("started", "heartbeat", "ended") if record.status.get(key)}
    (place / "status.json").write_text(json.dumps({**record.status, **moments}), encoding="utf-8")
    (place / "run.log").write_text(record.log, encoding="utf-8")
    if config:
        # Nobody's config names the bug in his environment, and most know what they want.
        visible = {**record.recipe, "env_wrappers": [], "threshold": instance.goal}
        (place / "config.json").write_text(json.dumps(visible, indent=2), encoding="utf-8")


def _folder_name(record: Record) -> str:
    environment = str(record.recipe["env_id"]).rpartition(":")[2]
    return f"{environment}-{str(record.recipe['algorithm']).lower()}-20261115-120000-0000"


def _without_config(run: Run) -> Run:
    """For layouts whose metrics and config share a file."""
    return replace(run, config=Config(), budget=None, threshold=None)


@cache
def _loggers() -> dict[str, Any]:
    return tomllib.loads(LOGGERS.read_text(encoding="utf-8"))
