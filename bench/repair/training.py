"""Train a recipe once: the outcome is kept in a record that only grows, so a killed benchmark goes on."""

from __future__ import annotations

import hashlib
import json
import math
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.repair.script import Script
from rlclinic.lab.errors import TrainingError
from rlclinic.lab.recipe import Recipe
from rlclinic.lab.train import train
from rlclinic.readers.open import read
from rlclinic.trials.measure import measure

# Runs are looked at again when rules change; they are large and not part of the repository.
ROOT = Path(os.environ.get("RLCLINIC_BENCH_RUNS", "bench/data/lab"))
RECORD = Path(__file__).with_name("runs.jsonl")
# Digits of a recorded return, whatever its unit, and the share by which two of one run may differ.
DIGITS, ROUNDING = 6, 1e-4
# Keys that do not change what is trained.
_ASIDE = frozenset({"log_freq", "checkpoint_freq", "device"})


@dataclass(frozen=True, slots=True)
class Trained:
    """What one training came to."""

    key: str
    final: float
    """Mean of the evaluations in the last tenth of the budget; NaN where it failed."""
    auc: float
    steps: float
    seconds: float
    """CPU time."""
    error: str = ""

    @property
    def folder(self) -> Path:
        """Where its files are, if they are still there."""
        return ROOT / self.key


def key_of(recipe: Recipe | Script) -> str:
    """A name that follows from what is trained."""
    config = {key: value for key, value in recipe.to_config().items() if key not in _ASIDE}
    return hashlib.sha256(json.dumps(config, sort_keys=True, default=str).encode()).hexdigest()[:12]


def trained(recipe: Recipe | Script, *, files: bool = False) -> Trained:
    """The outcome of a recipe, from the record or by training. With `files` its folder must exist too."""
    key = key_of(recipe)
    known = recorded().get(key)
    if known is not None and (not files or known.folder.is_dir()):
        return known
    found = _train(recipe, key)
    if known is not None and math.isclose(known.final, found.final, rel_tol=ROUNDING):
        # Trained again for its files alone.
        return found
    RECORD.parent.mkdir(parents=True, exist_ok=True)
    with open(RECORD, "a", encoding="utf-8") as record:
        record.write(json.dumps(_line(recipe, found)) + "\n")
    return found


def recorded() -> dict[str, Trained]:
    """Every outcome so far by key; of several the last."""
    if not RECORD.exists():
        return {}
    found = {}
    for line in RECORD.read_text(encoding="utf-8").splitlines():
        try:
            entry = json.loads(line)
            numbers = (float(entry[name]) for name in ("final", "auc", "steps", "seconds"))
            found[entry["key"]] = Trained(entry["key"], *numbers, entry["error"])
        except (ValueError, KeyError):
            # A line that a killed run left half written.
            continue
    return found


def _line(recipe: Recipe | Script, found: Trained) -> dict[str, Any]:
    return {
        "key": found.key,
        "environment": recipe.environment,
        "algorithm": recipe.algorithm,
        "seed": recipe.seed,
        "final": float(f"{found.final:.{DIGITS}g}"),
        "auc": float(f"{found.auc:.{DIGITS}g}"),
        "steps": found.steps,
        "seconds": round(found.seconds, 2),
        "error": found.error,
    }


def _train(recipe: Recipe | Script, key: str) -> Trained:
    folder = ROOT / key
    # Trained beside and moved when it is whole, so that a folder with the name of a key is always a finished run.
    work = ROOT / f"{key}.{os.getpid()}"
    began, failed = _cpu_time(), ""
    if isinstance(recipe, Script):
        # The folder of its logs tells the names of environment and script, so it stays as it is.
        outcome = recipe.train(work)
        place, failed = work, outcome.error
    else:
        try:
            place = train(recipe.trusted(), work)
        except TrainingError as error:
            # What was logged until then is there to be diagnosed.
            place, failed = Path(error.path), error.message
        outcome = measure(read(place), "", recipe.seed, budget=recipe.total_steps, threshold=None, wall_time=0.0)
    shutil.rmtree(place / "checkpoints", ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)
    place.rename(folder)
    shutil.rmtree(work, ignore_errors=True)
    seconds, final = _cpu_time() - began, float("nan") if failed else outcome.final_return
    return Trained(key, final, outcome.auc, outcome.steps, seconds, failed or outcome.error)


def _cpu_time() -> float:
    """Of this process and of those that it waited for."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system
