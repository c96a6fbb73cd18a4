"""Where two curves part, and what moved first."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rlclinic.comparison.partings import parting
from rlclinic.readers.open import read
from tests.comparison.builders import curve, run
from tests.conftest import RUNS

NAMES = ("a", "b")


def test_two_curves_part_where_the_second_stops_to_rise() -> None:
    x = np.arange(100)
    noise = np.random.default_rng(1)
    a = run("a", 20.0 + x + noise.standard_normal(100))
    b = run("b", 20.0 + np.minimum(x, 50) + noise.standard_normal(100))
    found = parting([a], [b], NAMES)
    assert found.step == pytest.approx(55_000, abs=6_000)
    assert found.rejoin_step is None
    assert found.difference is not None
    assert found.difference > 15


def test_two_seeds_of_noise_do_not_part() -> None:
    found = parting([run("a", curve(200, seed=1))], [run("b", curve(200, seed=2))], NAMES)
    assert found.step is None
    assert found.reason == ""
    assert found.noise is not None


def test_the_metric_that_moved_before_the_return_is_named_and_later_ones_are_not() -> None:
    x = np.arange(120)
    noise = np.random.default_rng(2)

    def quiet() -> np.ndarray:
        return 0.01 + 0.001 * noise.standard_normal(120)

    early, late = np.where(x >= 40, 0.4, 0.0), np.where(x >= 90, 0.4, 0.0)
    fallen = 100.0 - np.where(x >= 60, 80.0, 0.0) + noise.standard_normal(120)
    steady = 100.0 + noise.standard_normal(120)
    a = run("a", fallen, more={"approx_kl": quiet() + early, "clip_fraction": quiet() + late})
    b = run("b", steady, more={"approx_kl": quiet(), "clip_fraction": quiet()})
    found = parting([a], [b], NAMES)
    assert [move.metric for move in found.moves] == ["approx_kl"]
    move = found.moves[0]
    assert move.step == pytest.approx(34_000, abs=4_000)
    assert move.difference > 0.3
    assert move.probability is not None
    assert move.probability > 0.9


def test_what_follows_the_return_or_states_a_setting_is_never_called_a_first_move() -> None:
    x = np.arange(120)
    apart = {name: np.where(x >= 10, 5.0, 0.0) for name in ("episode_length", "learning_rate", "fps", "time/elapsed")}
    same = {name: np.zeros(120) for name in apart}
    a = run("a", np.where(x >= 60, 0.0, 100.0), more=apart)
    b = run("b", np.full(120, 100.0), more=same)
    assert parting([a], [b], NAMES).moves == ()


def test_metrics_of_different_algorithms_are_not_compared() -> None:
    x = np.arange(120)
    a = run("a", np.where(x >= 60, 0.0, 100.0), more={"value_loss": np.where(x >= 10, 5.0, 0.0)})
    b = run("b", np.full(120, 100.0), more={"value_loss": np.zeros(120)})
    assert parting([a], [b], NAMES).moves
    found = parting([a], [replace(b, algorithm="DQN")], NAMES)
    assert found.step is not None
    assert found.moves == ()
    assert not found.same_algorithm


def test_groups_of_seeds_part_only_beyond_the_spread_of_the_seeds() -> None:
    wide = [run(f"a{seed}", curve(200 + 60 * (seed - 1), seed=seed)) for seed in range(3)]
    near = [run(f"b{seed}", curve(215 + 60 * (seed - 1), seed=seed + 5)) for seed in range(3)]
    far = [run(f"c{seed}", curve(60, seed=seed + 9)) for seed in range(3)]
    assert parting(wide, near, NAMES).step is None
    assert parting(wide, far, NAMES).step is not None


def test_a_run_without_a_return_is_said_to_have_none() -> None:
    silent = run("b", np.full(10, np.nan))
    assert parting([run("a", curve(100))], [silent], NAMES).reason == "too few points in common"


def test_a_collapse_of_a_recorded_run_is_seen_first_in_the_size_of_its_updates() -> None:
    a, b = (read(RUNS / "faults" / name) for name in ("solved_ppo_cartpole", "high_lr_ppo_cartpole"))
    found = parting([a], [b], NAMES)
    assert found.step is not None
    assert 2_000 < found.step < 12_000
    assert {"approx_kl", "clip_fraction"} <= {move.metric for move in found.moves}
