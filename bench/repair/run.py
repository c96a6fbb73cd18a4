"""Treat every patient; what was trained before is taken from the record."""

from __future__ import annotations

import json
import multiprocessing
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from bench.repair.tasks import tasks
from bench.repair.training import key_of, trained
from bench.repair.treatment import CLEAN, RESTORED, healthy, level_of, treat
from rlclinic.lab.recipe import Recipe

PATIENTS = Path(__file__).with_name("patients.jsonl")
BASELINES = Path(__file__).with_name("baselines.jsonl")
PARTS = ("treatments", "baselines")
FIRST_RUNS = "first-runs"
"""A part that is only done where it is asked for: what is to be diagnosed is trained, and nobody looks at it."""
Unit = tuple[str, str, str, int]
"""What (`train`, `treat`, `reset`, `slower`), task, fault, seed."""


def run(
    seeds: tuple[int, ...],
    workers: int,
    only: tuple[str, ...] = (),
    parts: tuple[str, ...] = PARTS,
    *,
    left: bool = False,
) -> None:
    """Clean runs first, because every level is measured against them; then treatments, then the baselines.

    `only` names tasks, or single patients of them as TASK/FAULT and TASK/clean; with `left` patients are skipped whose
    record ends at the bar.
    """
    os.environ["OMP_NUM_THREADS"] = "1"
    units = [
        unit for unit in _units(list(tasks()), seeds, parts) if is_asked(unit, only, _repaired() if left else set())
    ]
    names = list(dict.fromkeys(unit[1] for unit in units))
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        levels = dict(zip(names, pool.map(healthy, names), strict=True))
        waiting = [pool.submit(_work, unit, levels[unit[1]]) for unit in units]
        for count, future in enumerate(as_completed(waiting), 1):
            path, lines, told = future.result()
            print(f"{count}/{len(waiting)} {told}", flush=True)
            with open(path, "a", encoding="utf-8") as record:
                record.writelines(json.dumps(line) + "\n" for line in lines)


def is_asked(unit: Unit, only: tuple[str, ...], repaired: set[tuple[str, str, int]]) -> bool:
    """Whether a unit is among those that were named, and still to be done."""
    what, name, fault, seed = unit
    named = not only or name in only or f"{name}/{fault or 'clean'}" in only
    return named and not (what == "treat" and (name, fault, seed) in repaired)


def _repaired() -> set[tuple[str, str, int]]:
    from bench.repair.score import last_level, patients

    return {(line["task"], line["fault"], line["seed"]) for line in patients() if last_level(line) >= RESTORED}


def _units(names: list[str], seeds: tuple[int, ...], parts: tuple[str, ...]) -> Iterator[Unit]:
    """Treatments before baselines, seed by seed and the tasks in turn, so that whatever is done is spread evenly."""
    cases = [
        (name, fault)
        for place in range(max(len(task.faults) for task in tasks().values()))
        for name in names
        for fault in list(tasks()[name].faults)[place : place + 1]
    ]
    for seed in seeds if FIRST_RUNS in parts else ():
        yield from (("train", name, CLEAN, seed) for name in names)
        yield from (("train", name, fault, seed) for name, fault in cases)
    for seed in seeds if "treatments" in parts else ():
        yield from (("treat", name, CLEAN, seed) for name in names)
        yield from (("treat", name, fault, seed) for name, fault in cases)
    cases = [(name, fault) for name, fault in cases if not tasks()[name].is_stranger]
    for seed in seeds if "baselines" in parts else ():
        # Most faults of a task are reset to one recipe, which is trained once.
        resets = {key_of(tasks()[name].reset(fault)): (name, fault) for name, fault in cases}
        yield from (("reset", name, fault, seed) for name, fault in resets.values())
        yield from (("slower", name, fault, seed) for name, fault in cases)


def _work(unit: Unit, clean: float) -> tuple[Path, list[dict[str, Any]], str]:
    """One unit: its record, the lines for it, and what to print."""
    what, name, fault, seed = unit
    task = tasks()[name]
    if what == "train":
        recipe = (task.faulty(fault) if fault else task.clean()).with_changes({"seed": seed})
        seconds = trained(recipe, files=True).seconds
        return PATIENTS, [], f"{name} {fault or 'clean'} seed {seed}: trained in {seconds:.0f} CPU seconds"
    if what == "treat":
        patient = treat(name, fault, seed, clean)
        levels = " ".join(f"{one.after:.2f}" for one in patient.rounds if one.applied is not None)
        told = f"{name} {fault or 'clean'} seed {seed}: {patient.level:.2f} -> {levels or 'nothing applied'}"
        return PATIENTS, [patient.to_object()], told
    if what == "reset":
        recipe = task.reset(fault)
        same = [other for other in task.faults if key_of(task.reset(other)) == key_of(recipe)]
    else:
        recipe, same = slower(task.faulty(fault)), [fault]
    level = level_of(task, fault, trained(recipe.with_changes({"seed": seed})).final, clean)
    lines = [{"what": what, "task": name, "fault": other, "seed": seed, "level": level} for other in same]
    return BASELINES, lines, f"{name} {', '.join(same)} seed {seed}: {what} {level:.2f}"


def slower(recipe: Recipe) -> Recipe:
    """The rule of thumb: a third of the learning rate."""
    return recipe.with_changes({"learning_rate": (recipe.number("learning_rate") or 0.0) / 3.0})
