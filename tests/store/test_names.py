"""Every way of naming a run leads to it, and a wrong name says what to do."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from rlclinic.model.errors import RunReadError, UsageError
from rlclinic.store.names import resolve
from rlclinic.store.reading import read


@pytest.fixture
def root(tmp_path: Path, runs: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project" / "runs"
    for name in ("ppo_cartpole", "ppo_cartpole_high_lr", "dqn_cartpole"):
        shutil.copytree(runs / "sb3" / name, folder / name)
    monkeypatch.chdir(folder.parent)
    return folder


def test_a_path_names_its_run(root: Path) -> None:
    assert resolve("runs/dqn_cartpole") == ["runs/dqn_cartpole"]


def test_the_current_folder_is_called_by_its_name(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root / "dqn_cartpole")
    assert read(".").id == "dqn_cartpole"


def test_a_folder_names_all_runs_below_it(root: Path) -> None:
    assert len(resolve("runs")) == 3


def test_files_that_lie_beside_runs_are_one_of_them(root: Path) -> None:
    shutil.copy(root / "dqn_cartpole" / "progress.csv", root / "results.csv")
    assert resolve("runs") == [
        "runs/results.csv", "runs/dqn_cartpole", "runs/ppo_cartpole", "runs/ppo_cartpole_high_lr"
    ]  # fmt: skip


def test_a_glob_names_what_it_matches(root: Path) -> None:
    assert [Path(name).name for name in resolve("runs/ppo*")] == ["ppo_cartpole", "ppo_cartpole_high_lr"]


def test_an_id_and_its_unique_beginning_name_a_run(root: Path) -> None:
    assert resolve("dqn_cartpole") == resolve("dqn") == ["runs/dqn_cartpole"]


def test_an_exact_id_wins_over_longer_ones(root: Path) -> None:
    assert resolve("ppo_cartpole") == ["runs/ppo_cartpole"]


def test_an_ambiguous_beginning_lists_what_it_fits(root: Path) -> None:
    with pytest.raises(UsageError, match="fits 2 runs"):
        resolve("ppo")


def test_last_follows_the_link(root: Path) -> None:
    (root / "@last").symlink_to("dqn_cartpole")
    assert Path(resolve("@last")[0]).name == "dqn_cartpole"


def test_an_absolute_link_in_a_moved_folder_is_found_by_its_last_part(root: Path) -> None:
    (root / "@last").symlink_to("/somewhere/else/runs/ppo_cartpole")
    assert Path(resolve("runs/@last")[0]).name == "ppo_cartpole"


def test_a_link_out_of_the_root_is_not_followed(root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    shutil.copytree(root / "dqn_cartpole", outside)
    (root / "@last").symlink_to(outside)
    assert Path(resolve("@last")[0]).parent == Path("runs")


def test_a_link_that_leads_to_itself_is_passed_over(root: Path) -> None:
    (root / "@last").symlink_to("@last")
    assert Path(resolve("runs/@last")[0]).parent == Path("runs")


def test_without_a_link_last_is_the_newest_of_the_registry(root: Path) -> None:
    entries = [{"run_id": "gone"}, {"run_id": "ppo_cartpole_high_lr"}]
    (root / "runs.json").write_text(json.dumps(entries))
    assert Path(resolve("@last")[0]).name == "ppo_cartpole_high_lr"


def test_the_arms_of_a_trial_are_not_the_last_run(root: Path) -> None:
    arm = root / "trials" / "a1b2c3" / "change" / "1"
    shutil.copytree(root / "dqn_cartpole", arm)
    for file in arm.iterdir():
        os.utime(file, (2e9, 2e9))
    assert "trials" not in resolve("@last")[0]
    assert resolve("runs/trials/@last") == [f"runs/{arm.relative_to(root)}"]


def test_best_is_the_run_with_the_highest_return(root: Path) -> None:
    best = Path(resolve("@best")[0])
    returns = {name: read(root / name).returns for name in ("ppo_cartpole", "ppo_cartpole_high_lr", "dqn_cartpole")}
    highest = {name: series.highest for name, series in returns.items() if series is not None}
    assert best.name == max(highest, key=lambda name: highest[name] or 0.0)


def test_a_name_that_means_nothing_says_so(root: Path) -> None:
    with pytest.raises(RunReadError, match="no such file or folder, and no run below runs"):
        resolve("nothing-like-this")


def test_reading_a_root_with_many_runs_asks_for_one(root: Path) -> None:
    with pytest.raises(UsageError, match="holds 3 runs"):
        read("runs")
