"""What users write on the command line and in config files."""

from __future__ import annotations

from pathlib import Path

import pytest

from rlclinic.lab.asking import asked, recipe_from
from rlclinic.lab.backend import ALGORITHMS
from rlclinic.lab.train import prepare
from rlclinic.lab.values import is_setting
from rlclinic.model.errors import UsageError

CANONICAL = """
env_id: Pendulum-v1
algorithm: sac
total_steps: 1e4
learning_rate: 1e-3
batch_size: 64
env_wrappers: [normalise]
"""
SOLVER = """
_base: &base
  env_id: CartPole-v1
  max_env_steps: 1e5
  eval_freq_epochs: 10
  seed: 5
ppo:
  <<: *base
  algo_id: ppo
  model_id: mlp_small
  n_envs: 8
  n_steps: 32
  batch_size: 0.5
  policy_lr: 1e-3
  clip_range: 0.1
  normalize_advantages: batch
  quiet: true
ppo_slow:
  <<: *base
  algo_id: ppo
  policy_lr: 1e-5
"""


def test_an_environment_and_an_algorithm_give_the_reference_configuration() -> None:
    recipe = recipe_from("CartPole-v1:ppo")
    assert (recipe.framework, recipe.algorithm, recipe.environment) == ("sb3", "PPO", "CartPole-v1")
    assert (recipe.total_steps, recipe.n_envs, recipe.get("n_steps"), recipe.threshold) == (100_000, 8, 32, 475.0)
    assert recipe.get("learning_rate_schedule") == "linear"


@pytest.mark.parametrize("algorithm", ALGORITHMS["sb3"])
def test_every_algorithm_has_a_recipe_that_its_trainer_accepts(algorithm: str) -> None:
    environment = "Pendulum-v1" if algorithm in {"SAC", "TD3", "TQC"} else "CartPole-v1"
    recipe = recipe_from(f"{environment}:{algorithm.lower()}")
    assert (recipe.algorithm, recipe.environment) == (algorithm, environment)
    assert recipe.get("learning_rate")


def test_the_environment_may_be_a_class_of_the_user() -> None:
    recipe = recipe_from("my.package.module:Walker:ppo", ["total_steps=5000"])
    assert (recipe.environment, recipe.algorithm, recipe.threshold) == ("my.package.module:Walker", "PPO", None)


@pytest.mark.parametrize(
    ("source", "override", "key", "value"),
    [
        ("CartPole-v1:ppo", "learning_rate=1e-2", "learning_rate", 0.01),
        ("CartPole-v1:ppo", "lr=.5", "learning_rate", 0.5),
        ("CartPole-v1:ppo", "policy_lr=0.1", "learning_rate", 0.1),
        ("CartPole-v1:ppo", "n_steps=1e2", "n_steps", 100),
        ("CartPole-v1:ppo", "clip_range=lin_0.2", "clip_range", "lin_0.2"),
        ("CartPole-v1:ppo", "net_arch=[32, 16]", "net_arch", [32, 16]),
        ("CartPole-v1:ppo", "normalize_advantage=false", "normalize_advantage", False),
        ("CartPole-v1:ppo", "n_minibatches=4", "batch_size", 64),
        ("CartPole-v1:dqn", "exploration_final_eps=0.2", "exploration_final", 0.2),
        ("Pendulum-v1:sac", "n_steps=3", "n_step_return", 3),
        ("Pendulum-v1:sac", "update_to_data=0.25", "train_freq", 4),
    ],
)
def test_an_override_is_typed_and_may_use_the_library_s_own_name(
    source: str, override: str, key: str, value: object
) -> None:
    found = recipe_from(source, [override]).get(key)
    assert (found, type(found)) == (value, type(value))


def test_a_threshold_can_be_taken_away() -> None:
    assert recipe_from("CartPole-v1:ppo", ["threshold=none"]).threshold is None


