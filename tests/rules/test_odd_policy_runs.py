"""Rules about policy and critic on runs that no trainer writes: they answer or stay silent, and never raise."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rlclinic.rules.registry import RULES
from tests.rules.scene import scene

RULES = [row.module for row in RULES if row.family in {"policy", "value", "optimisation", "off_policy"}]
METRICS = (
    "return/train", "return/eval", "episode_length", "entropy", "approx_kl", "clip_fraction", "clip_fraction/value",
    "clip_range", "clip_range/value", "explained_variance", "value_loss", "policy_loss", "loss", "value/mean",
    "value/target", "advantage/abs_max", "advantage/std", "action_std/mean", "action_std/min", "grad_norm", "updates",
)  # fmt: skip
SETTINGS = (
    "n_actions", "action_shape", "n_epochs", "n_minibatches", "batch_size", "rollout_size", "n_steps", "n_envs",
    "clip_range", "clip_range_vf", "clip_value_loss", "gamma", "max_grad_norm", "normalize_reward",
)  # fmt: skip

numbers = st.one_of(
    st.floats(width=32),
    st.sampled_from([0.0, 1.0, -1.0, 1e-300, 1e300, math.nan, math.inf, -math.inf]),
)
curves = st.one_of(
    st.lists(numbers, max_size=40).map(lambda values: np.array(values, dtype=np.float64)),
    st.builds(lambda level, points: np.full(points, level), numbers, st.integers(0, 80)),
    st.builds(lambda low, high: np.geomspace(low, high, 60), st.floats(1e-9, 1.0), st.floats(1e-9, 1e9)),
)
values = st.one_of(numbers, st.integers(-3, 10**7), st.none(), st.booleans(), st.sampled_from(["auto", [2], [0], []]))


# Their squares are no number of a float.
HUGE = {"return/train": np.geomspace(1.0, 1e300, 40), "value_loss": np.zeros(40), "loss": np.full(40, 1e300)}


@settings(derandomize=True, max_examples=150)
@given(
    series=st.dictionaries(st.sampled_from(METRICS), curves, max_size=14),
    config=st.dictionaries(st.sampled_from(SETTINGS), values, max_size=6),
    algorithm=st.sampled_from(("PPO", "A2C", "")),
    framework=st.sampled_from(("sb3", "rllib", "unknown")),
    environment=st.sampled_from(("", "CartPole-v1", "Pendulum-v1")),
)
@example(HUGE, {}, "PPO", "sb3", "")
@example({**HUGE, "td_error": np.geomspace(1.0, 1e200, 40)}, {}, "DQN", "sb3", "")
def test_no_rule_raises_and_every_answer_can_be_shown(
    series: dict[str, np.ndarray], config: dict[str, object], algorithm: str, framework: str, environment: str
) -> None:
    facts = scene(series=series, config=config, algorithm=algorithm, framework=framework, environment=environment)
    with np.errstate(all="ignore"):
        found = [result for rule in RULES if (result := rule.check(facts)) is not None]
    for result in found:
        assert 0.0 < result.confidence <= 1.0
        assert result.evidence
        assert "\n" not in result.summary
        assert "!" not in result.summary
        assert "nan" not in result.summary.split()


@settings(derandomize=True, max_examples=40)
@given(seed=st.integers(0, 2**32 - 1), scale=st.sampled_from((1e-3, 1.0, 1e3)))
def test_what_is_seen_does_not_depend_on_the_unit_of_the_reward(seed: int, scale: float) -> None:
    """Except for the rule that is about the unit itself."""
    noise = np.random.default_rng(seed)
    series = {
        "return/train": 20.0 + np.cumsum(noise.normal(0.0, 2.0, 60)),
        "entropy": np.abs(0.5 + np.cumsum(noise.normal(0.0, 0.03, 60))),
        "approx_kl": np.exp(noise.normal(-5.0, 2.0) + np.cumsum(noise.normal(0.0, 0.2, 60))),
        "clip_fraction": np.clip(noise.normal(0.2, 0.2, 60), 0.0, 1.0),
        "explained_variance": np.clip(np.cumsum(noise.normal(0.0, 0.1, 60)), -2.0, 1.0),
        "value_loss": np.exp(2.0 + np.cumsum(noise.normal(0.0, 0.2, 60))),
    }
    settings_ = {"n_epochs": 10, "clip_range": 0.2}
    scaled = {**series, "return/train": scale * series["return/train"], "value_loss": scale**2 * series["value_loss"]}
    names = [rule for rule in RULES if not rule.__name__.endswith("returns_too_large_for_critic")]
    before = [rule.check(scene(series=series, config=settings_)) for rule in names]
    after = [rule.check(scene(series=scaled, config=settings_)) for rule in names]
    assert [found and found.severity for found in before] == [found and found.severity for found in after]
