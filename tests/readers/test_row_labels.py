"""Rows of one table that belong to different things are told apart, and it is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from rlclinic.readers.discover import find
from rlclinic.readers.open import read


def rows(header: str, *lines: str) -> str:
    return "\n".join([header, *lines, ""])


def test_two_evaluators_in_one_table_are_two_metrics(tmp_path: Path) -> None:
    lines = [f"{step},{step + plus},{kind}" for step in range(10) for kind, plus in (("pi", 0), ("mppi", 100))]
    (tmp_path / "log.csv").write_text(rows("step,reward,eval_type", *lines))
    run = read(tmp_path / "log.csv")
    assert (run.framework, run.returns.logged_as) == ("tdmpc", "mppi/reward")
    assert run.returns.values.tolist() == [100.0 + step for step in range(10)]


@pytest.mark.parametrize("word", ["eval", "test", "validation"])
def test_rows_of_training_and_of_evaluation_are_told_apart(tmp_path: Path, word: str) -> None:
    lines = [f"{step},{step + plus},{kind}" for step in range(10) for kind, plus in (("train", 0), (word, 100))]
    (tmp_path / "log.csv").write_text(rows("step,episode_reward,phase", *lines))
    run = read(tmp_path / "log.csv")
    assert run["return/train"].values[0] == 0
    assert run["return/eval"].values[0] == 100


def test_one_row_for_each_metric_is_a_table_of_metrics(tmp_path: Path) -> None:
    lines = [f"{step},{name},{step}" for step in range(5) for name in ("episode_reward", "entropy")]
    (tmp_path / "log.csv").write_text(rows("step,metric,value", *lines))
    run = read(tmp_path / "log.csv")
    assert {"return/train", "entropy"} <= set(run.series)


def test_of_several_seeds_in_one_table_the_one_that_is_named_is_read(tmp_path: Path) -> None:
    lines = [f"{step},{100 * seed + step},{seed}" for seed in (1, 2, 3) for step in range(6)]
    (tmp_path / "all.csv").write_text(rows("step,episode_reward,seed", *lines))
    first, third = read(tmp_path / "all.csv"), read(f"{tmp_path / 'all.csv'}::seed=3")
    assert first["return/train"].values.tolist() == [100.0 + step for step in range(6)]
    assert third["return/train"].values[-1] == 305
    assert any("3 trainings by seed" in note for note in first.provenance.notes)


def test_tables_of_numbered_seeds_are_a_run_each(tmp_path: Path) -> None:
    for seed in (0, 1):
        (tmp_path / f"seed_{seed}.csv").write_text(rows("step,episode_reward", "1,2", "2,3", "3,4"))
    assert [ref.path.name for ref in find(tmp_path)] == ["seed_0.csv", "seed_1.csv"]


@pytest.mark.parametrize(("others", "runs"), [("2,4,6", 2), ("1,2,3", 1)])
def test_tables_that_tell_other_returns_of_the_same_steps_are_a_run_each(
    tmp_path: Path, others: str, runs: int
) -> None:
    for name, returns in (("mine.csv", "1,2,3"), ("yours.csv", others)):
        lines = [f"{step},{value}" for step, value in enumerate(returns.split(","))]
        (tmp_path / name).write_text(rows("step,episode_reward", *lines, "9,9"))
    assert len(find(tmp_path)) == runs


def test_columns_of_an_evaluation_file_are_evaluations(tmp_path: Path) -> None:
    (tmp_path / "train.csv").write_text(rows("step,episode_reward,loss", *(f"{n},{n},1" for n in range(9))))
    (tmp_path / "eval.csv").write_text(rows("step,episode_reward", "0,50", "8,60"))
    run = read(tmp_path)
    assert run["return/train"].values[-1] == 8
    assert run["return/eval"].values.tolist() == [50, 60]


def test_trainings_one_after_another_are_told_apart_and_the_longest_is_read(tmp_path: Path) -> None:
    steps = [*range(100, 1100, 100), 1, 2, 3]
    (tmp_path / "log.csv").write_text(rows("global_step,episode_reward", *(f"{step},{step}" for step in steps)))
    run = read(tmp_path)
    assert run["return/train"].values.tolist() == steps[:10]
    assert any("2 trainings one after another" in note for note in run.provenance.notes)


def test_a_resumed_run_is_no_new_training(tmp_path: Path) -> None:
    steps = [*range(100, 1100, 100), *range(900, 1500, 100)]
    (tmp_path / "log.csv").write_text(rows("global_step,episode_reward", *(f"{step},{step}" for step in steps)))
    assert read(tmp_path)["return/train"].values.tolist() == list(range(100, 1500, 100))


def test_a_step_that_starts_again_all_the_time_is_no_clock(tmp_path: Path) -> None:
    steps = [step for _ in range(20) for step in (10, 500, 1000)]
    (tmp_path / "log.csv").write_text(rows("step,episode_reward", *(f"{step},{n}" for n, step in enumerate(steps))))
    assert not any("one after another" in note for note in read(tmp_path).provenance.notes)


def test_a_column_that_counts_on_tells_the_step_where_another_starts_again(tmp_path: Path) -> None:
    lines = (f"{n % 15},{n},{n}" for n in range(60))
    (tmp_path / "log.csv").write_text(rows("episode,global_episode,reward", *lines))
    assert len(read(tmp_path)["return/train"]) == 60


def test_a_seed_for_every_episode_is_one_training(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text(rows("episode,seed,reward", *(f"{n},{n + 7},{n}" for n in range(30))))
    assert len(read(tmp_path)["return/train"]) == 30
