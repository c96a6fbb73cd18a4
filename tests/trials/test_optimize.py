"""The loop of `optimize`: what it tries, in which order, what it keeps and when it stops."""

import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from rlclinic.lab.recipe import Recipe
from rlclinic.model.errors import UsageError
from rlclinic.model.optimisation import Optimisation, Origin
from rlclinic.model.trial import Outcome, OutcomeState
from rlclinic.readers.open import read
from rlclinic.reports.optimisation_sections import optimisation_sections, score_words, summary
from rlclinic.trials.job import run_job
from rlclinic.trials.known import known_changes
from rlclinic.trials.optimize import MOST_FAILURES, optimize
from rlclinic.trials.plan import Job
from rlclinic.trials.pruning import Pruning
from rlclinic.trials.runners import runner_for
from rlclinic.trials.space import hyperparameters, parameters, search_space

STEPS = 10_000


def recipe(**values: object) -> Recipe:
    base = {"learning_rate": 3e-5, "n_steps": 128, "batch_size": 64, "n_epochs": 10, "gamma": 0.99, "n_envs": 1}
    found = Recipe(
        "sb3", "PPO", "tests.lab.environments:Steady", STEPS, hyperparameters={**base, **values}, threshold=100.0
    )
    return found.trusted()


class Formula:
    """Answers jobs by a formula instead of training, so that hundreds of runs cost nothing."""

    def __init__(self, steps_needed: Callable[[Job], float]) -> None:
        self._steps_needed = steps_needed
        self.jobs: list[Job] = []

    def run(self, jobs: Sequence[Job], root: Path, wanted: Callable[[Job], bool]) -> Iterator[Outcome]:
        for job in jobs:
            assert wanted(job)
            self.jobs.append(job)
            yield self._outcome(job, root)

    def _outcome(self, job: Job, root: Path) -> Outcome:
        needed = self._steps_needed(job)
        folder = str(root / job.name)
        if math.isnan(needed):
            return Outcome(job.arm, job.seed, OutcomeState.FAILED, folder=folder, error="refused")
        end = job.stop_after or job.budget
        reached = needed if needed <= end else None
        level = 100.0 if reached is not None else 50.0
        state = OutcomeState.DONE if reached is not None or end == job.budget else OutcomeState.STOPPED
        return Outcome(
            job.arm, job.seed, state, level, level, reached, 1.0, min(needed, end), folder,
            curve=((0.0, 0.0), (float(end), level)),
        )  # fmt: skip


def rate_decides(job: Job) -> float:
    """Best at 3e-4, ten times slower for each decade away from it; the seeds differ a little."""
    away = abs(math.log10(job.config["learning_rate"] / 3e-4))
    return 1000.0 * 10.0**away + job.seed


def optimised(runner: Formula, tmp_path: Path, runs: int = 30) -> Optimisation:
    return optimize(recipe(), runs * STEPS, runner, root=tmp_path, workers=1)


def test_a_better_configuration_is_found_and_proved_on_three_seeds(tmp_path: Path) -> None:
    found = optimised(Formula(rate_decides), tmp_path)
    assert found.proved
    assert len(found.scores) == len(found.start_scores) == 3
    assert max(found.scores) < min(found.start_scores)
    assert found.best["learning_rate"] == found.changes["learning_rate"]


def test_the_budget_of_env_steps_is_kept(tmp_path: Path) -> None:
    runner = Formula(rate_decides)
    found = optimised(runner, tmp_path, runs=4)
    assert found.used <= found.budget == 4 * STEPS
    assert found.used == pytest.approx(sum(min(rate_decides(job), job.stop_after or STEPS) for job in runner.jobs))


def test_no_run_goes_on_after_the_step_at_which_the_best_was_done(tmp_path: Path) -> None:
    runner = Formula(rate_decides)
    found = optimised(runner, tmp_path)
    first = next(attempt for attempt in found.attempts if attempt.score < STEPS / 2)
    later = [job for job in runner.jobs[first.number + 1 :] if job.seed == 0]
    assert len(later) > 20
    assert max(job.stop_after or STEPS for job in later) <= math.ceil(first.score) + 2
    assert any(attempt.outcome.state is OutcomeState.STOPPED for attempt in found.attempts)


