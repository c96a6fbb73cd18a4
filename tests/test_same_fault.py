"""The same training gets the same verdict, whichever of its logs was kept."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

import pytest

from rlclinic.engine import diagnose
from rlclinic.model.diagnosis import Verdict
from rlclinic.readers.open import read
from tests.conftest import RUNS

NAMES = [
    "sb3/ppo_cartpole_high_lr",
    "faults/low_gamma_ppo_cartpole",
    "faults/dead_at_once_ppo_cartpole",
    "faults/coin_pay_ppo_cartpole",
    "faults/cold_sac_pendulum",
    "faults/healthy_sac_pendulum",
]


def console(table: Path) -> str:
    """What SB3 prints for the rows of its own table."""
    lines = []
    with table.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            cells = [(name, value) for name, value in row.items() if value]
            lines += ["-" * 40, *(f"| {name:<24} | {float(value):<10.4g}|" for name, value in cells), "-" * 40]
    return "\n".join(lines) + "\n"


def verdict(folder: Path, name: str) -> Verdict:
    algorithm, environment = ("SAC", "Pendulum-v1") if "sac_pendulum" in name else ("PPO", "CartPole-v1")
    return diagnose(read(folder, environment=environment, algorithm=algorithm)).verdict


@pytest.mark.parametrize("name", NAMES)
def test_csv_console_and_monitor_of_one_training_agree(name: str, tmp_path: Path) -> None:
    source = RUNS / name
    for kind in ("csv", "console", "monitor"):
        (tmp_path / kind).mkdir()
    shutil.copy(source / "progress.csv", tmp_path / "csv")
    (tmp_path / "console" / "log.txt").write_text(console(source / "progress.csv"), encoding="utf-8")
    found = {kind: verdict(tmp_path / kind, name) for kind in ("csv", "console")}
    monitors = list(source.glob("*monitor.csv"))
    if monitors:
        shutil.copy(monitors[0], tmp_path / "monitor" / monitors[0].name)
        found["monitor"] = verdict(tmp_path / "monitor", name)
    assert len(found) >= 2
    assert len(set(found.values())) == 1, found


def test_a_mean_that_cannot_keep_up_with_a_short_run_is_said(tmp_path: Path) -> None:
    source = RUNS / "faults" / "healthy_dqn_cartpole"
    told = {}
    for file in ("progress.csv", "monitor.csv"):
        (tmp_path / file).mkdir()
        shutil.copy(source / file, tmp_path / file)
        unknowns = diagnose(read(tmp_path / file, environment="CartPole-v1", algorithm="DQN")).unknowns
        told[file] = [line for line in unknowns if "a mean over the last 100 of about" in line]
    assert [len(lines) for lines in told.values()] == [1, 0]
    assert "rollout/ep_rew_mean" in told["progress.csv"][0]
