"""`rlclinic imitate` as the user types it, with a rule of thumb as the expert."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from rlclinic.apps.cli.main import app
from rlclinic.lab.asking import recipe_from
from rlclinic.lab.checkpoints import last_checkpoint
from rlclinic.lab.environments import check_environment
from rlclinic.lab.errors import TrainingError
from rlclinic.lab.imitation.aggregate import Aggregate
from rlclinic.lab.imitation.asking import imitation_recipe
from rlclinic.lab.imitation.measures import HOME, measured
from rlclinic.lab.imitation.novice import Novice
from rlclinic.lab.imitation.options import ALGORITHMS, ImitationOptions
from rlclinic.lab.torchrl.spaces import spaces_of
from rlclinic.lab.train import train
from rlclinic.model.errors import RlclinicError, UsageError
from rlclinic.readers.open import read
from tests.lab.environments import small

EXPERT = "tests.lab.imitation.test_imitate:lean"
TINY = ["-o", "n_steps=60", "-o", "n_epochs=2", "-o", "net_arch=[8]", "-o", "eval_episodes=1", "-o", "threshold=1000"]
BASE = ["imitate", "CartPole-v1", "--quiet", *TINY]


def lean(observation: Any) -> int:
    """Push towards where the pole leans: balances for the whole episode."""
    position, speed, angle, turn = observation
    return int(0.1 * position + 0.3 * speed + 3.0 * angle + turn > 0)


def silent(observation: Any) -> int:
    raise RuntimeError("out for lunch")


def wild(observation: Any) -> int:
    return 7


def absent_minded(observation: Any) -> None:
    """Forgets to return."""


def undecided(observation: Any) -> float:
    return 0.5


def lost(observation: Any) -> float:
    return float("nan")


def in_float(observation: Any) -> float:
    return float(lean(observation))


def call(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def told(result: Result) -> str:
    assert isinstance(result.exception, RlclinicError), result.output
    return f"{result.exception.message} {result.exception.hint}"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_variant_leaves_a_run_with_what_a_diagnosis_needs(algorithm: str) -> None:
    result = call(*BASE, "--expert", EXPERT, "--algo", algorithm.lower(), "--steps", "180", "--json")
    assert result.exit_code == 0, result.output
    run = read(json.loads(result.stdout)["path"])
    assert (run.framework, run.algorithm, run.environment) == ("rlclinic", algorithm, "CartPole-v1")
    for name in ("disagreement", "disagreement_data", "inconsistency", "loss_old", "loss_new", "queries", "shift"):
        assert run.series[f"imitation/{name}"].last is not None, name
    assert run.series["return/expert"].last == 500.0
    labels = run.series["imitation/queries"].last
    assert labels is not None
    assert labels == 180 if algorithm in ("BC", "DAGGER") else 60 <= labels <= 180


def test_the_goal_is_most_of_the_way_from_chance_to_the_expert() -> None:
    recipe = imitation_recipe("CartPole-v1", EXPERT)
    assert recipe.number("expert_return") == 500.0
    assert recipe.threshold is not None
    assert 450.0 < recipe.threshold < 460.0


def test_a_budget_of_labels_is_kept_and_said(tmp_path: Path) -> None:
    result = call(*BASE, "--expert", EXPERT, "--steps", "300", "--queries", "100", "--json")
    path = Path(json.loads(result.stdout)["path"])
    run = read(path)
    assert run.series["imitation/queries"].last == 100
    assert "the expert gives no more labels: its budget of 100 labels is spent" in (path / "run.log").read_text()


def test_a_killed_imitation_goes_on_where_it_was(tmp_path: Path) -> None:
    changes = ("n_steps=60", "n_epochs=1", "net_arch=[8]", "eval_episodes=1", "threshold=1000", "total_steps=240")
    recipe = imitation_recipe("CartPole-v1", EXPERT, "dagger", (*changes, "checkpoint_freq=60"))
    path = train(recipe, "runs", stop_after=120)
    saved = last_checkpoint(path)
    assert saved is not None
    assert saved.env_steps == 120
    train(resume=path, trust=recipe.trust)
    queries = read(path).series["imitation/queries"]
    assert queries.values.tolist() == [60, 120, 180, 240]


def test_an_expert_that_raises_on_the_way_loses_no_label(monkeypatch: pytest.MonkeyPatch) -> None:
    changes = ("n_steps=60", "n_epochs=1", "net_arch=[8]", "eval_freq=0", "threshold=1000", "expert_return=500")
    recipe = imitation_recipe("CartPole-v1", EXPERT, "dagger", (*changes, "total_steps=120"))
    # A round, its measurement with each state asked twice, and half of the next.
    calls = iter(range(60 + 120 + 30))
    with monkeypatch.context() as patched:
        patched.setitem(globals(), "lean", lambda seen: 0 * next(calls))
        with pytest.raises(TrainingError, match="failed: StopIteration") as failed:
            train(recipe, "runs")
    path = Path(failed.value.path)
    saved = last_checkpoint(path)
    assert saved is not None
    assert saved.env_steps == 90
    train(resume=path, trust=recipe.trust)
    assert read(path).series["imitation/data"].last == 120


def test_whole_numbers_count_as_actions_in_any_type() -> None:
    recipe = imitation_recipe(
        "CartPole-v1", "tests.lab.imitation.test_imitate:in_float", "dagger", ("eval_episodes=1",)
    )
    assert recipe.number("expert_return") == 500.0


def test_cloning_from_a_file_needs_no_expert_to_ask(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    states = random.normal(size=(200, 4))
    np.savez(
        "demos.npz", observations=states, actions=np.asarray([lean(state) for state in states]),
        rewards=np.ones(200), terminals=np.arange(200) % 50 == 49,
    )  # fmt: skip
    result = call(*BASE, "--expert", "demos.npz", "--algo", "bc", "--steps", "200", "--json")
    run = read(json.loads(result.stdout)["path"])
    assert run.series["imitation/data"].last == 200
    assert "imitation/disagreement" not in run.series
    assert "asks its expert, and demos.npz cannot answer" in told(call(*BASE, "--expert", "demos.npz"))
    states[3, 1] = np.nan
    np.savez("demos.npz", observations=states, actions=np.zeros(200), rewards=np.ones(200), terminals=np.ones(200))
    assert "row 3 holds a number that is not finite" in told(call(*BASE, "--expert", "demos.npz", "--algo", "bc"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--expert", "nowhere"], "no such expert"),
        (["--expert", "tests.lab.imitation.test_imitate:absent"], "is no function"),
        (["--expert", EXPERT, "--algo", "gail"], "no imitation is called 'gail'"),
        (["--expert", EXPERT, "-o", "beta_schedule=sometimes"], "one of indicator, linear, exponential, constant"),
        (["--expert", EXPERT, "-o", "expert_noise=2"], "a number from 0 to 1"),
        (["--expert", EXPERT, "-o", "n_envs=4"], "the expert follows one episode at a time"),
        (["--expert", EXPERT, "--algo", "ensemble-dagger", "-o", "n_policies=1"], "at least 2, usually 5"),
        (["--expert", "tests.lab.imitation.test_imitate:silent"], "RuntimeError: out for lunch"),
        (["--expert", "tests.lab.imitation.test_imitate:wild"], "outside the 2 actions"),
        (["--expert", "tests.lab.imitation.test_imitate:absent_minded"], "action None is outside the 2 actions"),
        (["--expert", "tests.lab.imitation.test_imitate:undecided"], "action 0.5 is outside the 2 actions"),
        (["--expert", "tests.lab.imitation.test_imitate:lost"], "action nan is outside the 2 actions"),
    ],
)
def test_bad_input_is_said_before_anything_is_written(tmp_path: Path, arguments: list[str], words: str) -> None:
    result = call(*BASE, *arguments)
    assert words in told(result)
    assert not list((tmp_path / "runs").glob("*"))


def test_the_last_run_is_an_expert_and_stays_it_when_the_imitation_has_its_folder(tmp_path: Path) -> None:
    expert = train(small("PPO"), "runs")
    result = call(*BASE, "--expert", "runs/@last", "--steps", "60", "--json")
    assert result.exit_code == 0, result.output
    made = json.loads((Path(json.loads(result.stdout)["path"]) / "config.json").read_text())
    assert made["expert"] == str((tmp_path / expert).resolve())


def test_an_expert_that_only_a_file_names_is_not_imported() -> None:
    path = train(imitation_recipe("CartPole-v1", EXPERT, "bc", ("n_steps=60", "total_steps=60", "n_epochs=1")), "runs")
    with pytest.raises(UsageError, match=r"the expert .* is code that only a file names"):
        train(resume=path)


@pytest.mark.parametrize(("rows", "given", "updates"), [(50, None, 1000), (6400, None, 2000), (640, 2, 20)])
def test_a_fit_to_few_labels_takes_more_passes_unless_they_are_set(rows: int, given: int | None, updates: int) -> None:
    recipe = recipe_from("CartPole-v1:dagger", (f"expert={EXPERT}", "net_arch=[4]"))
    recipe = recipe.with_changes({"n_epochs": given})
    novice = Novice(spaces_of(*check_environment(recipe)), ImitationOptions(recipe))
    random = np.random.default_rng(0)
    novice.fit(random.normal(size=(rows, 4)), random.integers(2, size=rows), random)
    assert novice.updates == updates


@pytest.mark.parametrize(("apart", "told"), [(0.01, 1.0), (1.0, None)])
def test_only_states_that_are_near_are_compared_as_neighbours(apart: float, told: float | None) -> None:
    recipe = recipe_from("CartPole-v1:dagger", (f"expert={EXPERT}", "net_arch=[4]"))
    novice = Novice(spaces_of(*check_environment(recipe)), ImitationOptions(recipe))
    random, data = np.random.default_rng(0), Aggregate()
    # Ten places in four dimensions, each visited in every episode, with labels that are drawn.
    places = random.normal(size=(10, 4)) * 10
    for row in range(60):
        around = places[row % 10] + random.normal(size=4) * apart * 10
        data.add(around, np.asarray(random.integers(2)), 0, row // 10)
    found = measured(novice, data, 0, None).get(f"{HOME}/label_spread")
    assert found is None if told is None else found == pytest.approx(told, abs=0.4)
