"""The two searches: `optimize`, and Optuna's TPE alone from the same start with the same env steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import optuna

from rlclinic.lab.recipe import Recipe
from rlclinic.model.trial import Outcome
from rlclinic.trials.candidate import score_of
from rlclinic.trials.job import run_job
from rlclinic.trials.optimize import optimize
from rlclinic.trials.plan import Job
from rlclinic.trials.space import hyperparameters, parameters, search_space

METHODS = ("rlclinic", "tpe")


@dataclass(frozen=True, slots=True)
class Found:
    """What a search came to."""

    best: Recipe
    used: float
    """Env steps."""
    curve: tuple[tuple[float, float, str], ...]
    """After each run: env steps used, best score so far, who proposed it."""


class InProcess:
    """Trains one run after the other in this process: the searches are compared by env steps, not by time."""

    def run(self, jobs: Sequence[Job], root: Path, wanted: Callable[[Job], bool]) -> Iterator[Outcome]:
        """Yield outcomes as runs end."""
        for job in jobs:
            if wanted(job):
                yield run_job(job, root / job.name)


def search(method: str, recipe: Recipe, budget: int, root: Path) -> Found:
    """Spend the budget from a start."""
    return _rlclinic(recipe, budget, root) if method == "rlclinic" else _tpe(recipe, budget, root)


def _rlclinic(recipe: Recipe, budget: int, root: Path) -> Found:
    found = optimize(recipe, budget, InProcess(), root=root, workers=1)
    curve = tuple((item.used, item.best, item.origin.value) for item in found.attempts)
    return Found(recipe.with_changes(dict(found.changes)), found.used, curve)


def _tpe(recipe: Recipe, budget: int, root: Path) -> Found:
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    space = search_space(recipe)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=recipe.seed))
    study.enqueue_trial(parameters(space, recipe.hyperparameters))
    used, best, kept = 0.0, float("inf"), recipe
    curve: list[tuple[float, float, str]] = []
    while budget - used >= recipe.total_steps:
        trial = study.ask(space)
        drawn: dict[str, Any] = hyperparameters(trial.params, recipe) if curve else {}
        changed = recipe.with_changes(drawn)
        job = Job(
            "tpe", f"trial-{trial.number}", recipe.seed, changed.to_config(), recipe.total_steps, recipe.threshold
        )
        outcome = run_job(job, root / job.name)
        score = score_of(outcome, recipe)
        # A run that ends with an error is charged as a whole one, or a space full of them would never end.
        used += outcome.steps or recipe.total_steps
        study.tell(trial, score)
        if score < best:
            best, kept = score, changed
        curve.append((used, best, "search" if len(curve) else "start"))
    return Found(kept, used, tuple(curve))
