"""One run is one run: what lies beside it is another."""

from __future__ import annotations

import shutil
from pathlib import Path

from rlclinic.readers.discover import find
from rlclinic.readers.open import read
from rlclinic.store.listing import list_runs
from tests.conftest import RUNS


def test_tables_of_different_algorithms_in_one_folder_are_two_runs(tmp_path: Path) -> None:
    for name in ("a2c", "dqn"):
        shutil.copy(RUNS / "sb3" / f"{name}_cartpole" / "progress.csv", tmp_path / f"{name}.csv")
    found = [read(ref.path) for ref in find(tmp_path)]
    assert [run.algorithm for run in found] == ["A2C", "DQN"]


def test_a_neighbour_of_another_name_says_nothing_of_a_run_that_logged_nothing(tmp_path: Path) -> None:
    shutil.copytree(RUNS / "sb3" / "ppo_cartpole_high_lr", tmp_path / "other")
    shutil.copytree(RUNS / "edge" / "aborted_start", tmp_path / "mine")
    assert read(tmp_path / "mine").algorithm == ""


def test_a_root_may_be_a_string(tmp_path: Path) -> None:
    shutil.copytree(RUNS / "sb3" / "ppo_cartpole_high_lr", tmp_path / "run")
    assert len(list_runs(str(tmp_path)).summaries) == len(list_runs(tmp_path).summaries) == 1


def test_a_text_file_says_nothing_of_the_folders_beside_its_own(tmp_path: Path) -> None:
    shutil.copytree(RUNS / "sb3" / "ppo_cartpole", tmp_path / "work1")
    (tmp_path / "work2").mkdir()
    log = tmp_path / "work2" / "g.log"
    log.write_text("garbage\n" * 50, encoding="utf-8")
    run = read(log)
    assert (run.framework, run.algorithm) == ("unknown", "")
