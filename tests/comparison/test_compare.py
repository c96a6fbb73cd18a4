"""Runs side by side."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import rlclinic
from rlclinic.comparison.compare import compare
from rlclinic.model.config import Config
from rlclinic.model.errors import UsageError
from rlclinic.model.run import Status
from rlclinic.store.index import RunIndex
from tests.comparison.builders import CORPUS, chosen_runs, curve, run, shortened


@pytest.fixture(scope="module")
def past(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return chosen_runs(tmp_path_factory.mktemp("past"))


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> RunIndex:
    """One index for all, so that the recorded runs are read once."""
    return RunIndex(tmp_path_factory.mktemp("index") / "runs.sqlite")


def test_the_better_run_wins_and_its_numbers_are_right() -> None:
    found = compare([run("good", curve(200, seed=1), threshold=150.0), run("bad", curve(30, seed=2), threshold=150.0)])
    good, bad = found.outcomes
    assert found.winner == "good"
    assert good.final == pytest.approx(200, abs=5)
    assert bad.final == pytest.approx(30, abs=5)
    assert good.steps_to_threshold == pytest.approx(49_000, abs=6_000)
    assert bad.steps_to_threshold is None
    assert good.area is not None
    assert bad.area is not None
    assert good.area > bad.area


def test_runs_within_the_noise_have_no_winner() -> None:
    found = compare([run("a", curve(200, seed=1)), run("b", curve(200.5, seed=2))])
    assert found.winner == ""
    assert "within the noise" in found.summary


def test_seeds_of_one_config_are_summarised_and_compared_as_one() -> None:
    first = [run(f"a{seed}", curve(200 + seed, seed=seed), seed=seed) for seed in range(4)]
    other = {"learning_rate": 0.1}
    second = [run(f"b{seed}", curve(40, seed=seed), seed=seed, settings=other) for seed in range(3)]
    found = compare([*first, *second])
    assert [group.members for group in found.groups] == [("a0", "a1", "a2", "a3"), ("b0", "b1", "b2")]
    assert found.groups[0].final == pytest.approx(201.5, abs=3)
    assert found.winner == "a0 (4 seeds)"
    assert len(found.partings) == 1
    assert not any("luck of the seed" in note for note in found.notes)


def test_seeds_of_a_single_config_are_summed_up_instead_of_ranked() -> None:
    found = compare([run(f"a{seed}", curve(200, seed=seed), seed=seed) for seed in range(3)])
    assert found.winner == ""
    assert found.summary.startswith("All are seeds of one config: they ended at ")
    assert found.partings == ()


def test_runs_whose_logs_alone_tell_of_settings_are_not_called_seeds_of_one_config() -> None:
    rate = {"learning_rate": np.full_like(curve(200), 7e-4)}
    runs = [replace(run(name, curve(200, seed=1), more=rate), config=Config()) for name in ("a", "b")]
    found = compare(runs)
    assert found.groups == ()
    assert "seeds of one config" not in found.summary


def test_different_environments_are_said_plainly_and_not_ranked() -> None:
    found = compare([run("a", curve(200)), run("b", curve(30), environment="Other-v0")])
    assert found.winner == ""
    assert found.partings == ()
    assert "different environments (Made-v0, Other-v0)" in found.notes[0]


def test_a_running_run_never_wins() -> None:
    going = shortened(run("going", curve(500)), 0.9)
    found = compare([going, run("done", curve(30))])
    assert found.winner == ""
    assert "so far" in found.summary
    assert any("going is still running" in note for note in found.notes)


def test_one_run_is_held_against_the_best_of_its_environment_and_algorithm(past: Path, index: RunIndex) -> None:
    found = compare([past / "low_gamma_ppo_cartpole"], history=past, index=index)
    own, best = found.outcomes
    assert own.label == "low_gamma_ppo_cartpole"
    assert best.reference
    assert best.run.algorithm == "PPO"
    assert best.steps_to_threshold is not None
    assert found.winner == best.label
    assert found.differences[0].key == "gamma"


def test_a_reward_on_another_scale_is_never_the_best_run(past: Path, index: RunIndex) -> None:
    found = compare([past / "low_lr_ppo_cartpole"], history=past, index=index)
    assert found.outcomes[-1].reference
    assert found.outcomes[-1].label != "large_reward_ppo_cartpole"


def falling(folder: Path, end: float, written: int) -> Path:
    """A run that falls to its end, written at a moment."""
    folder.mkdir(parents=True)
    rows = [f"{1000 * at},{value:.3f}" for at, value in enumerate(curve(end, start=200.0), 1)]
    (folder / "progress.csv").write_text("time/total_timesteps,rollout/ep_rew_mean\n" + "\n".join(rows))
    (folder / "config.yaml").write_text("env_id: CartPole-v1\nalgorithm: PPO\n")
    for file in folder.iterdir():
        os.utime(file, (written, written))
    return folder


def test_where_no_run_learned_the_best_is_the_one_that_lost_least(tmp_path: Path) -> None:
    asked = falling(tmp_path / "runs" / "asked", 60.0, 3_000)
    falling(tmp_path / "runs" / "other", 80.0, 2_000)
    index = RunIndex(tmp_path / "index.sqlite")
    found = compare([asked], history=tmp_path / "runs", index=index)
    assert [item.label for item in found.outcomes] == ["asked", "other"]


def test_of_many_unknown_runs_the_newest_are_read_and_the_others_are_counted(tmp_path: Path) -> None:
    asked = falling(tmp_path / "runs" / "asked", 60.0, 3_000)
    falling(tmp_path / "runs" / "best_but_old", 90.0, 1_000)
    falling(tmp_path / "runs" / "newer", 80.0, 2_000)
    index = RunIndex(tmp_path / "index.sqlite")
    for best, unread in (("newer", True), ("best_but_old", False)):
        found = compare([asked], history=tmp_path / "runs", index=index, most=2)
        assert found.outcomes[-1].label == best
        assert any("the 1 oldest" in note and "--history" in note for note in found.notes) is unread


def test_the_best_run_is_named_as_such_when_it_is_the_one_asked_for(past: Path, index: RunIndex) -> None:
    found = compare([past / "solved_ppo_cartpole"], history=past, index=index)
    assert any("solved_ppo_cartpole is itself the best" in note for note in found.notes)
    assert len(found.outcomes) == 2


def test_a_run_named_from_its_own_folder_is_not_held_against_itself(
    past: Path, index: RunIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(past)
    found = compare(["solved_ppo_cartpole"], history=past, index=index)
    own, next_best = found.outcomes
    assert own.label == "solved_ppo_cartpole"
    assert next_best.label != own.label


def test_a_single_run_without_a_history_says_what_to_do() -> None:
    found = compare([run("alone", curve(10))])
    assert any("no other run" in note for note in found.notes)


def test_nothing_to_compare_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="nothing to compare"):
        compare([])


def test_a_crashed_run_without_metrics_stands_in_the_table(runs: Path) -> None:
    crashed = runs / "gymnasium_solver" / "runs" / "local-20260115-102500"
    found = compare([crashed, runs / "gymnasium_solver" / "runs" / "local-20260115-103000"])
    assert found.outcomes[0].run.status.state is Status.CRASHED
    assert found.outcomes[0].final is None
    assert found.partings[0].reason != ""


def test_the_package_offers_both_questions() -> None:
    assert rlclinic.compare is compare
    assert callable(rlclinic.history)


@pytest.mark.skipif(not (CORPUS / "gymnasium-solver").is_dir(), reason="no corpus here, set RLCLINIC_CORPUS")
def test_other_peoples_runs_are_told_apart(index: RunIndex) -> None:
    folder = CORPUS / "gymnasium-solver"
    found = compare([folder / "healthy_ppo", folder / "lr_too_high"], index=index)
    assert found.winner == "healthy_ppo"
    assert found.differences[0].key == "learning_rate"
    assert found.partings[0].step is not None
    assert found.partings[0].moves


def test_runs_that_differ_in_several_settings_are_called_confounded() -> None:
    first = run("a", curve(200, seed=1))
    second = run("b", curve(30, seed=2), settings={"learning_rate": 0.01, "gamma": 0.9})
    found = compare([first, second])
    assert set(found.confounded) == {"learning_rate", "gamma"}
    assert found.notes[0].startswith("Confounded: the runs differ in 2 settings")


def test_one_difference_alone_confounds_nothing() -> None:
    found = compare([run("a", curve(200, seed=1)), run("b", curve(30, seed=2), settings={"gamma": 0.9})])
    assert found.confounded == ()


def test_what_differs_beside_the_named_change_confounds_it() -> None:
    first = run("a", curve(200, seed=1))
    second = run("b", curve(30, seed=2), settings={"learning_rate": 0.01, "gamma": 0.9})
    found = compare([first, second], change="gamma")
    assert found.confounded == ("learning_rate",)
    assert "beside gamma" in found.notes[0]
    only = compare([first, run("b", curve(30, seed=2), settings={"gamma": 0.9})], change="gamma")
    assert only.confounded == ()


def test_one_seed_against_one_seed_is_called_that_in_the_summary() -> None:
    found = compare([run("good", curve(200, seed=1)), run("bad", curve(30, seed=2), settings={"gamma": 0.5})])
    assert found.winner == "good"
    assert "one seed against one seed" in found.summary


def test_runs_that_end_at_one_number_are_not_ranked_by_it() -> None:
    found = compare([run("a", curve(200, seed=1)), run("b", curve(200, seed=1))])
    assert found.summary.startswith("a and b ended alike, at ")


def test_one_run_alone_is_told_with_its_own_end() -> None:
    assert compare([run("a", curve(200, seed=1))]).summary.startswith("a ended at 199.1; no other")


def test_a_run_of_an_unknown_environment_is_not_said_to_be_of_another() -> None:
    found = compare([run("a", curve(200), environment="CartPole-v1"), run("b", curve(200), environment="")])
    assert found.summary.startswith("Not all are known to be of one environment")


def test_runs_of_two_frameworks_show_what_these_do_differently() -> None:
    from dataclasses import replace

    other = replace(run("b", curve(30, seed=2)), framework="cleanrl")
    found = compare([run("a", curve(200, seed=1)), other])
    assert found.frameworks[0].title == "value clipping"
    assert (found.frameworks[0].first, found.frameworks[0].second) == ("within 0.2 of the old value", "off")
