"""Train, diagnose, prescribe, try, keep what holds: until the goal is reached in the fewest env steps.

Optuna keeps the history and proposes what lies between prescriptions (ask and tell). What a diagnosis prescribes and
what is known to work is enqueued before anything is drawn. Until the goal is reached, whatever gets nearer is
kept; then the best and whatever looks better are trained on further seeds, and the better on the mean of all of them is
kept. A run that cannot win is cut. Steps for the proof against the start are set aside.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import optuna
from optuna.trial import TrialState

from rlclinic.engine import diagnose
from rlclinic.lab.recipe import Recipe
from rlclinic.lab.trust import check_trust
from rlclinic.model.errors import RlclinicError, UsageError
from rlclinic.model.optimisation import Attempt, Optimisation, Origin
from rlclinic.model.trial import Outcome, OutcomeState
from rlclinic.readers.open import read
from rlclinic.trials.candidate import (
    Candidate,
    Waiting,
    cap_of_comparison,
    cap_of_confirmation,
    cap_of_first_run,
    score_of,
)
from rlclinic.trials.known import known_changes
from rlclinic.trials.plan import Job
from rlclinic.trials.propose import testable
from rlclinic.trials.pruning import Pruning
from rlclinic.trials.runners import Runner
from rlclinic.trials.space import hyperparameters, parameters, search_space
from rlclinic.trials.statistics import p_value

# Seeds a configuration needs before it is kept, and the level of the final test against the start.
SEEDS = 3
ALPHA = 0.05
# Prescriptions of one diagnosis that are tried.
PRESCRIPTIONS = 2
# A prescription for a run this many times as slow as the best is not worth its steps.
WORTH_TREATING = 1.5
# Runs before the search models what it saw: budgets are tens of runs, and the first ones are no random draws.
STARTUP_TRIALS = 3
# Runs in a row that end with an error before the search is given up: an error costs no steps, so no budget ends it.
MOST_FAILURES = 10

Listener = Callable[[Attempt], None]


class Optimiser:
    """The state of one optimisation."""

    def __init__(self, recipe: Recipe, budget: int, runner: Runner, root: Path, on_attempt: Listener | None) -> None:
        if budget < recipe.total_steps:
            raise UsageError(
                f"--budget {budget:,} is less than one run ({recipe.total_steps:,} env steps)",
                hint="raise it, or shorten a run with --override total_steps=N",
            )
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        check_trust(recipe)
        self._recipe, self._budget, self._runner, self._root = recipe, budget, runner, root
        self._space = search_space(recipe)
        sampler = optuna.samplers.TPESampler(seed=recipe.seed, n_startup_trials=STARTUP_TRIALS)
        self._study = optuna.create_study(sampler=sampler)
        self._pruning = Pruning(recipe.total_steps)
        self._tell = on_attempt
        self._attempts: list[Attempt] = []
        self._configs: list[Candidate] = []
        self._queue: list[Waiting] = []
        self._used = 0.0
        self._failures = 0

    def run(self, workers: int | None = None) -> Optimisation:
        """Spend the budget."""
        start = self._enter(Origin.START, "", {}, self._ask({}))
        self._train([(start, self._seed(0))])
        self._enqueue_known(start)
        best, spent = start, -1.0
        while self._used > spent:
            # What the proof leaves of the budget is searched with again.
            spent = self._used
            best = self._search(start, best, workers)
            self._prove(start, best)
        return self._result(start, best)

    def _search(self, start: Candidate, best: Candidate, workers: int | None) -> Candidate:
        """Try what waits and what is drawn until the budget holds no further run; the best so far."""
        while self._failures < MOST_FAILURES:
            cap = cap_of_first_run(best, self._seed(0), self._recipe)
            room = min(workers or os.cpu_count() or 1, self._affordable(cap, self._set_aside(start, best)))
            if room < 1:
                break
            candidates = [self._next(best) for _ in range(room)]
            self._train([(config, self._seed(0)) for config in candidates], cap)
            for config in sorted(candidates, key=lambda item: item.mean):
                if config.scores and not config.given_up and config.mean < best.mean:
                    best = self._confirmed(config, best)
        return best

    def _prove(self, start: Candidate, best: Candidate) -> None:
        if best is not start:
            seeds = [self._seed(index) for index in range(SEEDS)]
            self._train_missing(best, seeds, None)
            self._train_missing(start, list(best.scores), cap_of_comparison(best, self._recipe))

    def _next(self, best: Candidate) -> Candidate:
        """What waits, if the run it comes from is not far behind the best; else what the search draws."""
        # Without a threshold scores are returns, whose ratio means nothing.
        if self._recipe.threshold is not None:
            most = WORTH_TREATING * best.mean
            self._queue = [item for item in self._queue if item.source <= most or item.origin is Origin.REFERENCE]
        if self._queue:
            item = min(self._queue, key=lambda waiting: waiting.source)
            self._queue.remove(item)
            return self._enter(item.origin, item.reason, item.changes, self._ask(item.changes), item.before)
        trial = self._study.ask(self._space)
        drawn = hyperparameters({key: trial.params[key] for key in self._space}, self._recipe)
        return self._enter(Origin.SEARCH, "", drawn, trial)

    def _enqueue_known(self, start: Candidate) -> None:
        """What is known to work here or elsewhere comes after what the start's diagnosis prescribes."""
        changes = known_changes(self._recipe)
        if changes and changes not in [item.changes for item in self._queue]:
            self._queue.append(Waiting(Origin.REFERENCE, "", changes, start.mean))

    def _ask(self, changes: dict[str, object]) -> optuna.Trial:
        """A trial of Optuna's with given values, so that the search learns from it."""
        values = {**self._recipe.hyperparameters, **changes}
        self._study.enqueue_trial(parameters(self._space, values), skip_if_exists=False)
        return self._study.ask(self._space)

    def _enter(
        self,
        origin: Origin,
        reason: str,
        changes: dict[str, object],
        trial: optuna.Trial,
        before: tuple[Path, ...] = (),
    ) -> Candidate:
        config = Candidate(len(self._configs), origin, reason, changes, trial, before)
        self._configs.append(config)
        return config

    def _confirmed(self, config: Candidate, best: Candidate) -> Candidate:
        """The better of two configurations on the same seeds, as far as the budget allows to train them."""
        has_goal = self._recipe.threshold is not None
        if has_goal and len(best.scores) == 1 and not best.reaches(self._recipe):
            # Whoever gets nearer to the goal is treated further; there is nothing yet to be sure of.
            return config
        # The best is measured first: what it needs on every seed tells when the rival has lost.
        seeds = [self._seed(index) for index in range(SEEDS)]
        self._train_missing(best, seeds, None)
        for seed in seeds:
            if has_goal and sum(config.scores.values()) >= sum(best.scores.values()):
                break
            self._train_missing(config, [seed], cap_of_confirmation(config, best, seeds, self._recipe))
        shared = config.scores.keys() & best.scores.keys()
        ours, theirs = ([item.scores[seed] for seed in shared] for item in (config, best))
        # One that the budget leaves with fewer seeds than the best has does not replace it.
        return config if len(shared) == len(best.scores) and sum(ours) < sum(theirs) else best

    def _set_aside(self, start: Candidate, best: Candidate) -> float:
        """Env steps that the proof of the best against the start will take; none while there is nothing to prove."""
        if best is start or not best.reaches(self._recipe):
            return 0.0
        return sum(SEEDS - len(item.scores) for item in (best, start)) * best.mean

    def _train_missing(self, config: Candidate, seeds: list[int], cap: int | None) -> None:
        missing = [(config, seed) for seed in seeds if seed not in config.scores]
        self._train(missing[: self._affordable(cap)], cap)

    def _train(self, wanted: list[tuple[Candidate, int]], cap: int | None = None) -> None:
        todo = [self._job(config, seed, cap) for config, seed in wanted]
        jobs = {(job.arm, job.seed): config for job, (config, _) in zip(todo, wanted, strict=True)}
        folders = {job.name: self._root / job.name for job in todo}

        def goes_on(job: Job) -> bool:
            config = jobs[job.arm, job.seed]
            first = config.trial if not config.scores else None
            return not self._pruning.gives_up(first, self._study, folders[job.name])

        for outcome in self._runner.run(todo, self._root, goes_on):
            self._record(jobs[outcome.arm, outcome.seed], outcome)

    def _record(self, config: Candidate, outcome: Outcome) -> None:
        score = score_of(outcome, self._recipe)
        first = not config.scores
        self._used += outcome.steps or self._pruning.reached(Path(outcome.folder))
        config.scores[outcome.seed] = score
        self._failures = self._failures + 1 if outcome.state is OutcomeState.FAILED else 0
        config.given_up = config.given_up or outcome.state is OutcomeState.STOPPED
        if first and config.trial is not None:
            # Optuna learns from a pruned run by what it reported; one that was ended before it reported is lost.
            if outcome.state is OutcomeState.STOPPED:
                self._pruning.report(config.trial, Path(outcome.folder), outcome.curve)
            self._study.tell(config.trial, *_told(score, outcome.state))
        # The score of a run that was cut is a bound, not an achievement.
        achieved = math.inf if outcome.state is OutcomeState.STOPPED else score
        best = min(achieved, self._attempts[-1].best) if self._attempts else score
        origin = config.origin if first else Origin.CONFIRMATION
        attempt = Attempt(
            len(self._attempts), origin, config.reason, config.number, config.changes, outcome, score, self._used, best
        )
        self._attempts.append(attempt)
        if self._tell is not None:
            self._tell(attempt)
        if first and outcome.state is OutcomeState.DONE:
            self._prescribe(config, outcome)

    def _prescribe(self, config: Candidate, outcome: Outcome) -> None:
        """Enqueue what the diagnosis of a run prescribes, on top of that run's own configuration."""
        try:
            others = [read(path) for path in config.before]
            found = [item for item in diagnose(read(outcome.folder), others=others).prescriptions if testable(item)]
        except RlclinicError:
            return
        before = (*config.before, Path(outcome.folder))
        tried = [*(other.changes for other in self._configs), *(waiting.changes for waiting in self._queue)]
        for item in found[:PRESCRIPTIONS]:
            changes = {**config.changes, **{change.key: change.after for change in item.changes}}
            if changes not in tried:
                reason = ", ".join(item.causes)
                self._queue.append(Waiting(Origin.PRESCRIPTION, reason, changes, config.mean, before))

    def _job(self, config: Candidate, seed: int, cap: int | None) -> Job:
        values: dict[str, Any] = self._recipe.with_changes(config.changes).to_config()
        arm = f"config-{config.number}"
        recipe = self._recipe
        trust = tuple(sorted(recipe.trust))
        return Job("optimize", arm, seed, values, recipe.total_steps, recipe.threshold, stop_after=cap, trust=trust)

    def _seed(self, index: int) -> int:
        return self._recipe.seed + index

    def _affordable(self, cap: int | None, set_aside: float = 0.0) -> int:
        """How many runs the budget still holds."""
        return max(0, int((self._budget - self._used - set_aside) // (cap or self._recipe.total_steps)))

    def _result(self, start: Candidate, best: Candidate) -> Optimisation:
        shared = sorted(start.scores.keys() & best.scores.keys())
        ours, theirs = [-best.scores[seed] for seed in shared], [-start.scores[seed] for seed in shared]
        changed = self._recipe.with_changes(best.changes)
        return Optimisation(
            environment=self._recipe.environment,
            algorithm=self._recipe.algorithm,
            budget=self._budget,
            used=self._used,
            threshold=self._recipe.threshold,
            attempts=tuple(self._attempts),
            best=changed.to_config(),
            changes=best.changes,
            scores=tuple(best.scores.values()),
            start_scores=tuple(start.scores.values()),
            proved=best is not start and p_value(theirs, ours) <= ALPHA,
            notes=self._notes(),
        )

    def _notes(self) -> tuple[str, ...]:
        failed = [item.outcome for item in self._attempts if item.outcome.state is OutcomeState.FAILED]
        left = self._budget - self._used
        unused = (f"{left:,.0f} env steps of the budget are left: less than another run takes",) if left >= 1 else ()
        if not failed:
            return unused
        gave_up = f"; given up after {MOST_FAILURES} in a row" if self._failures >= MOST_FAILURES else ""
        told = f"{len(failed)} of {len(self._attempts)} runs failed, the last with: {failed[-1].error}{gave_up}"
        return (told, *unused)


def _told(score: float, state: OutcomeState) -> tuple[float | None, TrialState]:
    if state is OutcomeState.STOPPED:
        return None, TrialState.PRUNED
    return (None, TrialState.FAIL) if state is OutcomeState.FAILED else (score, TrialState.COMPLETE)


def optimize(
    recipe: Recipe,
    budget: int,
    runner: Runner,
    *,
    root: Path,
    workers: int | None = None,
    on_attempt: Listener | None = None,
) -> Optimisation:
    """Bring a recipe to its goal in the fewest env steps, spending at most `budget` env steps on the way."""
    return Optimiser(recipe, budget, runner, root, on_attempt).run(workers)
