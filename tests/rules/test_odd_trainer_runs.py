"""Rules about the trainer on runs that no trainer writes: they answer or stay silent, and never raise."""

from __future__ import annotations

import math
from importlib import import_module
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rlclinic.rules
from rlclinic.model.run import Status
from rlclinic.rules.rule import RuleResult
from tests.rules.scene import scene

FAMILIES = ("off_policy", "optimisation", "mmrkhs", "reinforce", "data")
ROOT = Path(rlclinic.rules.__file__).parent
NAMES = [
    f"{family}.{path.stem}"
    for family in FAMILIES
    for path in sorted((ROOT / family).glob("*.py"))
    if not path.stem.startswith("_")
]
RULES: list[ModuleType] = [import_module(f"rlclinic.rules.{name}") for name in NAMES]
SECTIONS = ("What it sees", "Why it hurts", "Evidence needed", "Looks alike", "What to change", "References")

METRICS = (
    "return/train", "return/eval", "episode_length", "episode_length/eval", "q/mean", "q1/mean", "q2/mean", "q/spread",
    "alpha", "value_loss", "policy_loss", "loss", "td_error", "epsilon", "updates", "fps", "grad_norm",
    "grad_norm/actor", "grad_norm/critic", "learning_rate", "approx_kl", "clip_fraction", "mmd", "dead_units",
    "entropy",
)  # fmt: skip
SETTINGS = (
    "gamma", "gae_lambda", "n_steps", "n_envs", "batch_size", "n_epochs", "n_minibatches", "rollout_size", "tau",
    "target_update_interval", "train_freq", "gradient_steps", "update_to_data", "learning_starts", "buffer_size",
    "exploration_fraction", "exploration_final", "exploration_steps", "learning_rate", "max_grad_norm", "warmup",
    "reward_scale", "mmd_coef", "learning_rate_schedule", "action_shape", "normalize_reward",
)  # fmt: skip

numbers = st.one_of(
    st.floats(width=32),
    st.sampled_from([0.0, 1.0, -1.0, 1e-30, 1e30, math.nan, math.inf]),
)
curves = st.one_of(
    st.lists(numbers, max_size=40).map(lambda values: np.array(values, dtype=np.float64)),
    st.builds(lambda level, points: np.full(points, level), numbers, st.integers(0, 80)),
    st.builds(
        lambda low, high, points: np.geomspace(low, high, points), st.floats(1e-9, 1), st.floats(1, 1e9), st.just(60)
    ),
)
values = st.one_of(
    numbers, st.integers(-3, 10**7), st.none(), st.booleans(), st.sampled_from(["auto", "adaptive", [2]])
)


@given(
    series=st.dictionaries(st.sampled_from(METRICS), curves, max_size=8),
    config=st.dictionaries(st.sampled_from(SETTINGS), values, max_size=10),
    algorithm=st.sampled_from(["PPO", "A2C", "DQN", "SAC", "TD3", "CQL", "IQL", "REINFORCE", "MM-RKHS", "GRPO", ""]),
    framework=st.sampled_from(["sb3", "gymnasium-solver", "cleanrl", "rllib", "unknown"]),
    steps=st.sampled_from([0.0, 1.0, 100_000.0]),
    budget=st.sampled_from([None, 1.0, 100_000.0]),
    status=st.sampled_from(list(Status)),
)
@settings(derandomize=True, max_examples=400)
def test_no_rule_raises_on_odd_runs(**fields: object) -> None:
    facts = scene(environment="CartPole-v1", **fields)
    for rule in RULES:
        found = rule.check(facts)
        assert found is None or _sound(found)


def _sound(found: RuleResult) -> bool:
    assert 0.0 < found.confidence <= 1.0
    assert found.evidence
    assert "\n" not in found.summary
    assert "!" not in found.summary
    return True


@pytest.mark.parametrize("rule", RULES, ids=NAMES)
def test_an_empty_run_gets_no_finding(rule: ModuleType) -> None:
    assert rule.check(scene()) is None


@pytest.mark.parametrize("rule", RULES, ids=NAMES)
def test_a_rule_is_documented_in_full(rule: ModuleType) -> None:
    text = rule.__doc__ or ""
    title = text.split("\n", 1)[0]
    assert title.endswith(".")
    assert len(title) <= 95
    assert [text.count(f"\n{head}: ") for head in SECTIONS] == [1] * len(SECTIONS)
