"""The child process: what hangs, dies or cannot be made there is told here."""

from __future__ import annotations

from pathlib import Path

import pytest

from rlclinic.environment import isolate
from rlclinic.environment.isolate import Request, examine_isolated
from rlclinic.environment.make import around_of, load, maker_of, rebuilt
from rlclinic.model.config import Config, Setting
from rlclinic.model.errors import UsageError
from rlclinic.model.run import Run


def test_an_environment_that_hangs_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolate, "PATIENCE", 14.0)
    facts = examine_isolated(Request("tests.environment.tasks:Hangs", seconds=1.0))
    assert [(problem.kind, problem.where) for problem in facts.problems] == [("hung", "form")]


@pytest.mark.parametrize(
    ("policy", "told"), [("raises", "KeyError: 'angle'"), ("too_many", r"shape \(3,\), the space has \(1,\)")]
)
def test_a_policy_that_fails_is_not_held_against_the_environment(policy: str, told: str) -> None:
    with pytest.raises(UsageError, match=f"the trained policy .*{told}"):
        examine_isolated(
            Request("tests.environment.tasks:Slide", seconds=1.0, policy=f"tests.environment.tasks:{policy}")
        )


def test_a_package_that_is_missing_is_not_held_against_the_environment() -> None:
    with pytest.raises(UsageError, match="needs no_such_package, which is not installed"):
        examine_isolated(Request("tests.environment.tasks:Unmade", seconds=1.0))


def test_what_an_environment_raises_is_told_with_its_place() -> None:
    facts = examine_isolated(Request("tests.environment.tasks:Raises", seconds=1.0))
    assert [(problem.kind, problem.where) for problem in facts.problems] == [("raised", "step")]
    assert "did not converge" in facts.problems[0].message


@pytest.mark.parametrize("name", ["NoSuchTask-v0", "tests.environment.tasks:Nothing", "no_such_module:Env", "tests:"])
def test_a_name_that_means_nothing_is_refused(name: str) -> None:
    with pytest.raises(UsageError):
        maker_of(name)()


def test_a_checkpoint_of_another_trainer_is_told_how_it_could_be_played() -> None:
    with pytest.raises(UsageError) as raised:
        load("runs/model.zip")
    assert "module:function" in raised.value.hint


def test_an_entry_of_rl_zoo_is_made_with_its_wrappers(tmp_path: Path) -> None:
    config = tmp_path / "ppo.yml"
    wrappers = "[gymnasium.wrappers.TimeAwareObservation: {}]"
    config.write_text(
        f"CartPole-v1: {{n_timesteps: 10}}\nPendulum-v1: {{n_timesteps: 10, env_wrapper: {wrappers}}}\n",
        encoding="utf-8",
    )
    assert maker_of(f"{config}::Pendulum-v1")().observation_space.shape == (4,)
    assert maker_of(f"{config}::CartPole-v1")().observation_space.shape == (4,)
    with pytest.raises(UsageError, match="no entry") as raised:
        maker_of(str(config))
    assert "ppo.yml::ENTRY" in raised.value.hint
    config.write_text("CartPole-v1: {n_timesteps: 10}\n", encoding="utf-8")
    assert maker_of(str(config))().observation_space.shape == (4,)


def test_a_wrapper_that_an_entry_of_rl_zoo_names_is_made_where_the_user_trusts_it(tmp_path: Path) -> None:
    config = tmp_path / "ppo.yml"
    config.write_text("CartPole-v1: {n_timesteps: 10, env_wrapper: tests.environment.tasks.Padded}\n", encoding="utf-8")
    with pytest.raises(UsageError, match="only a file names"):
        maker_of(f"{config}::CartPole-v1")()
    trusted = maker_of(f"{config}::CartPole-v1", trust=["tests.environment.tasks:Padded"])()
    assert trusted.observation_space.shape == (5,)


def test_what_a_run_puts_around_its_environment_is_rebuilt_but_for_code_that_only_it_names() -> None:
    wrappers = [
        {"tests.environment.tasks.Padded": None}, "gymnasium.wrappers.TimeAwareObservation",
        {"stable_baselines3.common.vec_env.VecFrameStack": {"n_stack": 3}},
    ]  # fmt: skip
    settings = {"env_wrappers": Setting("env_wrappers", wrappers, "env_wrapper")}
    native = {"env_kwargs.sutton_barto_reward": Setting("", True, "env_kwargs.sutton_barto_reward")}
    around = around_of(Run("a", "", environment="CartPole-v1", config=Config(settings, native)))
    for trust, shape, left in (((), (3, 5), 1), (("tests.environment.tasks:Padded",), (3, 6), 0)):
        recipe, told = rebuilt(around, "CartPole-v1", trust)
        assert len(told) == left
        assert all("tests.environment.tasks:Padded" in line for line in told)
        environment = maker_of("CartPole-v1", recipe.env_kwargs, trust, recipe)()
        assert environment.observation_space.shape == shape
        environment.reset(seed=0)
        assert environment.step(0)[1] == 0.0


def test_a_config_may_not_name_code(tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("algorithm: PPO\nenv_id: tests.environment.tasks:Slide\ntotal_steps: 10\n", encoding="utf-8")
    with pytest.raises(UsageError, match="only a file names"):
        maker_of(str(config))()
    config.write_text("algorithm: PPO\nenv_id: CartPole-v1\ntotal_steps: 10\n", encoding="utf-8")
    assert maker_of(str(config))().observation_space.shape == (4,)
