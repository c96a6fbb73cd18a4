"""The episodes behind a mean over the last 100 of them, against the monitor that kept them."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.trailing_mean import recent_returns
from rlclinic.model.series import Series
from rlclinic.readers.open import read
from tests.conftest import RUNS
from tests.rules.scene import scene

FAULTS = RUNS / "faults"


def alone(name: str, file: str, folder: Path) -> RunFacts:
    shutil.copy(FAULTS / name / file, folder)
    return RunFacts(read(folder))


@pytest.mark.parametrize(
    ("name", "within"),
    [("cold_sac_pendulum", 1e-6), ("healthy_dqn_cartpole", 0.02), ("small_buffer_dqn_cartpole", 0.02)],
)
def test_the_mean_undone_is_what_the_episodes_came_to(name: str, within: float, tmp_path: Path) -> None:
    """Once the window is full, which episodes of a row left it is known only on average."""
    found, episodes = recent_returns(alone(name, "progress.csv", tmp_path)), read(FAULTS / name).episodes
    assert found is not None
    assert episodes is not None
    ends = np.searchsorted(episodes.end_steps, found.steps, side="right")
    truth = np.array([part.mean() for part in np.split(episodes.returns, ends)[:-1]])
    assert np.median(np.abs(found.values - truth)) <= within * np.ptp(truth)


def test_a_monitor_beside_the_log_has_the_episodes_themselves() -> None:
    run = read(FAULTS / "cold_sac_pendulum")
    found = recent_returns(RunFacts(run))
    assert found is not None
    assert run.episodes is not None
    assert np.array_equal(found.values, run.episodes.returns)


def test_where_nothing_lags_there_is_nothing_to_undo(tmp_path: Path) -> None:
    assert recent_returns(alone("cold_sac_pendulum", "monitor.csv", tmp_path)) is None
    steps = np.arange(1.0, 41.0) * 50_000.0
    long = {
        name: Series(name, name, steps, np.full(40, 20.0), known=True, window="last 100 episodes")
        for name in ("return/train", "episode_length")
    }
    assert recent_returns(scene(series=long)) is None