def test_a_start_that_never_gets_there_is_cut_where_it_has_lost_and_the_best_is_still_proved(tmp_path: Path) -> None:
    runner = Formula(lambda job: 2.0 * STEPS if job.arm == "config-0" else rate_decides(job))
    found = optimised(runner, tmp_path)
    again = [job for job in runner.jobs if job.arm == "config-0" and job.seed > 0]
    assert [job.stop_after for job in again] == [math.ceil(max(found.scores))] * 2
    assert min(found.start_scores) > max(found.scores)
    assert found.proved


def test_without_a_threshold_every_run_is_whole(tmp_path: Path) -> None:
    runner = Formula(rate_decides)
    optimize(recipe().with_changes({"threshold": None}), 8 * STEPS, runner, root=tmp_path, workers=1)
    assert {job.stop_after for job in runner.jobs} == {None}


def test_what_works_elsewhere_is_tried_before_anything_is_drawn(tmp_path: Path) -> None:
    found = optimised(Formula(rate_decides), tmp_path)
    origins = [attempt.origin for attempt in found.attempts]
    assert origins[:2] == [Origin.START, Origin.REFERENCE]
    assert origins.index(Origin.REFERENCE) < origins.index(Origin.SEARCH)


def test_a_lucky_first_seed_is_not_kept(tmp_path: Path) -> None:
    def lucky(job: Job) -> float:
        return 5000.0 if job.arm == "config-0" else (1000.0 if job.seed == 0 else 9000.0)

    found = optimised(Formula(lucky), tmp_path)
    assert found.changes == {}
    assert not found.proved
    assert any(attempt.origin is Origin.CONFIRMATION for attempt in found.attempts)


def test_a_search_whose_runs_all_fail_ends_and_says_why(tmp_path: Path) -> None:
    found = optimised(Formula(lambda job: math.nan), tmp_path)
    assert len(found.attempts) >= MOST_FAILURES
    assert found.used == 0
    assert "refused" in found.notes[0]


def test_the_best_score_so_far_never_rises(tmp_path: Path) -> None:
    found = optimised(Formula(rate_decides), tmp_path)
    best = [attempt.best for attempt in found.attempts]
    assert best == sorted(best, reverse=True)
    done = [attempt.score for attempt in found.attempts if attempt.outcome.state is OutcomeState.DONE]
    assert best[-1] == min(done)
    assert len(done) < len(found.attempts)


def test_the_whole_budget_is_used_and_what_is_left_is_less_than_a_run(tmp_path: Path) -> None:
    found = optimised(Formula(rate_decides), tmp_path, runs=12)
    cheapest = min(found.scores)
    assert found.budget - found.used < 2 * cheapest


def test_a_score_is_told_in_words_and_only_measured_steps_are_shown(tmp_path: Path) -> None:
    never = optimised(Formula(lambda job: 2.0 * STEPS), tmp_path, runs=3)
    assert score_words(never.attempts[0].outcome, 100.0) == "did not reach 100: ended at 50"
    page = " ".join(str(section) for section in optimisation_sections(never))
    assert "threshold not reached" in page
    found = optimised(Formula(rate_decides), tmp_path)
    assert "reached 100 on 3 of 3 seeds" in summary(found)


def test_a_budget_below_one_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="less than one run"):
        optimize(recipe(), STEPS - 1, Formula(rate_decides), root=tmp_path)


def test_a_derived_hyperparameter_reaches_the_trainer_under_its_basic_name(tmp_path: Path) -> None:
    runner = Formula(rate_decides)
    optimised(runner, tmp_path, runs=6)
    assert all("n_minibatches" not in job.config and "rollout_size" not in job.config for job in runner.jobs)


