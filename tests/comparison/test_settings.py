"""Which settings differ, and how far."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rlclinic.comparison.settings import distance, learning_settings, setting_differences
from rlclinic.model.config import Config, Setting
from tests.comparison.builders import curve, run

FLAT = curve(50)


def test_differences_are_ordered_by_their_distance_in_spreads_of_working_configs() -> None:
    a = run("a", FLAT)
    b = run("b", FLAT, settings={"learning_rate": 3e-2, "n_epochs": 8, "gamma": 0.98})
    matters, _ = setting_differences([a, b])
    assert matters[0].key == "learning_rate"
    distances = [item.distance for item in matters if item.distance is not None]
    assert distances == sorted(distances, reverse=True)
    assert len(distances) == 3


def test_runs_of_another_algorithm_do_not_hide_how_far_the_others_are_apart() -> None:
    a, b = run("a", FLAT), run("b", FLAT, settings={"learning_rate": 3e-2})
    other = replace(run("c", FLAT, settings={"learning_rate": 1.0, "gamma": 0.5}), algorithm="DQN")
    matters, _ = setting_differences([a, b, other])
    far = {item.key: item.distance for item in matters}
    assert far["learning_rate"] == distance("learning_rate", "PPO", 3e-4, 3e-2)
    assert far["gamma"] is None


def test_seeds_and_budgets_are_kept_apart() -> None:
    a, b = run("a", FLAT, seed=1), run("b", FLAT, seed=2, steps=50_000.0)
    matters, apart = setting_differences([a, b])
    assert matters == ()
    assert {item.key for item in apart} == {"seed", "total_steps"}


def test_paths_of_the_users_own_are_kept_apart_and_other_keys_matter() -> None:
    a, b = run("a", FLAT), run("b", FLAT)
    with_own = []
    for item in (a, b):
        own = {"save_path": f"out/{item.id}", "my_trick": item.id == "b"}
        native = {key: Setting(key, value, key) for key, value in own.items()}
        with_own.append(replace(item, config=Config(item.config.settings, native)))
    matters, apart = setting_differences(with_own)
    assert [item.key for item in matters] == ["my_trick"]
    assert [item.key for item in apart] == ["save_path"]


def test_one_number_written_in_two_ways_is_no_difference() -> None:
    a, b = run("a", FLAT, settings={"n_steps": 128}), run("b", FLAT, settings={"n_steps": 128.0})
    assert setting_differences([a, b]) == ((), ())


def test_what_one_run_does_not_tell_is_no_difference() -> None:
    a = run("a", FLAT)
    b = replace(a, config=Config({"gamma": Setting("gamma", 0.99, "gamma")}))
    assert setting_differences([a, b]) == ((), ())


@pytest.mark.parametrize(
    ("logged", "wanted"),
    [
        (np.full(8, np.float32(0.05)), 0.05),
        (np.linspace(0.05, 0.0, 8), 0.05),
        (np.linspace(0.01, 0.05, 8), None),
        (np.full(8, np.nan), None),
    ],
)
def test_a_rate_that_only_the_log_tells_counts_unless_it_adapts(logged: np.ndarray, wanted: float | None) -> None:
    a = run("a", FLAT[:8])
    b = run("b", FLAT[:8], more={"learning_rate": logged.astype(float)})
    b = replace(b, config=Config({key: item for key, item in b.config.settings.items() if key != "learning_rate"}))
    matters, _ = setting_differences([a, b])
    assert [(item.key, item.values) for item in matters] == (
        [("learning_rate", (3e-4, wanted))] if wanted is not None else []
    )
    assert learning_settings(b).get("learning_rate") == wanted


def test_a_rate_of_the_config_counts_more_than_that_of_the_log() -> None:
    b = run("b", FLAT[:8], more={"learning_rate": np.full(8, 0.05)})
    assert learning_settings(b)["learning_rate"] == 3e-4


def test_distances_are_symmetric_and_grow_with_the_factor() -> None:
    near, far = distance("learning_rate", "PPO", 3e-4, 1e-3), distance("learning_rate", "PPO", 3e-4, 1e-1)
    assert near == pytest.approx(distance("learning_rate", "PPO", 1e-3, 3e-4))
    assert near is not None
    assert far is not None
    assert far > 3 * near


@pytest.mark.parametrize(("first", "second"), [("auto", 0.1), (True, False), (0.0, 0.1), ([64], [32])])
def test_values_without_an_order_have_no_distance(first: object, second: object) -> None:
    assert distance("ent_coef", "PPO", first, second) is None
