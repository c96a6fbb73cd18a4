"""Treat one faulty run as its user would: diagnose, apply what is advised, train again, up to three times.

Who comes back for a second round does so because the return is not enough, and says what would be: from then on the
diagnosis is told the goal. A clean run at the bar is asked about a second time too, to see that a goal which it has
reached leads to no advice.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from bench.repair.tasks import Start, Task, floor, tasks
from bench.repair.training import key_of, trained
from rlclinic.engine import diagnose
from rlclinic.lab.backend import backend_for
from rlclinic.lab.recipe import Recipe
from rlclinic.model.diagnosis import Diagnosis
from rlclinic.model.errors import RlclinicError
from rlclinic.readers.open import read
from rlclinic.trials.propose import testable

ROUNDS = 3
# Share of the healthy return, counted from a random policy's, that makes a repair.
RESTORED = 0.9
# A fall by this share of the healthy return is a harm, if further seeds confirm it.
HARM = 0.1
# Seeds of the benchmark. Their mean is the healthy return, however many are treated: all levels are in one unit.
HEALTHY_SEEDS = (0, 1, 2)
# Seeds of a confirmation; no treatment uses them.
CONFIRMING = (100, 101)
CLEAN = ""


@dataclass(frozen=True, slots=True)
class Round:
    """One diagnosis, what it advised, and what that came to."""

    verdict: str
    causes: tuple[tuple[str, float], ...]
    """The most probable ones."""
    advice: tuple[dict[str, Any], ...]
    """Kind, causes and changes of each prescription."""
    applied: int | None
    """Which of them was trained: the first that is a change of the config; None where none is."""
    key: str
    """The run with the change; empty where nothing was applied."""
    before: float
    after: float
    """Levels: 0 is a random policy, 1 the healthy run."""
    confirmed: tuple[float, float] | None = None
    """Mean levels before and after over further seeds too, where the change looked harmful."""
    goal: float | None = None
    """The return that the diagnosis was told."""


@dataclass(frozen=True, slots=True)
class Patient:
    """One fault on one seed."""

    task: str
    fault: str
    """Empty for a clean run."""
    seed: int
    key: str
    level: float
    rounds: tuple[Round, ...]

    def to_object(self) -> dict[str, Any]:
        """The patient as plain data."""
        return asdict(self)


def healthy(name: str) -> float:
    """Mean final return of the clean recipe."""
    finals = [trained(tasks()[name].clean().with_changes({"seed": seed})).final for seed in HEALTHY_SEEDS]
    return sum(finals) / len(finals)


def level_of(task: Task, fault: str, final: float, clean: float) -> float:
    """Where a final return lies between a random policy and the healthy run; a failed training counts as random."""
    if not math.isfinite(final):
        return 0.0
    return (final / task.unit(fault) - floor(task.name)) / (clean - floor(task.name))


def bar_of(task: Task, fault: str, clean: float) -> float:
    """The return at which a configuration counts as repaired, in the units of its runs."""
    low = floor(task.name)
    return task.unit(fault) * (low + RESTORED * (clean - low))


def treat(name: str, fault: str, seed: int, clean: float) -> Patient:
    """Up to three rounds on a faulty run, two on a clean one. A change that made it clearly worse is taken back."""
    task = tasks()[name]
    recipe = (task.faulty(fault) if fault else task.clean()).with_changes({"seed": seed})
    key = key_of(recipe)
    first = level = level_of(task, fault, trained(recipe).final, clean)
    rounds: list[Round] = []
    others: list[Start] = []
    for number in range(ROUNDS if fault else 2):
        if number and (level >= RESTORED) == bool(fault):
            break
        goal = bar_of(task, fault, clean) if number else None
        done, changed = _round(task, fault, recipe, others, level, clean, goal)
        rounds.append(done)
        if changed is None:
            if goal is not None:
                # Nothing is left to tell: a further round would be the same one.
                break
            continue
        if done.after < level - HARM:
            others.append(changed)
            continue
        others.append(recipe)
        recipe, level = changed, done.after
    return Patient(name, fault, seed, key, first, tuple(rounds))


def _round(
    task: Task,
    fault: str,
    recipe: Start,
    others: Sequence[Start],
    level: float,
    clean: float,
    goal: float | None,
) -> tuple[Round, Start | None]:
    # Only what is diagnosed must have its files; of a treatment that needs no further round the record is enough.
    run, *tried = (read(trained(item, files=True).folder) for item in (recipe, *others))
    diagnosis = diagnose(run, goal=goal, others=tried)
    advice = tuple(_advice(item) for item in diagnosis.prescriptions)
    applied, changed = applicable(diagnosis, recipe)
    seen = (diagnosis.verdict.value, tuple((cause.id, round(cause.probability, 2)) for cause in diagnosis.causes[:3]))
    if changed is None:
        return Round(*seen, advice, None, "", level, level, goal=goal), None
    treated = trained(changed)
    after = level_of(task, fault, treated.final, clean)
    confirmed = _confirmed(task, fault, recipe, changed, (level, after), clean) if after < level - HARM else None
    return Round(*seen, advice, applied, treated.key, level, after, confirmed, goal), changed


def applicable(diagnosis: Diagnosis, recipe: Start) -> tuple[int | None, Start | None]:
    """The first prescription that can be trained, and the recipe with it."""
    for index, item in enumerate(diagnosis.prescriptions):
        if not testable(item):
            continue
        try:
            changed = recipe.with_changes({change.key: change.after for change in item.changes})
            if isinstance(changed, Recipe):
                backend_for(changed.framework).check(changed)
        except RlclinicError:
            continue
        if key_of(changed) != key_of(recipe):
            return index, changed
    return None, None


def _confirmed(
    task: Task, fault: str, recipe: Start, changed: Start, seen: tuple[float, float], clean: float
) -> tuple[float, float]:
    """The levels before and after with those of further seeds."""
    levels = []
    for start, known in zip((recipe, changed), seen, strict=True):
        more = [trained(start.with_changes({"seed": seed})) for seed in CONFIRMING]
        values = [known, *(level_of(task, fault, item.final, clean) for item in more)]
        levels.append(sum(values) / len(values))
    return levels[0], levels[1]


def _advice(item: Any) -> dict[str, Any]:
    changes: Mapping[str, object] = {change.key: change.after for change in item.changes}
    return {"kind": item.kind.value, "causes": list(item.causes), "changes": dict(changes)}
