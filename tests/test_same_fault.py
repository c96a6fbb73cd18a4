"""The same training gets the same verdict, whichever of its logs was kept."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

import pytest

from rlclinic.engine import diagnose
from rlclinic.model.diagnosis import Verdict
from rlclinic.model.run import Run
from rlclinic.readers.open import read
from tests.conftest import RUNS

# What one log has and the other has not: a mean over the last 100 episodes never shows the fall of the last 28 of 201
# (dqn), a swing within 60 (small_buffer) or that a run of 30 levelled off (high_lr), and its own longer trough is
# within the noise of single episodes (fast_target); 20 single episodes are too few for a failure (one_critic); only
# the table shows when the first update came (late_start).
DIFFER = {
    "fast_target_dqn_cartpole", "high_lr_sac_pendulum", "late_start_sac_pendulum", "one_critic_sac_pendulum",
    "small_buffer_dqn_cartpole", "dqn_cartpole",
}  # fmt: skip
NAMES = sorted(
    str(path.parent.relative_to(RUNS))
    for path in RUNS.rglob("progress.csv")
    if list(path.parent.glob("*monitor.csv")) and path.parent.name not in DIFFER
)


def without_evaluations(table: Path) -> list[dict[str, str]]:
    """The rows of SB3's table; a monitor has no evaluations that could decide."""
    with table.open(encoding="utf-8") as file:
        return [{name: value for name, value in row.items() if "eval" not in name} for row in csv.DictReader(file)]


def console(rows: list[dict[str, str]]) -> str:
    """What SB3 prints for the rows of its own table."""
    lines = []
    for row in rows:
        cells = [(name, value) for name, value in row.items() if value]
        lines += ["-" * 40, *(f"| {name:<24} | {float(value):<10.4g}|" for name, value in cells), "-" * 40]
    return "\n".join(lines) + "\n"


def verdict(folder: Path, whole: Run) -> Verdict:
    return diagnose(read(folder, environment=whole.environment, algorithm=whole.algorithm)).verdict


@pytest.mark.parametrize("name", NAMES)
def test_csv_console_and_monitor_of_one_training_agree(name: str, tmp_path: Path) -> None:
    source, whole = RUNS / name, read(RUNS / name)
    for kind in ("csv", "console", "monitor"):
        (tmp_path / kind).mkdir()
    rows = without_evaluations(source / "progress.csv")
    with (tmp_path / "csv" / "progress.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    (tmp_path / "console" / "log.txt").write_text(console(rows), encoding="utf-8")
    for monitor in source.glob("*monitor.csv"):
        shutil.copy(monitor, tmp_path / "monitor")
    found = {kind: verdict(tmp_path / kind, whole) for kind in ("csv", "console", "monitor")}
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
