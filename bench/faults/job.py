"""Train one entry of the plan in this process and write its record: what a worker of the recorder does.

Nothing that a fault may patch is imported before the patches are installed.
"""

from __future__ import annotations

import base64
import csv
import json
import re
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from bench.faults import patches, shards
from bench.faults.plan import Entry, entry_of

BINS = 20
"""Of the curve of true returns."""
LONGEST_LOG = 4000
"""Characters of run.log that are kept, from its end."""
AGAIN = 75
"""Exit code of a run that says nothing about its entry and may be tried again."""
MACHINE_TROUBLE = (ImportError, OSError, MemoryError)
PRIVATE = ("pid", "process_started", "host")
"""Of status.json: says nothing about the run."""


def run(name: str, target: str) -> None:
    """Train the entry of this name; its encoded record appears at the target when it is complete."""
    entry = entry_of(name)
    patches.install(entry.instance.edits)
    import torch

    torch.set_num_threads(1)
    began = time.process_time()
    with tempfile.TemporaryDirectory() as root:
        made = _trained(entry, Path(root))
    record = shards.Record(
        name=name,
        key=entry.key(),
        edits=tuple({"file": edit.file, "old": edit.old, "new": edit.new} for edit in entry.instance.edits),
        seconds=round(time.process_time() - began, 1),
        truth=_truth(),
        **made,
    )
    beside = Path(f"{target}.part")
    beside.write_bytes(shards.encode(record))
    beside.replace(target)


def _trained(entry: Entry, root: Path) -> dict[str, Any]:
    from rlclinic.lab.errors import TrainingError
    from rlclinic.lab.train import prepare, train_folder

    recipe = entry.instance.recipe(entry.seed).trusted()
    folder = prepare(recipe, root)
    config = json.loads((folder.path / "config.json").read_text(encoding="utf-8"))
    versions = config.pop("rlclinic_versions", {})
    if entry.instance.layout != "lab":
        from bench.faults.layouts import train_as

        files = train_as(entry.instance.layout, folder.recipe(recipe.trust), root / "other")
        packed = {path: base64.b64encode(data).decode() for path, data in files.items()}
        return {"recipe": config, "versions": versions, "status": {}, "log": "", "files": packed}
    try:
        if entry.instance.kind == "resumed":
            _first_half(folder, recipe)
        train_folder(folder, is_new=entry.instance.kind != "resumed", trust=recipe.trust)
    except TrainingError as error:
        # What a fault left is what a user would see; a broken machine is no fault.
        if isinstance(error.__cause__, MACHINE_TROUBLE):
            raise SystemExit(AGAIN) from error
    status = json.loads((folder.path / "status.json").read_text(encoding="utf-8"))
    if status["state"] == "interrupted":
        # Somebody stopped it: it is no run of the plan.
        raise SystemExit(AGAIN)
    return {
        "recipe": config,
        "versions": versions,
        "status": {key: value for key, value in status.items() if key not in PRIVATE},
        "log": log_end(folder.path / "run.log", root),
        "columns": columns(folder.path / "metrics.csv"),
    }


def log_end(path: Path, root: Path) -> str:
    """The end of the log, without the paths of this machine."""
    text = path.read_text(encoding="utf-8")[-LONGEST_LOG:].replace(str(root), "runs")
    return re.sub(r"/[^\s\"']*/(site-packages|src|bench|tests)/", r"\1/", text)


def _first_half(folder: Any, recipe: Any) -> None:
    """Train until something stops it halfway, as Ctrl-C does."""
    from rlclinic.lab.train import train_folder

    def stop(progress: Any) -> None:
        if progress.env_steps >= recipe.total_steps // 2:
            raise KeyboardInterrupt

    train_folder(folder, stop, is_new=True, trust=recipe.trust)


def columns(path: Path) -> dict[str, str]:
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    names, cells = rows[0], rows[1:]
    # Seconds since the start say the same as the time of day, and compress.
    first = float(cells[0][0]) if cells else 0.0
    found = {name: [shards.cell(row[at]) for row in cells] for at, name in enumerate(names)}
    found["time"] = [f"{float(row[0]) - first:.2f}" for row in cells]
    return {name: ",".join(column) for name, column in found.items()}


def _truth() -> Mapping[str, Any]:
    """Mean true returns by share of the frames that were trained."""
    from bench.faults.environments.ledger import LEDGER

    found: dict[str, list[list[float]]] = {}
    for kind, evaluation in (("evaluation", True), ("training", False)):
        episodes = [episode for episode in LEDGER.episodes if episode.evaluation == evaluation]
        totals: dict[int, list[float]] = {}
        for one in episodes:
            place = min(int(BINS * max(one.at - 1, 0) / max(LEDGER.frames, 1)), BINS - 1)
            totals.setdefault(place, []).append(one.total)
        found[kind] = [[(place + 1) / BINS, round(float(np.mean(totals[place])), 4)] for place in sorted(totals)]
    return {**found, "frames": LEDGER.frames}