def test_the_space_holds_the_start_and_nothing_without_a_meaning() -> None:
    start = recipe(learning_rate=0.3, gamma=0.4, n_steps=8192)
    space = search_space(start)
    inside = hyperparameters(parameters(space, start.hyperparameters), start)
    assert inside["learning_rate"] == pytest.approx(0.3)
    assert inside["gamma"] == pytest.approx(0.4)
    assert inside["n_steps"] == 8192
    assert max(space["n_steps"].choices) <= STEPS  # type: ignore[attr-defined]
    assert space["gamma"].high <= 1.0  # type: ignore[attr-defined]


def test_no_draw_takes_many_times_the_updates_of_working_configs() -> None:
    start = recipe()
    space = search_space(start)
    assert space["n_epochs"].high <= 2 * 20 + 1  # type: ignore[attr-defined]
    drawn = hyperparameters({"batch_size": 8, "n_epochs": 40.0}, start)
    assert (drawn["batch_size"], drawn["n_epochs"]) == (8, 16)
    replay = Recipe("sb3", "SAC", "Pendulum-v1", STEPS, hyperparameters={"train_freq": 1, "gradient_steps": 1})
    assert hyperparameters({"train_freq": 3.0, "gradient_steps": 20.0}, replay)["gradient_steps"] == 6


def test_what_is_known_leaves_ordinary_values_alone_and_brings_odd_ones_home() -> None:
    changes = known_changes(recipe(learning_rate=0.1))
    assert 1e-5 < float(str(changes["learning_rate"])) < 5e-3
    assert "gamma" not in changes
    entry = known_changes(Recipe("sb3", "PPO", "CartPole-v1", STEPS, hyperparameters={"learning_rate": 0.1}))
    assert entry["learning_rate"] == 0.001
    assert "total_steps" not in entry


def test_a_growing_run_is_reported_to_the_pruner_once_per_point(tmp_path: Path) -> None:
    import optuna

    study = optuna.create_study()
    trial = study.ask()
    folder = tmp_path / "run"
    folder.mkdir()
    pruning = Pruning(STEPS)
    for rows in (3, 5):
        lines = [f"{step * 100},{step}" for step in range(1, rows + 1)]
        (folder / "metrics.csv").write_text("\n".join(["step,eval/mean_reward", *lines]) + "\n", encoding="utf-8")
        pruning._looked.clear()
        assert not pruning.gives_up(trial, study, folder)
    assert len(study.get_trials()[0].intermediate_values) == 5


def test_a_run_that_is_cut_keeps_its_schedules_and_says_how_it_ended(tmp_path: Path) -> None:
    start = Recipe(
        "sb3", "PPO", "CartPole-v1", 1024, threshold=600.0, eval_every=128, eval_episodes=1,
        hyperparameters={"n_steps": 32, "batch_size": 64, "n_envs": 2, "n_epochs": 1},
    )  # fmt: skip
    job = Job("trial", "arm", 3, start.to_config(), 1024, 600.0, stop_after=250)
    outcome = run_job(job, tmp_path / "run")
    assert (outcome.state, outcome.steps_to_threshold) == (OutcomeState.STOPPED, None)
    # It ends with the first update after the cap, when the next rollout has taken one step.
    assert 256 <= outcome.steps <= 258
    run = read(outcome.folder)
    assert (run.status.state.value, run.status.reason) == ("interrupted", "asked to stop after 250 steps")
    assert run.budget == 1024


@pytest.mark.end_to_end
def test_a_real_run_is_trained_diagnosed_and_scored(tmp_path: Path) -> None:
    start = Recipe(
        "sb3", "PPO", "CartPole-v1", 1024, threshold=600.0, eval_every=256, eval_episodes=2,
        hyperparameters={"learning_rate": 3e-6, "n_steps": 128, "batch_size": 64, "n_envs": 2, "n_epochs": 2},
    )  # fmt: skip
    found = optimize(start, 2048, runner_for("local", 1), root=tmp_path, workers=1)
    assert [attempt.origin for attempt in found.attempts] == [Origin.START, Origin.PRESCRIPTION]
    assert all(attempt.outcome.state is OutcomeState.DONE for attempt in found.attempts)
    assert found.used == 2048
    assert found.attempts[1].reason
    assert float(str(found.attempts[1].changes["learning_rate"])) > 3e-5
    assert found.attempts[0].score > 1024
