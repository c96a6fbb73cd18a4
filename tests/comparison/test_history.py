"""What a folder of runs has taught."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rlclinic.comparison.attempts import untried
from rlclinic.comparison.history import history
from rlclinic.comparison.past import past_configs, past_runs
from rlclinic.comparison.patterns import BUDGET, Observation, separations
from rlclinic.comparison.suggestions import suggestions
from rlclinic.comparison.wall_time import time_shares, wall_time_suggestions
from rlclinic.engine import diagnose
from rlclinic.model.errors import NothingReadable, RunReadError
from rlclinic.model.history import Aim, History
from rlclinic.model.prescription import Basis
from rlclinic.model.series import Series
from rlclinic.store.index import RunIndex
from tests.comparison.builders import chosen_runs, curve, run


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> RunIndex:
    """One index for all, so that the recorded runs are read once."""
    return RunIndex(tmp_path_factory.mktemp("index") / "runs.sqlite")


@pytest.fixture(scope="module")
def past(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return chosen_runs(tmp_path_factory.mktemp("past"))


@pytest.fixture(scope="module")
def cartpole(past: Path, index: RunIndex) -> History:
    return history(past, "CartPole-v1", index=index)


def test_the_best_config_of_the_recorded_runs_solved_the_task(cartpole: History) -> None:
    best = cartpole.best[0]
    assert best.algorithm == cartpole.algorithm == "PPO"
    assert best.final == pytest.approx(500, abs=10)
    assert best.steps_to_threshold is not None
    assert best.settings["learning_rate"] in (0.001, 0.02)


def test_runs_whose_reward_is_rescaled_are_left_out_and_counted(cartpole: History) -> None:
    labels = [label for item in cartpole.best for label in item.paths]
    assert not any("large_reward" in label for label in labels)
    assert any("another scale" in note for note in cartpole.notes)


def test_longer_runs_being_better_is_not_sold_as_a_setting() -> None:
    long = [run(f"l{i}", curve(200 + i), settings={"n_steps": 256, "gamma": 0.9 + i / 99}) for i in range(6)]
    short = [run(f"s{i}", curve(40 + i), settings={"n_steps": 128, "gamma": 0.9 + i / 99}, steps=6e4) for i in range(6)]
    configs = past_configs(past_runs([*long, *short]))
    found = separations([Observation({**item.settings, BUDGET: item.steps}, item.final) for item in configs])
    sure = {item.key: item.confounded for item in found if item.sure}
    assert sure == {"n_steps": (BUDGET,), BUDGET: ("n_steps",)}
    texts = [item.text for item in suggestions(configs, [], found, diagnose(long[-1]))]
    assert texts
    assert not any(text.startswith("Keep") for text in texts)


def test_a_setting_that_surely_separates_is_kept_and_says_how_sure() -> None:
    good = [run(f"g{i}", curve(200 + i), settings={"gae_lambda": 0.95, "gamma": 0.9 + i / 99}) for i in range(6)]
    bad = [run(f"b{i}", curve(40 + i), settings={"gae_lambda": 0.1, "gamma": 0.9 + i / 99}) for i in range(6)]
    configs = past_configs(past_runs([*good, *bad]))
    found = separations([Observation(item.settings, item.final) for item in configs])
    (kept,) = [item for item in suggestions(configs, [], found, diagnose(good[0])) if item.text.startswith("Keep")]
    assert kept.text.startswith("Keep gae_lambda 0.95: the history there ends ")
    assert kept.basis is Basis.MEASURED
    assert "Cliff's delta 1.00" in kept.source


def test_what_was_tried_names_the_change_and_what_came_of_it(cartpole: History) -> None:
    changed = {change.key for item in cartpole.attempts for change in item.changes}
    assert {"learning_rate", "gamma"} <= changed
    assert all(item.difference <= 0 for item in cartpole.attempts)


def test_nothing_that_was_tried_is_suggested_again(cartpole: History) -> None:
    tried = {frozenset((c.key, repr(c.after)) for c in item.changes) for item in cartpole.attempts}
    suggested = {frozenset((c.key, repr(c.after)) for c in item.changes) for item in cartpole.suggestions}
    assert any(suggested)
    assert not tried & suggested


def test_one_seed_is_not_enough_for_stability(cartpole: History) -> None:
    texts = [item.text for item in cartpole.suggestions if item.aim is Aim.STABILITY]
    assert any("more seeds" in text for text in texts)


def test_too_few_runs_are_said_to_be_too_few(past: Path, index: RunIndex) -> None:
    found = history(past, "Acrobot-v1", index=index)
    assert not found.enough
    assert found.separations == ()
    assert any("too few" in note for note in found.notes)


def test_two_configs_with_many_seeds_are_compared_run_by_run_and_stay_confounded(
    tmp_path: Path,
) -> None:
    for kind, rate, clip, end in (("good", 0.001, 0.2, 200.0), ("bad", 0.1, 0.9, 30.0)):
        for seed in range(5):
            folder = tmp_path / f"{kind}{seed}"
            folder.mkdir()
            config = {"algo": "ppo", "env_id": "Made-v0", "total_timesteps": 80_000, "seed": seed}
            text = json.dumps({**config, "learning_rate": rate, "clip_range": clip})
            (folder / "config.yaml").write_text(text, encoding="utf-8")
            rows = [f"{1_000 * (i + 1)},{value}" for i, value in enumerate(curve(end, seed=seed))]
            table = "\n".join(["time/total_timesteps,rollout/ep_rew_mean", *rows])
            (folder / "progress.csv").write_text(table, encoding="utf-8")
    found = history(tmp_path, "Made-v0")
    assert (found.runs, found.configs, found.unit, found.enough) == (10, 2, "run", True)
    assert len(found.best[0].paths) == 5
    assert {item.key: item.confounded for item in found.separations if item.sure} == {
        "learning_rate": ("clip_range",),
        "clip_range": ("learning_rate",),
    }
    assert not any(item.text.startswith("Keep") for item in found.suggestions)


def test_an_environment_that_is_not_there_is_nothing_readable(runs: Path) -> None:
    with pytest.raises(NothingReadable, match="no run of Nope-v0"):
        history(runs / "sb3", "Nope-v0")
    with pytest.raises(RunReadError, match="no such folder"):
        history(runs / "nowhere", "Nope-v0")


def test_seeds_of_one_config_are_one_config_of_the_past() -> None:
    past = past_runs([run(f"a{seed}", curve(100 + seed, seed=seed), seed=seed) for seed in range(3)])
    (config,) = past_configs(past)
    assert len(config.paths) == 3
    assert config.final == pytest.approx(101, abs=3)
    assert config.final_low < config.final < config.final_high


def test_untried_neighbours_fit_the_rollout_and_leave_out_what_was_tried() -> None:
    runs_ = [run("a", curve(100)), run("b", curve(50), seed=1, settings={"learning_rate": 1e-3})]
    found = untried(past_configs(past_runs(runs_)), "PPO")
    assert [item.after for item in found if item.key == "learning_rate"] == [1e-4]
    assert all(512 % item.after == 0 for item in found if item.key == "batch_size")


def test_more_environments_are_suggested_only_where_the_history_shows_that_they_are_faster() -> None:
    def fast(name: str, envs: int, fps: float, end: float) -> object:
        more = {"fps": np.full(80, fps)}
        return run(name, curve(end), settings={"n_envs": envs}, more=more)

    slow_best = [fast("a", 4, 500.0, 200.0), fast("b", 16, 1800.0, 100.0)]
    configs = past_configs(past_runs(slow_best))  # type: ignore[arg-type]
    (item,) = wall_time_suggestions(configs, slow_best[0])  # type: ignore[arg-type]
    assert item.basis is Basis.MEASURED
    assert "With 16 environments the history runs at 1,800" in item.text
    fast_best = [fast("a", 16, 1800.0, 200.0), fast("b", 4, 500.0, 100.0)]
    (kept,) = wall_time_suggestions(past_configs(past_runs(fast_best)), fast_best[0])  # type: ignore[arg-type]
    assert kept.text == "Keep 16 environments: of 4, 16 they are the fastest, at 1,800 env steps per second."
    equal = [fast("a", 4, 500.0, 200.0), fast("b", 16, 510.0, 100.0)]
    assert wall_time_suggestions(past_configs(past_runs(equal)), equal[0]) == []  # type: ignore[arg-type]


def test_the_time_goes_where_the_logged_times_say() -> None:
    plain = run("a", curve(10))
    steps = plain["return/train"].steps
    times = {"Perf/collection_time": 8.0, "Perf/learning_time": 2.0, "Perf/total_time": 10.0}
    series = {name: Series(name, name, steps, np.full(steps.size, value)) for name, value in times.items()}
    timed = replace(plain, series={**plain.series, **series})
    assert time_shares(timed) == pytest.approx({"collecting data": 0.8, "learning": 0.2})
    assert time_shares(plain) == {}
    texts = [item.text for item in wall_time_suggestions(past_configs(past_runs([timed])), timed)]
    assert any("collecting data 80%, learning 20%: more parallel environments pay" in text for text in texts)


def test_small_networks_of_ppo_on_a_gpu_are_sent_to_the_cpu_and_others_are_not() -> None:
    def on(device: str, policy: str) -> list[str]:
        made = run("a", curve(10), settings={"device": device, "policy_class": policy})
        found = wall_time_suggestions(past_configs(past_runs([made])), made)
        return [item.text for item in found if "CPU" in item.text]

    assert on("cuda:0", "MlpPolicy")
    assert not on("cuda:0", "CnnPolicy")
    assert not on("cpu", "MlpPolicy")
