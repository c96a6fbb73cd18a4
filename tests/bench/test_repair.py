"""The arithmetic of the repair benchmark."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("stable_baselines3")

from bench.repair import score, training
from bench.repair import treatment as treating
from bench.repair.run import is_asked, slower
from bench.repair.tasks import floor, tasks
from bench.repair.treatment import RESTORED, Round, bar_of, level_of, treat

from rlclinic.model.errors import UsageError


def treatment(before: float, after: float, applied: int | None = 0, **more: Any) -> dict[str, Any]:
    return {"applied": applied, "before": before, "after": after, "confirmed": None, "advice": [], **more}


def patient(level: float, *rounds: dict[str, Any]) -> dict[str, Any]:
    return {"task": "room-dqn", "fault": "late-start", "seed": 0, "key": "k", "level": level, "rounds": list(rounds)}


def test_a_level_is_counted_from_a_random_policy_to_the_healthy_run() -> None:
    task = tasks()["room-dqn"]
    low = floor("room-dqn")
    assert level_of(task, "", low, clean=1.0) == pytest.approx(0.0)
    assert level_of(task, "", 1.0, clean=1.0) == pytest.approx(1.0)
    assert level_of(task, "", math.nan, clean=1.0) == 0.0


def test_a_fault_in_the_units_of_the_reward_does_not_count_as_a_higher_return() -> None:
    task = tasks()["cartpole-ppo"]
    assert task.unit("reward-thousandfold") == 1000.0
    assert task.unit("short-horizon") == 1.0
    assert level_of(task, "reward-thousandfold", 500_000.0, clean=500.0) == pytest.approx(1.0)


def test_a_first_prescription_that_is_no_change_repairs_nothing() -> None:
    behind = patient(0.3, treatment(0.3, 1.0, applied=1))
    assert score.first_level(behind) == 0.3
    assert score.change_level(behind) == 1.0
    assert score.first_level(patient(0.3, treatment(0.3, 1.0, applied=0))) == 1.0


def test_after_several_rounds_the_best_run_is_kept() -> None:
    assert score.last_level(patient(0.3, treatment(0.3, 0.7), treatment(0.7, 0.5))) == 0.7
    assert score.last_level(patient(0.3, treatment(0.3, 0.3, applied=None))) == 0.3


def test_harm_needs_a_clear_fall_that_further_seeds_confirm() -> None:
    lines = [
        patient(1.0, treatment(1.0, 0.5, confirmed=[1.0, 0.6])),
        patient(1.0, treatment(1.0, 0.5, confirmed=[0.9, 0.85])),
        patient(0.5, treatment(0.5, 0.45)),
        patient(1.0, treatment(1.0, 1.0, applied=None)),
    ]
    assert score.harm(lines) == score.Harm(treatments=3, on_healthy=2, seen=2, confirmed=1)


def test_a_share_leaves_out_what_was_not_measured() -> None:
    assert score.share([0.95, 0.2, math.nan]) == (1, 2)


@pytest.mark.parametrize(
    ("hits", "total", "low", "high"), [(0, 10, 0.0, 0.278), (5, 10, 0.237, 0.763), (0, 0, 0.0, 1.0)]
)
def test_the_interval_of_a_share_is_wilsons(hits: int, total: int, low: float, high: float) -> None:
    assert score.interval(hits, total) == pytest.approx((low, high), abs=1e-3)


def test_every_fault_changes_its_recipe_and_half_of_the_tasks_are_unknown_to_the_tables() -> None:
    for task in tasks().values():
        clean = training.key_of(task.clean())
        assert all(training.key_of(task.faulty(fault)) != clean for fault in task.faults)
    unknown = sum(len(task.faults) for task in tasks().values() if not task.known)
    assert 2 * unknown >= sum(len(task.faults) for task in tasks().values()) >= 24


def test_a_reset_keeps_the_environment_and_forgets_the_fault() -> None:
    task = tasks()["cartpole-ppo"]
    assert task.reset("rate-30-times").get("learning_rate") == 0.001
    assert task.reset("reward-thousandfold").wrappers == task.faulty("reward-thousandfold").wrappers
    assert slower(task.faulty("rate-30-times")).get("learning_rate") == pytest.approx(0.01)


def test_a_record_with_a_torn_last_line_is_read_up_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record = tmp_path / "runs.jsonl"
    line = {"key": "a", "final": 1.0, "auc": 0.5, "steps": 10, "seconds": 1.0, "error": ""}
    record.write_text(json.dumps(line) + "\n" + json.dumps({**line, "key": "b"})[:20], encoding="utf-8")
    monkeypatch.setattr(training, "RECORD", record)
    assert list(training.recorded()) == ["a"]


def test_the_goal_that_is_told_is_the_bar_in_the_units_of_the_run() -> None:
    task = tasks()["cartpole-ppo"]
    for fault in ("short-horizon", "reward-thousandfold"):
        assert level_of(task, fault, bar_of(task, fault, clean=500.0), clean=500.0) == pytest.approx(RESTORED)


@pytest.mark.parametrize(
    ("fault", "levels", "told", "starts"),
    [
        # No advice at first: the user comes back with a goal, and only once.
        ("late-start", [None, None], [False, True], [0, 0]),
        ("late-start", [None, 0.5, 0.6], [False, True, True], [0, 0, 2]),
        # No further round for a run at the bar.
        ("late-start", [0.95], [False], [0]),
        ("late-start", [0.5, 0.95], [False, True], [0, 1]),
        # What made it clearly worse is taken back, what made no difference is kept.
        ("late-start", [0.3, 0.3, 0.1], [False, True, True], [0, 1, 2]),
        ("late-start", [-0.5, 0.3, 0.4], [False, True, True], [0, 0, 2]),
        # A clean run at the bar is asked about again.
        ("", [None, None], [False, True], [0, 0]),
    ],
)
def test_from_the_second_round_on_the_goal_is_told(
    monkeypatch: pytest.MonkeyPatch, fault: str, levels: list[float | None], told: list[bool], starts: list[int]
) -> None:
    """`starts` names the config that each round began with: 0 as it was, else by the round that made it."""
    begin = 0.3 if fault else 1.0
    began: list[int] = []
    goals: list[float | None] = []

    def made(task: Any, fault: str, recipe: Any, others: Any, level: float, clean: float, goal: float | None) -> Any:
        after = levels[len(goals)]
        goals.append(goal)
        began.append(0 if recipe.get("batch_size") == 64 else recipe.get("batch_size"))
        done = Round("", (), (), None if after is None else 0, "", level, level if after is None else after, goal=goal)
        return done, None if after is None else recipe.with_changes({"batch_size": len(goals)})

    monkeypatch.setattr(treating, "_round", made)
    monkeypatch.setattr(treating, "trained", lambda recipe: training.Trained("k", begin, 0.0, 0.0, 0.0))
    monkeypatch.setattr(treating, "level_of", lambda task, fault, final, clean: final)
    found = treat("room-dqn", fault, 0, clean=1.0)
    assert [goal is not None for goal in goals] == told
    assert len(found.rounds) == len(told)
    assert began == starts
    assert [goal for goal in goals if goal] == [pytest.approx(bar_of(tasks()["room-dqn"], fault, 1.0))] * sum(told)


def test_units_are_named_by_task_or_by_fault_and_what_is_repaired_is_left_out() -> None:
    unit = ("treat", "room-dqn", "late-start", 1)
    assert is_asked(unit, (), set())
    assert is_asked(unit, ("room-dqn",), set())
    assert is_asked(unit, ("room-dqn/late-start",), set())
    assert not is_asked(unit, ("room-dqn/few-updates", "room-ppo"), set())
    assert not is_asked(unit, (), {("room-dqn", "late-start", 1)})
    assert is_asked(("treat", "room-dqn", "", 1), ("room-dqn/clean",), set())
    assert not is_asked(unit, ("room-dqn/clean",), set())
    assert is_asked(("slower", *unit[1:]), (), {("room-dqn", "late-start", 1)})


def test_a_return_in_tiny_units_is_recorded_with_all_its_digits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(training, "RECORD", tmp_path / "runs.jsonl")
    monkeypatch.setattr(training, "_train", lambda _, key: training.Trained(key, 4.4321e-4, 1e-4, 1.0, 1.0))
    recipe = tasks()["room-dqn"].clean()
    training.trained(recipe)
    assert training.recorded()[training.key_of(recipe)].final == 4.4321e-4


def test_a_run_that_is_trained_again_for_its_files_is_not_entered_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe, finals = tasks()["room-dqn"].clean(), iter((0.5, 0.50001, 0.7))
    monkeypatch.setattr(training, "RECORD", tmp_path / "runs.jsonl")
    monkeypatch.setattr(training, "ROOT", tmp_path)
    monkeypatch.setattr(training, "_train", lambda _, key: training.Trained(key, next(finals), 0.0, 1.0, 1.0))
    counts = []
    for _ in range(3):
        training.trained(recipe, files=True)
        counts.append(len(training.RECORD.read_text(encoding="utf-8").splitlines()))
    assert counts == [1, 1, 2]


def test_strangers_are_on_four_environments_and_their_first_look_is_kept(tmp_path: Path, monkeypatch: Any) -> None:
    named = {name: task for name, task in tasks().items() if task.is_stranger}
    assert sum(len(task.faults) for task in named.values()) >= 24
    assert len({task.config["env_id"] for task in named.values()}) >= 4
    assert any(task.script for task in named.values())
    looks = [{**patient(0.2), "task": "desk-dqn", "level": level} for level in (0.2, 0.9)]
    record = tmp_path / "patients.jsonl"
    record.write_text("".join(json.dumps(line) + "\n" for line in looks), encoding="utf-8")
    monkeypatch.setattr(score, "PATIENTS", record)
    assert [line["level"] for line in score.strangers()] == [0.2]
    assert score.patients() == []


def test_a_script_is_run_by_a_command_with_every_setting_in_its_place() -> None:
    script = tasks()["desk-dqn"].faulty("late-start")
    assert "--learning-starts {learning_starts}" in script.command()
    assert script.with_changes({"learning_starts": 100}).to_config()["learning_starts"] == 100
    with pytest.raises(UsageError, match="no flag for normalize_reward"):
        script.with_changes({"normalize_reward": True})
    assert "--fault reward-constant" in tasks()["desk-dqn"].faulty("reward-constant").command()
