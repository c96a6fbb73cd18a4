"""Search from every start with both methods, and measure what each ends with on seeds that it never saw."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import yaml

from bench.optimize.search import METHODS, search
from bench.repair.tasks import tasks
from bench.repair.training import ROOT
from rlclinic.lab.recipe import Recipe
from rlclinic.trials.job import run_job
from rlclinic.trials.plan import Job

HERE = Path(__file__).parent
RECORD = HERE / "searches.jsonl"
# Seeds on which the configuration that a search ends with is measured; no search uses them.
HELD_OUT = (1000, 1001, 1002)
SLACK = 1.05
# Evaluations of a whole run: steps to the threshold are known to a twentieth of its budget.
EVALUATIONS = 20


def run(seeds: int, runs: int, workers: int) -> None:
    """Every search that the record does not hold yet, seed by seed."""
    os.environ["OMP_NUM_THREADS"] = "1"
    done = {(line["start"], line["method"], line["seed"], line["runs"]) for line in searches()}
    wanted = [(name, method, seed, runs) for seed in range(seeds) for name in starts() for method in METHODS]
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        for future in as_completed([pool.submit(measured, *item) for item in wanted if item not in done]):
            line = future.result()
            print({key: line[key] for key in ("start", "method", "seed", "steps", "used")}, flush=True)
            with open(RECORD, "a", encoding="utf-8") as record:
                record.write(json.dumps(line) + "\n")


def starts() -> dict[str, dict[str, Any]]:
    """The table of starts."""
    found: dict[str, dict[str, Any]] = yaml.safe_load((HERE / "starts.yaml").read_text(encoding="utf-8"))["starts"]
    return found


def searches() -> list[dict[str, Any]]:
    """What was measured so far."""
    if not RECORD.exists():
        return []
    return [json.loads(text) for text in RECORD.read_text(encoding="utf-8").splitlines() if text.endswith("}")]


def start_of(name: str, seed: int) -> Recipe:
    """The recipe that a search begins with."""
    entry = starts()[name]
    recipe = tasks()[name].faulty(entry["fault"]).with_changes(entry.get("config", {}))
    changes = {"threshold": entry["threshold"], "stop_at_threshold": True, "seed": seed}
    return recipe.with_changes({**changes, "eval_freq": recipe.total_steps // EVALUATIONS})


def measured(name: str, method: str, seed: int, runs: int) -> dict[str, Any]:
    """One search, and what its configuration does on seeds that it never saw."""
    recipe = start_of(name, seed)
    root = ROOT / "optimize" / f"{name}-{method}-{seed}"
    # Rollouts and update intervals make a run a little longer than its budget; the search must not lose one by that.
    found = search(method, recipe, round(SLACK * runs * recipe.total_steps), root)
    steps = []
    for held in HELD_OUT:
        job = Job("held-out", "best", held, found.best.to_config(), recipe.total_steps, recipe.threshold)
        outcome = run_job(job, root / f"held-out-{held}")
        steps.append(outcome.steps_to_threshold)
    shutil.rmtree(root, ignore_errors=True)
    changes = {key: value for key, value in found.best.hyperparameters.items() if value != recipe.get(key)}
    return {
        "start": name,
        "method": method,
        "seed": seed,
        "runs": runs,
        "budget": recipe.total_steps,
        "used": found.used,
        "curve": found.curve,
        "changes": changes,
        "steps": steps,
    }