@pytest.mark.parametrize(
    ("source", "overrides", "words", "hint"),
    [
        ("CartPole-v1", [], "neither ENV:ALGO nor a config file", "CartPole-v1:ppo"),
        ("CartPole-v1:ppq", [], "no trainer for the algorithm 'ppq'", "did you mean ppo"),
        ("CartPole-v1:ppo", ["learnig_rate=1"], "unknown hyperparameter 'learnig_rate'", "did you mean learning_rate"),
        ("CartPole-v1:ppo", ["learning_rate"], "override 'learning_rate'", "key=value"),
        ("CartPole-v1:ppo", ["learning_rate=-1"], "out of range", "at least 0"),
        ("CartPole-v1:ppo", ["gamma=1.5"], "gamma = 1.5 is out of range", "between 0 and 1"),
        ("CartPole-v1:ppo", ["gamma=high"], "gamma = 'high'", "a number"),
        ("CartPole-v1:ppo", ["learning_rate=abc"], "learning_rate = 'abc'", "a number"),
        ("CartPole-v1:ppo", ["clip_range=lin_wide"], "clip_range = 'lin_wide'", "a number"),
        ("CartPole-v1:ppo", ["n_steps=2.5"], "n_steps = 2.5", "a whole number"),
        ("CartPole-v1:ppo", ["batch_size=0"], "batch_size = 0 is out of range", "at least 1"),
        ("CartPole-v1:ppo", ["learning_rate=inf"], "learning_rate = inf", "finite"),
        ("CartPole-v1:ppo", ["tau=0.1"], "PPO takes no tau", "it takes"),
        ("CartPole-v1:ppo", ["total_steps=0"], "total_steps = 0", "env steps"),
        ("CartPole-v1:ppo", ["framework=keras"], "framework 'keras'", "sb3, torchrl"),
        ("CartPole-v1:dqn", ["framework=torchrl"], "torchrl has no DQN", "PPO, SAC"),
        ("nowhere/config.yaml", [], "no such file", "config file"),
    ],
)
def test_bad_input_is_answered_with_what_is_near(source: str, overrides: list[str], words: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        recipe_from(source, overrides)
    assert words in caught.value.message
    assert hint in caught.value.hint


def test_a_config_file_is_read_by_its_canonical_keys(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(CANONICAL)
    recipe = recipe_from(file, ["batch_size=128"])
    assert (recipe.algorithm, recipe.environment, recipe.total_steps) == ("SAC", "Pendulum-v1", 10_000)
    assert (recipe.get("learning_rate"), recipe.get("batch_size"), recipe.get("normalize_obs")) == (1e-3, 128, True)


def test_a_variant_of_a_gymnasium_solver_file_is_carried_over(tmp_path: Path) -> None:
    file = tmp_path / "CartPole-v1.yaml"
    file.write_text(SOLVER)
    found = asked(f"{file}:ppo")
    recipe = found.recipe
    assert (recipe.algorithm, recipe.total_steps, recipe.seed, recipe.n_envs) == ("PPO", 100_000, 5, 8)
    expected = {"net_arch": [128, 128], "batch_size": 128, "learning_rate": 1e-3, "normalize_advantage": True}
    assert {name: recipe.get(name) for name in expected} == expected
    assert recipe.eval_every == 10 * 8 * 32
    assert any("quiet" in sentence for sentence in found.left_out)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (SOLVER, "has the variants ppo, ppo_slow"),
        ("env_id: CartPole-v1\nalgorithm: ppo\nlearnin_rate: 1\n", "unknown hyperparameter 'learnin_rate'"),
        ("learning_rate: 1\n", "names no algorithm or no environment"),
        ("- 1\n", "holds no mapping"),
        ("a: [1\n", "cannot be read"),
    ],
)
def test_a_bad_config_file_is_named_with_what_is_wrong(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(text)
    with pytest.raises(UsageError, match=words):
        recipe_from(file)


def test_a_missing_library_is_told_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ModuleNotFoundError("No module named 'stable_baselines3'", name="stable_baselines3")

    monkeypatch.setattr("rlclinic.lab.backend.import_module", missing)
    with pytest.raises(UsageError, match="training needs stable_baselines3") as caught:
        recipe_from("CartPole-v1:ppo")
    assert "rlclinic[train]" in caught.value.hint


@pytest.mark.parametrize("framework", ["sb3", "torchrl"])
@pytest.mark.parametrize(
    "override",
    [
        "adam_betas=abc", "adam_betas=[0.9]", "adam_betas=[0.9, 1]", "adam_betas={}", "clip_range=[1]",
        "clip_range=1e300", "learning_rate=lin_-1", "learning_rate=lin_nan", "learning_rate={}", "ent_coef=auto",
        "ent_coef=abc", "ent_coef=-1e300", "net_arch=-1", "net_arch=[0]", "net_arch=abc", 'net_arch={"a": [1]}',
        "net_arch_critic=[[1]]", "normalize_obs=abc", "normalize_reward=3", "optimizer=abc", "activation=linear",
        "learning_rate_schedule=abc", "policy_class=abc", "frame_stack=1e19", "n_envs=1e300", "n_epochs=1e300",
        "seed=1e19", "reward_clip=abc", "reward_clip=-1", "total_steps=3.7", "device=abc", "device=meta",
        "env_kwargs=abc", "env_wrappers=3", "env_id=null", "gamma=" + "9" * 400, "total_steps=" + "9" * 400,
    ],
)  # fmt: skip
def test_a_bad_setting_is_named_with_what_is_allowed_and_nothing_is_written(
    framework: str, override: str, tmp_path: Path
) -> None:
    key = override.partition("=")[0]
    with pytest.raises(UsageError) as caught:
        prepare(recipe_from("CartPole-v1:ppo", [override], framework=framework), tmp_path / "runs")
    assert key in caught.value.message
    assert len(caught.value.message) < 200
    assert caught.value.hint
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("source", "overrides", "key"),
    [
        ("Pendulum-v1:sac", ["ent_coef=0"], "ent_coef"),
        ("Pendulum-v1:sac", ["gradient_steps=1e15"], "gradient_steps"),
        ("CartPole-v1:ppo", ["n_steps=1", "n_envs=1"], "n_steps"),
    ],
)
def test_what_torchrl_cannot_compute_is_refused(source: str, overrides: list[str], key: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=key):
        prepare(recipe_from(source, overrides, framework="torchrl"), tmp_path / "runs")
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("key", ["dataset", "expert", "env_wrappers", "env_id"])
def test_a_key_that_names_a_file_or_code_is_no_mere_setting(key: str) -> None:
    assert not is_setting(key)
