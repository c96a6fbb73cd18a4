"""Data sets: what is made from runs, and what is refused."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from rlclinic.apps.cli.main import app
from rlclinic.lab.environments import check_environment
from rlclinic.lab.offline import link
from rlclinic.lab.offline.data import Dataset, load_dataset
from rlclinic.lab.offline.datasets import environment_of, make_datasets
from rlclinic.lab.offline.measures import Support
from rlclinic.lab.offline.ranking import Ranked, agreement
from rlclinic.lab.recipe import Recipe
from rlclinic.lab.torchrl.spaces import Spaces, spaces_of
from rlclinic.lab.train import train
from rlclinic.model.errors import RlclinicError, UsageError


@pytest.fixture(scope="module")
def run(tmp_path_factory: Any) -> Path:
    settings = {"learning_starts": 50, "train_freq": 64, "gradient_steps": 1, "net_arch": [8]}
    recipe = Recipe("sb3", "DQN", "CartPole-v1", 400, settings)
    return train(recipe, tmp_path_factory.mktemp("runs"))


def spaces(environment: str) -> Spaces:
    return spaces_of(*check_environment(Recipe("sb3", "PPO", environment, 1)))


def steps(count: int = 40, **changed: Any) -> dict[str, Any]:
    """Steps of something like Pendulum, in two episodes."""
    seen = np.random.default_rng(0).normal(size=(count + 1, 3))
    ended = np.zeros(count, dtype=bool)
    ended[[count // 2 - 1, count - 1]] = True
    arrays = {
        "observations": seen[:-1], "next_observations": seen[1:], "actions": np.linspace(-2, 2, count)[:, None],
        "rewards": -np.ones(count), "terminations": np.zeros(count, dtype=bool), "truncations": ended,
    }  # fmt: skip
    return {**arrays, **changed}


def loaded(folder: Path, **changed: Any) -> Dataset:
    arrays = {name: values for name, values in steps(**changed).items() if values is not None}
    np.savez(folder / "data.npz", **arrays)
    return load_dataset(folder / "data.npz", spaces("Pendulum-v1"))


def test_a_run_becomes_data_sets_that_name_their_environment(run: Path, tmp_path: Path) -> None:
    made = make_datasets(run, tmp_path, kinds=["random", "expert", "mixed", "replay"], steps=150)
    assert [one.kind for one in made] == ["random", "expert", "mixed", "replay"]
    for one in made:
        assert environment_of(one.path) == "CartPole-v1"
        data = load_dataset(one.path, spaces("CartPole-v1"))
        assert len(data.rewards) == one.steps
        assert data.returns.mean() == pytest.approx(one.mean_return)
        # CartPole pays 1 for each step, so that a wrong cut between episodes would show.
        assert (data.returns == np.bincount(data.episodes)).all()
    with pytest.raises(UsageError, match="half-way"):
        make_datasets(run, tmp_path, kinds=["medium"])
    with pytest.raises(UsageError, match="kinds expertise"):
        make_datasets(run, tmp_path, kinds=["expertise"])


def test_actions_are_scaled_and_episodes_counted(tmp_path: Path) -> None:
    data = loaded(tmp_path)
    assert data.actions.min() == -1
    assert data.actions.max() == 1
    assert (data.returns == -20).all()


BAD = {
    "actions lie outside the space": {"actions": np.full((40, 1), 2.5)},
    "row 7 holds a number that is not finite in its rewards": {"rewards": np.where(np.arange(40) == 7, np.nan, -1.0)},
    "no row says that an episode ends": {"truncations": np.zeros(40, dtype=bool)},
    "observations have 4 numbers, the environment's 3": {
        "observations": np.zeros((40, 4)), "next_observations": np.zeros((40, 4)),
    },
    "begins elsewhere": {"next_observations": np.random.default_rng(1).normal(size=(40, 3))},
    "actions have 2 numbers": {"actions": np.zeros((40, 2))},
}  # fmt: skip


@pytest.mark.parametrize("message", BAD)
def test_data_that_cannot_come_from_the_environment_are_refused(message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=message):
        loaded(tmp_path, **BAD[message])


def test_a_value_is_the_discounted_return_to_the_end_of_its_episode(tmp_path: Path) -> None:
    data = loaded(tmp_path)
    assert data.values(0.5)[[18, 19, 39]].tolist() == [-1.5, -1.0, -1.0]
    # No episode terminates, so that the worst may go on for ever.
    assert data.bounds(0.9) == pytest.approx((-10.0, 0.0))


def test_the_best_episodes_are_those_with_the_highest_returns(tmp_path: Path) -> None:
    data = loaded(tmp_path, rewards=np.repeat([-1.0, -2.0], 20))
    assert data.only(data.best(0.1)).returns.tolist() == [-20.0]
    assert data.level(0.5) == -20.0
    assert data.only(data.best(1.0)).returns.tolist() == [-20.0, -40.0]


def test_what_the_data_do_not_show_is_outside_of_them() -> None:
    random = np.random.default_rng(0)
    seen, done = random.normal(size=(2_000, 3)), random.uniform(-0.2, 0.2, size=(2_000, 1))
    none = np.zeros(2_000, dtype=bool)
    data = Dataset(seen, done, np.zeros(2_000), seen, none, np.zeros(2_000, dtype=np.int64))
    support = Support(data, None, random)
    fresh = random.normal(size=(500, 3))
    assert support.states_outside(fresh) < 0.1
    assert support.states_outside(fresh + 5) > 0.9
    assert support.pairs_outside(fresh, random.uniform(-0.2, 0.2, size=(500, 1))) < 0.1
    assert support.pairs_outside(fresh, np.ones((500, 1))) > 0.9


def test_two_orders_are_compared_with_those_of_chance() -> None:
    played = (1.0, 2.0, 3.0, 4.0, 5.0)
    same = [Ranked("", "CQL", value, value) for value in played]
    correlation, chance = agreement(same)
    assert correlation == pytest.approx(1.0)
    assert chance is not None
    # One order in 120 agrees wholly.
    assert chance == pytest.approx(1 / 120, abs=0.01)
    assert agreement(same[:3]) == (None, None)


def call(*words: str) -> Any:
    return CliRunner().invoke(app, ["offline", *words])


def told(result: Any) -> str:
    assert isinstance(result.exception, RlclinicError)
    return f"{result.exception.message} {result.exception.hint}"


def test_the_best_episodes_are_cloned_without_d3rlpy(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert call(str(run), "--make", "data", "--kinds", "mixed", "--steps", "150").exit_code == 0
    result = call("data/cartpole-mixed.npz", "--quiet", "-o", "n_epochs=1", "-o", "eval_episodes=2")
    assert result.exit_code == 0, result.output
    assert "filtered-bc" in result.output
    monkeypatch.setenv("RLCLINIC_OFFLINE", str(tmp_path / "nowhere"))
    assert "rlclinic offline --setup" in told(call("data/cartpole-mixed.npz", "--algo", "cql"))
    assert "has no version for choices" in told(call("data/cartpole-mixed.npz", "--algo", "iql"))
    assert "its steps come from CartPole-v1" in told(call("data/cartpole-mixed.npz", "--env", "Pendulum-v1"))
    assert "no offline algorithm is called 'ppo'" in told(call("data/cartpole-mixed.npz", "--algo", "ppo"))
    assert len(list(Path("runs").glob("CartPole*"))) == 1


def test_an_environment_that_only_the_data_name_is_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    Path("planted.py").write_text("open('imported', 'w').close()")
    np.savez("data.npz", env_id="planted:Env", **steps())
    for algorithm in ("bc", "cql"):
        assert "code that only a file names" in told(call("data.npz", "--algo", algorithm))
    assert not Path("imported").exists()


@pytest.mark.parametrize("name", ["absent.npz", "text.npz", "cut.npz"])
def test_a_data_set_that_cannot_be_read_is_said(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("text.npz").write_text("hello")
    np.savez("data.npz", **steps())
    Path("cut.npz").write_bytes(Path("data.npz").read_bytes()[:400])
    words = {"absent.npz": "no such data set"}.get(name, "holds no transitions")
    assert words in told(call(name, "--env", "Pendulum-v1", "--algo", "bc"))


def test_ctrl_c_does_not_reach_the_worker_before_the_run_that_asks_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a terminal it goes to the whole group of processes: the worker died of it, and the run had crashed."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").symlink_to(sys.executable)
    (tmp_path / "worker.py").write_text("import sys\nfor _ in sys.stdin: pass\n", encoding="utf-8")
    monkeypatch.setenv("RLCLINIC_OFFLINE", str(tmp_path))
    monkeypatch.setattr(link, "SCRIPT", tmp_path / "worker.py")
    with link.Link() as worker:
        assert os.getpgid(worker.process.pid) != os.getpgid(0)
