"""Files that belong together are one run; runs that only share a folder are several."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np

from rlclinic.readers.discover import find
from rlclinic.readers.open import read


def test_the_files_of_one_sb3_folder_are_one_run(runs: Path) -> None:
    folder = runs / "sb3" / "ppo_cartpole"
    assert [ref.path for ref in find(folder)] == [folder]
    run = read(folder)
    kinds = {file.kind for file in run.provenance.files}
    assert kinds >= {"table", "tensorboard", "monitor", "evaluations", "model"}
    assert run.episodes is not None
    assert "return/eval" in run


def test_event_files_that_continue_each_other_are_joined(runs: Path) -> None:
    run = read(runs / "sb3" / "ppo_cartpole_resumed")
    steps = run["return/train"].steps
    assert bool(np.all(np.diff(steps) >= 0))
    assert steps[-1] == run.steps
    assert sum(file.kind == "tensorboard" for file in run.provenance.files) == 2


def test_separate_runs_in_one_folder_are_told_apart(runs: Path, tmp_path: Path) -> None:
    for name in ("dqn_cartpole", "ppo_cartpole"):
        for file in (runs / "sb3" / name).glob("*tfevents*"):
            shutil.copy(file, tmp_path)
    refs = find(tmp_path)
    assert [ref.path for ref in refs] == [tmp_path, tmp_path]
    assert {read(ref.name).algorithm for ref in refs} == {"DQN", "PPO"}


def test_monitor_files_of_several_environments_are_merged_in_time_order(runs: Path) -> None:
    episodes = read(runs / "sb3" / "ppo_cartpole_vec4").episodes
    assert episodes is not None
    assert bool(np.all(np.diff(episodes.seconds) >= 0))
    assert episodes.end_steps[-1] == episodes.lengths.sum()


def test_an_event_file_in_a_subfolder_belongs_to_the_csv_beside_it(runs: Path, tmp_path: Path) -> None:
    source = runs / "sb3" / "ppo_cartpole"
    shutil.copytree(source, tmp_path / "run", ignore=shutil.ignore_patterns("*tfevents*", "evaluations.npz"))
    (tmp_path / "run" / "PPO_1").mkdir()
    for file in source.glob("*tfevents*"):
        shutil.copy(file, tmp_path / "run" / "PPO_1")
    assert [ref.path.name for ref in find(tmp_path)] == ["run"]


def test_several_event_folders_below_one_folder_are_several_runs(runs: Path, tmp_path: Path) -> None:
    for number in (1, 2):
        (tmp_path / f"PPO_{number}").mkdir()
        for file in (runs / "sb3" / "ppo_cartpole").glob("*tfevents*"):
            shutil.copy(file, tmp_path / f"PPO_{number}")
    assert [ref.path.name for ref in find(tmp_path)] == ["PPO_1", "PPO_2"]
