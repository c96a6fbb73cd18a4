"""The same training gets the same verdict, whichever of its logs was kept."""

from __future__ import annotations

import csv
import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rlclinic.engine import diagnose
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.trailing_mean import recent_returns
from rlclinic.model.diagnosis import Verdict
from rlclinic.model.run import Run
from rlclinic.model.series import Series
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


@pytest.mark.parametrize(("name", "level"), [("faults/healthy_dqn_cartpole", 390.2), ("sb3/dqn_cartpole", 31.67)])
def test_what_the_last_episodes_came_to_is_told_where_their_mean_shows_it_late(
    name: str, level: float, tmp_path: Path
) -> None:
    shutil.copy(RUNS / name / "progress.csv", tmp_path)
    found = diagnose(read(tmp_path, environment="CartPole-v1", algorithm="DQN"))
    told = re.search(r"; the episodes after [\d,]+ env steps came to ([\d.]+) on average, which a mean", found.reason)
    assert found.verdict is Verdict.LEARNING
    assert told is not None
    assert float(told[1]) == level
    assert any("its last episodes came to" in line for line in found.lacking) is (level < 100)


def test_a_count_that_begins_anew_undoes_no_mean() -> None:
    steps = np.arange(1.0, 31.0) * 100.0
    series = {
        name: Series(name, name, steps, values, "env_steps", window="last 100 episodes" if "return" in name else "")
        for name, values in (("return/train", np.linspace(0, 9, 30)), ("episodes", np.arange(1.0, 31.0)))
    }
    whole = Run("x", "", series=series)
    assert recent_returns(RunFacts(whole)) is not None
    anew = replace(series["episodes"], values=np.tile(np.arange(1.0, 16.0), 2))
    assert recent_returns(RunFacts(replace(whole, series={**series, "episodes": anew}))) is None


def test_episodes_alone_say_what_the_other_log_would_tell(tmp_path: Path) -> None:
    shutil.copy(RUNS / "faults" / "late_start_sac_pendulum" / "monitor.csv", tmp_path)
    assert [line for line in diagnose(read(tmp_path)).unknowns if line.startswith("Only episodes are recorded")]


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
