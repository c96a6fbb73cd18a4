"""The framework tables: they load, recognise their own runs only, and give names their true meaning."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlclinic.reference.framework import FOLDER, Framework, MetricName, framework, framework_from, heads
from rlclinic.reference.hyperparameters import hyperparameters
from rlclinic.reference.patterns import matches
from rlclinic.reference.table_file import load_table

# DESIGN.md, section 5, without `unknown`, which has no table.
DESIGNED = {
    "gymnasium-solver", "rlclinic", "sb3", "sb3-zoo", "cleanrl", "rllib", "torchrl", "rsl_rl", "skrl",
    "tianshou", "sample-factory", "mlagents", "openai-baselines", "spinningup", "d3rlpy", "verl", "search-r1",
    "trl", "openrlhf", "nemo-rl", "slime", "prime-rl", "areal", "pymarl", "mappo", "dreamerv3", "dreamer", "tdmpc",
    "pytorch_sac", "rl_games", "acme", "keras-rl", "tinker", "ms-swift", "llama-factory",
}  # fmt: skip
# Frameworks beyond that list, and the names of home-made logs, which are consulted after every framework.
ADDITIONS = {"pufferlib", "brax", "garage", "dopamine", "imitation", "common", "pfrl", "tonic"}

TABLES = files("rlclinic.reference").joinpath("frameworks")
FOUND = sorted(entry.name.removesuffix(".toml") for entry in TABLES.iterdir() if entry.name.endswith(".toml"))
LINES = [(head.id, line) for head in heads() for line in head.detect if not any(c.startswith("path:") for c in line)]

KINDS: dict[str, tuple[type, ...]] = {
    "number": (int, float),
    "integer": (int,),
    "flag": (bool,),
    "text": (str,),
    "any": (bool, int, float, str, list),
}

# log-formats.md, section 5: framework, logged name, algorithm, sign of H = sign * x / coefficient, coefficient.
ENTROPY = [
    ("sb3", "train/entropy_loss", "PPO", -1, ""),
    ("sb3-zoo", "train/entropy_loss", "A2C", -1, ""),
    ("cleanrl", "losses/entropy", "PPO", 1, ""),
    ("pufferlib", "losses/entropy", "PPO", 1, ""),
    ("rllib", "info/learner/entropy", "PPO", 1, ""),
    ("rllib", "info/learner/default_policy/entropy", "PPO", 1, ""),
    ("rllib", "info/learner/default_policy/learner_stats/entropy", "PPO", 1, ""),
    ("rllib", "learners/default_policy/entropy", "PPO", 1, ""),
    ("rllib", "ray/tune/info/learner/default_policy/learner_stats/entropy", "PPO", 1, ""),
    ("rsl_rl", "Loss/entropy", "PPO", 1, ""),
    ("sample-factory", "train/entropy", "APPO", 1, ""),
    ("sample-factory", "train/exploration_loss", "APPO", -1, "ent_coef"),
    ("mlagents", "Policy/Entropy", "PPO", 1, ""),
    ("spinningup", "Entropy", "PPO", 1, ""),
    ("spinningup", "AverageLogPi", "SAC", -1, ""),
    ("openai-baselines", "policy_entropy", "A2C", 1, ""),
    ("openai-baselines", "loss/policy_entropy", "PPO", 1, ""),
    ("openai-baselines", "entloss", "TRPO", 1, "ent_coef"),
    ("openai-baselines", "entropy loss", "GAIL", 1, ""),
    ("garage", "GaussianMLPPolicy/Entropy", "PPO", 1, ""),
    ("torchrl", "train/entropy", "PPO", 1, ""),
    ("torchrl", "train/loss_entropy", "PPO", -1, "ent_coef"),
    ("imitation", "bc/entropy", "BC", 1, ""),
    ("imitation", "bc/ent_loss", "BC", -1, "ent_coef"),
    ("imitation", "mean/gen/train/entropy_loss", "GAIL", -1, ""),
    ("tianshou", "loss/ent", "PPO", 1, ""),
    ("tianshou", "update/loss/ent", "A2C", 1, ""),
    ("tianshou", "update/ent_loss/mean", "PPO", 1, ""),
    ("skrl", "Loss / Entropy loss", "PPO", -1, "ent_coef"),
    ("skrl", "Loss / Entropy loss", "A2C", -1, "ent_coef"),
    ("brax", "training/entropy_loss", "PPO", -1, "ent_coef"),
    ("acme", "loss_entropy", "PPO", -1, ""),
    ("dopamine", "Losses/Entropy", "PPO", 1, ""),
    ("trl", "objective/entropy", "PPO", 1, ""),
]

# Names that mean something else than they say, or that share a name with another quantity.
TRAPS = [
    ("skrl", "Loss / Entropy loss", "SAC", "alpha_loss"),
    ("mlagents", "Policy/Epsilon", "PPO", "clip_range"),
    ("mlagents", "Policy/Beta", "PPO", "entropy_coef"),
    ("d3rlpy", "alpha", "CQL", "counter"),
    ("d3rlpy", "temp", "CQL", "alpha"),
    ("d3rlpy", "environment", "IQL", "return/eval"),
    ("d3rlpy", "loss", "DQN", "value_loss"),
    ("d3rlpy", "loss", "BC", "imitation_loss"),
    ("sb3", "train/loss", "DQN", "value_loss"),
    ("sb3", "train/loss", "PPO", "loss"),
    ("cleanrl", "losses/loss", "C51", "value_loss"),
    ("cleanrl", "losses/qf1_values", "DDPG", "q/mean"),
    ("cleanrl", "losses/qf1_values", "SAC", "q1/mean"),
    ("sample-factory", "train/ratio_mean", "APPO", "counter"),
    ("rsl_rl", "Train/mean_reward/time", "PPO", "counter"),
    ("rsl_rl", "Episode/rew_torques", "PPO", "reward/*"),
    ("rsl_rl", "Episode_Reward/track_lin_vel_xy", "PPO", "reward/*"),
    ("torchrl", "r_training", "PPO", "reward/step"),
    ("imitation", "rollout/ep_rew_wrapped_mean", "GAIL", "reward/learned"),
    ("imitation", "mean/disc/disc_acc", "GAIL", "discriminator/*"),
    ("brax", "eval/episode_reward", "PPO", "return/eval"),
    ("brax", "eval/episode_tracking", "PPO", "reward/*"),
]

# Two logged names of one quantity: the first must be preferred.
PREFERRED = [
    ("openai-baselines", "rollout/return_history", "rollout/return"),
    ("rllib", "learners/default_policy/vf_loss_unclipped", "learners/default_policy/vf_loss"),
    ("rsl_rl", "Rnd/mean_extrinsic_reward", "Train/mean_reward"),
    ("torchrl", "train/entropy", "train/loss_entropy"),
    ("sample-factory", "train/entropy", "train/exploration_loss"),
    ("cleanrl", "losses/qf_loss", "losses/qf1_loss"),
    ("mlagents", "Environment/Cumulative Reward", "Policy/Extrinsic Reward"),
]

# What whole runs leave behind, where the signs of several frameworks meet or none is enough.
RUNS: list[tuple[str, list[str]]] = [
    ("sb3", ["metric:rollout/ep_rew_mean", "metric:time/fps", "metric:train/loss", "file:monitor.csv"]),
    (
        "sb3",
        [
            "metric:rollout/exploration rate",
            "metric:rollout/ep_rew_mean",
            "metric:time/total timesteps",
            "metric:time/fps",
        ],
    ),
    (
        "sb3-zoo",
        ["file:CartPole-v1/args.yml", "file:args.yml", "file:config.yml", "file:0.monitor.csv", "file:evaluations.npz"],
    ),
    ("imitation", ["metric:mean/gen/rollout/ep_rew_mean", "metric:rollout/ep_rew_mean", "metric:time/total_timesteps"]),
    ("openai-baselines", ["metric:eprewmean", "metric:loss/policy_loss", "metric:fps", "file:0.0.monitor.csv"]),
    ("openai-baselines", ["metric:mean 100 episode reward", "metric:entropy loss", "metric:kl", "file:monitor.csv"]),
    ("pufferlib", ["metric:SPS", "metric:agent_steps", "metric:losses/entropy", "metric:environment/score"]),
    ("cleanrl", ["metric:charts/episodic_return", "metric:losses/entropy", "text:hyperparameters/text_summary"]),
    ("rllib", ["file:params.json", "file:result.json", "metric:episode_reward_mean", "metric:training_iteration"]),
    ("d3rlpy", ["file:params.json", "file:environment.csv", "file:time_step.csv", "metric:loss"]),
    ("rsl_rl", ["file:params/agent.yaml", "config:num_steps_per_env", "config:algorithm.class_name"]),
    ("skrl", ["file:params/agent.yaml", "metric:Reward / Total reward (mean)", "config:agent.rollouts"]),
    (
        "mlagents",
        ["metric:Environment/Cumulative Reward", "metric:Policy/Entropy", "text:Hyperparameters/text_summary"],
    ),
    ("spinningup", ["file:progress.txt", "file:config.json", "metric:AverageEpRet", "metric:Entropy", "metric:KL"]),
    ("unknown", ["metric:train/loss", "metric:episode_reward", "metric:train/reward", "metric:loss"]),
    ("unknown", ["metric:Loss/pi", "metric:Loss/v", "metric:Loss/entropy", "metric:Rewards/mean_episodes"]),
    ("rl_games", ["metric:losses/a_loss", "metric:losses/c_loss", "metric:rewards/iter", "metric:info/kl"]),
    ("unknown", ["metric:episode_return", "metric:epoch", "metric:entropy", "metric:alpha", "metric:actor_loss"]),
    ("unknown", ["file:config.yaml", "file:config.json", "file:params.json", "file:progress.csv", "file:model_100.pt"]),
    (
        "unknown",
        ["config:learning_rate", "config:gamma", "config:batch_size", "config:seed", "config:env", "config:n_steps"],
    ),
]

# Keys of real configs.
CONFIG_KEYS = [
    ("cleanrl", "clip_coef", "clip_range"),
    ("cleanrl", "update_epochs", "n_epochs"),
    ("rllib", "sgd_minibatch_size", "batch_size"),
    ("rllib", "optimization.entropy_learning_rate", "learning_rate_alpha"),
    ("rllib", "Q_model.hidden_layer_sizes", "net_arch_critic"),
    ("rllib", "sample_batch_size", "n_steps"),
    ("mlagents", "hyperparameters.beta", "ent_coef"),
    ("mlagents", "behaviors.ReachTarget.hyperparameters.lambd", "gae_lambda"),
    ("mlagents", "behaviors.ReachTarget.reward_signals.extrinsic.gamma", "gamma"),
    ("rsl_rl", "scene.num_envs", "n_envs"),
    ("rsl_rl", "algorithm.desired_kl", "target_kl"),
    ("sample-factory", "exploration_loss_coeff", "ent_coef"),
    ("spinningup", "ac_kwargs.hidden_sizes", "net_arch"),
    ("spinningup", "mu_lr", "learning_rate"),
    ("d3rlpy", "actor_encoder_factory.params.hidden_units", "net_arch"),
    ("d3rlpy", "n_steps", "n_step_return"),
    ("sb3", "agent", "algorithm"),
    ("sb3-zoo", "normalize", "normalize_obs"),
    ("sb3-zoo", "exploration_final_eps", "exploration_final"),
    ("skrl", "agent.mini_batches", "n_minibatches"),
]


@dataclass(frozen=True)
class Evidence:
    """What stands in the files of a run, as far as detection looks at it."""

    metric: frozenset[str] = frozenset()
    file: frozenset[str] = frozenset()
    text: frozenset[str] = frozenset()
    config: frozenset[str] = frozenset()
    log: frozenset[str] = frozenset()

    @classmethod
    def of(cls, conditions: Iterable[str]) -> Evidence:
        found: dict[str, set[str]] = {"metric": set(), "file": set(), "text": set(), "config": set(), "log": set()}
        for condition in conditions:
            kind, _, pattern = condition.partition(":")
            found[kind].add(sample(pattern))
        return cls(**{kind: frozenset(names) for kind, names in found.items()})

    def holds(self, condition: str) -> bool:
        kind, _, pattern = condition.partition(":")
        if kind == "path":
            return False
        names: frozenset[str] = getattr(self, kind)
        if kind == "file":
            return any(fnmatchcase(name, pattern) for name in names)
        if kind == "log":
            return any(pattern in name for name in names)
        return any(matches(pattern, name) for name in names)


def sample(pattern: str) -> str:
    return pattern.replace("*", "anything")


def recognised(evidence: Evidence) -> str:
    holding = (head.id for head in heads() if any(all(map(evidence.holds, line)) for line in head.detect))
    return next(holding, "unknown")


@cache
def source(framework_id: str) -> dict[str, object]:
    return tomllib.loads(TABLES.joinpath(f"{framework_id}.toml").read_text(encoding="utf-8"))


def relatives(framework_id: str) -> set[str]:
    """The framework, the one it extends, and those that extend it: they share their metric names."""
    related = {framework_id, str(source(framework_id).get("extends", framework_id))}
    return related | {other for other in FOUND if source(other).get("extends") in related}


def meaning(tables: Framework, name: str, algorithm: str) -> MetricName:
    found = tables.metrics.find(name)
    assert found is not None, f"{tables.head.id} does not know {name}"
    return next(entry for entry in found[1] if not entry.algorithms or algorithm in entry.algorithms)


def test_the_tables_are_those_of_the_design_and_the_documented_additions() -> None:
    assert set(FOUND) == DESIGNED | ADDITIONS


@pytest.mark.parametrize("framework_id", FOUND)
def test_a_table_loads_under_the_name_of_its_file(framework_id: str) -> None:
    tables = framework(framework_id)
    assert tables.head.id == framework_id
    assert tables.head.title
    assert list(tables.metrics)
    assert list(tables.hyperparameters)


@pytest.mark.parametrize("framework_id", sorted(set(FOUND) - {"common"}))
def test_a_framework_can_be_recognised(framework_id: str) -> None:
    assert framework(framework_id).head.detect


@pytest.mark.parametrize("framework_id", FOUND)
def test_no_pattern_of_a_table_hides_another(framework_id: str) -> None:
    metrics = framework(framework_id).metrics
    for key in metrics:
        found = metrics.find(sample(key))
        assert found is not None
        assert found[0] == key, f"{sample(key)} is taken by {found[0]}, so {key} never counts"


@pytest.mark.parametrize("framework_id", FOUND)
def test_algorithms_are_written_in_upper_case(framework_id: str) -> None:
    tables = framework(framework_id)
    names = [*tables.algorithms]
    for key in tables.metrics:
        found = tables.metrics.find(key)
        assert found is not None
        names.extend(name for entry in found[1] for name in entry.algorithms)
    names.extend(name for entry in tables.defaults for name in entry.algorithms)
    assert [name for name in names if name != name.upper()] == []


@pytest.mark.parametrize("framework_id", FOUND)
def test_defaults_have_canonical_names_and_values_of_their_kind(framework_id: str) -> None:
    known = hyperparameters()
    for entry in framework(framework_id).defaults:
        for name, value in entry.values.items():
            assert name in known
            kind = known[name].kind
            assert isinstance(value, KINDS[kind]), f"{name} = {value!r} is no {kind}"
            assert kind == "flag" or kind == "any" or not isinstance(value, bool), f"{name} = {value!r} is no {kind}"


@pytest.mark.parametrize(("framework_id", "line"), LINES, ids=lambda value: value if isinstance(value, str) else "")
def test_a_line_of_detection_leads_to_its_own_framework(framework_id: str, line: tuple[str, ...]) -> None:
    assert recognised(Evidence.of(line)) == framework_id


@pytest.mark.parametrize("framework_id", sorted(set(FOUND) - {"common"}))
def test_the_names_a_framework_logs_are_not_taken_for_another(framework_id: str) -> None:
    names = source(framework_id).get("metrics", {})
    assert isinstance(names, dict)
    found = recognised(Evidence.of(f"metric:{name}" for name in names))
    assert found in relatives(framework_id) | {"unknown"}


@pytest.mark.parametrize(("framework_id", "evidence"), RUNS)
def test_a_whole_run_is_recognised_as_what_it_is(framework_id: str, evidence: list[str]) -> None:
    assert recognised(Evidence.of(evidence)) == framework_id


@pytest.mark.parametrize(("framework_id", "name", "algorithm", "sign", "coefficient"), ENTROPY)
def test_entropy_is_positive_up(framework_id: str, name: str, algorithm: str, sign: int, coefficient: str) -> None:
    entry = meaning(framework(framework_id), name, algorithm)
    assert (entry.name, entry.sign, entry.divide_by) == ("entropy", sign, coefficient)


@pytest.mark.parametrize(("framework_id", "name", "algorithm", "canonical"), TRAPS)
def test_a_misleading_name_gets_its_true_meaning(framework_id: str, name: str, algorithm: str, canonical: str) -> None:
    assert meaning(framework(framework_id), name, algorithm).name == canonical


@pytest.mark.parametrize(("framework_id", "better", "worse"), PREFERRED)
def test_the_better_of_two_sources_stands_first(framework_id: str, better: str, worse: str) -> None:
    metrics = framework(framework_id).metrics
    first, second = metrics.find(better), metrics.find(worse)
    assert first is not None
    assert second is not None
    assert first[1][0].name == second[1][0].name
    assert metrics.position(first[0]) < metrics.position(second[0])


@pytest.mark.parametrize(("framework_id", "key", "canonical"), CONFIG_KEYS)
def test_a_key_of_a_real_config_is_known(framework_id: str, key: str, canonical: str) -> None:
    found = framework(framework_id).hyperparameters.find(key)
    assert found is not None
    assert canonical in {entry.name for entry in found[1]}


@pytest.mark.parametrize(
    ("framework_id", "name", "axis"),
    [
        ("rsl_rl", "Train/mean_reward/time", "seconds"),
        ("tianshou", "update/alpha", "updates"),
        ("tianshou", "info/best_reward", "epochs"),
        ("d3rlpy", "metrics/critic_loss", "epochs"),
        ("cleanrl", "eval/episodic_return", "episodes"),
    ],
)
def test_a_name_with_another_step_axis_is_an_exception(framework_id: str, name: str, axis: str) -> None:
    exceptions = framework(framework_id).steps.exceptions
    assert next(found for pattern, found in exceptions if matches(pattern, name)) == axis


def test_steps_that_count_iterations_become_env_steps_by_rollout_and_environments() -> None:
    assert framework("rsl_rl").steps.times == ("n_steps", "n_envs")
    assert framework("skrl").steps.times == ("n_envs",)


def test_the_minibatch_is_the_batch_size_of_cleanrl_where_both_are_logged() -> None:
    table = framework("cleanrl").hyperparameters
    assert table.position("minibatch_size") < table.position("batch_size")


def test_defaults_follow_the_version_and_an_unknown_one_means_the_newest() -> None:
    tables = framework("rsl_rl")
    assert tables.defaults_for("PPO", "2.3.3")["gamma"] == 0.998
    assert tables.defaults_for("PPO", "3.1.0")["gamma"] == 0.99
    assert tables.defaults_for("PPO", "") == tables.defaults_for("PPO", "5.5.1")


def test_a_later_entry_of_the_defaults_wins_for_a_variant() -> None:
    assert framework("sb3").defaults_for("PPO", "")["n_steps"] == 2048
    assert framework("sb3").defaults_for("RECURRENTPPO", "")["n_steps"] == 128
    assert framework("sb3-zoo").defaults_for("PPO", "")["learning_rate"] == 3e-4


@given(st.text(st.characters(blacklist_categories=["Cs"]), min_size=1, max_size=30))
@settings(derandomize=True, max_examples=100)
def test_any_module_or_component_may_stand_in_a_name(text: str) -> None:
    rllib, rsl_rl = framework("rllib"), framework("rsl_rl")
    assert meaning(rllib, f"learners/{text}/entropy", "PPO").name == "entropy"
    assert meaning(rllib, f"info/learner/{text}/learner_stats/kl", "PPO").name == "approx_kl"
    found = rsl_rl.metrics.find(f"Episode_Reward/{text}")
    assert found is not None
    assert found[2] == text


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.toml")), ids=lambda path: path.stem)
def test_every_name_of_every_table_is_valid(path: Path) -> None:
    framework_from(load_table(path), path.name)


@pytest.mark.parametrize(
    "section",
    [
        '[metrics]\nx = "no_such_metric"',
        '[metrics]\nx = { name = "entropy", sign = 2 }',
        '[hyperparameters]\nx = "no_such_hyperparameter"',
        '[hyperparameters]\nx = { name = "tau", form = "backwards" }',
        '[steps]\naxis = "fortnights"',
        "[[defaults]]\nvalues = { no_such_hyperparameter = 1 }",
    ],
)
def test_a_wrong_table_is_refused_with_its_name(section: str) -> None:
    text = f'id = "broken"\ntitle = "Broken"\norder = 1\n\n{section}\n'
    with pytest.raises(ValueError, match=r"broken\.toml"):
        framework_from(tomllib.loads(text), "broken.toml")
