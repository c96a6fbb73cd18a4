"""Rules on environments, configs and language models never raise, whatever was logged."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rlclinic.model.run import Status
from rlclinic.model.vocabulary import METRICS
from rlclinic.rules.registry import RULES, applicable
from tests.rules.scene import scene

FAMILIES = ("environment", "config", "language_model")
NAMES = (*(metric.name.replace("*", "x") for metric in METRICS), "reward/y", "sampler_mismatch/kl")
SETTINGS = ("learning_rate", "gamma", "batch_size", "n_steps", "n_envs", "clip_range", "frame_stack", "group_size")
HEADS = ("What it sees:", "Why it hurts:", "Evidence needed:", "Looks alike:", "What to change:", "References:")

odd = st.sampled_from((0.0, -0.0, 1.0, -1.0, 1e-300, 1e300, math.nan, math.inf, -math.inf, 0.5, 200.0))
curves = st.one_of(
    st.lists(odd, min_size=0, max_size=40),
    st.integers(0, 2**32 - 1).map(lambda seed: list(np.random.default_rng(seed).normal(0.3, 0.2, 60))),
    odd.flatmap(lambda value: st.just([value] * 50)),
)
values = st.one_of(odd, st.none(), st.booleans(), st.text(max_size=5), st.just([84, 84, 4]), st.just("1e-3"))


@settings(derandomize=True, max_examples=120, suppress_health_check=[HealthCheck.too_slow])
@given(
    series=st.dictionaries(st.sampled_from(NAMES), curves, max_size=14),
    config=st.dictionaries(st.sampled_from(SETTINGS), values, max_size=5),
    environment=st.sampled_from(("", "CartPole-v1", "MountainCar-v0", "PongNoFrameskip-v4", "Hopper-v4")),
    algorithm=st.sampled_from(("PPO", "DQN", "GRPO", "SAC", "")),
    framework=st.sampled_from(("sb3", "gymnasium-solver", "verl", "unknown")),
    status=st.sampled_from((Status.CRASHED, Status.FINISHED)),
    budget=st.sampled_from((None, 1.0, 1e6)),
)
def test_no_rule_raises_and_every_answer_can_be_shown(
    series: dict[str, list[float]],
    config: dict[str, object],
    environment: str,
    algorithm: str,
    framework: str,
    status: Status,
    budget: float | None,
) -> None:
    facts = scene(
        series=series,
        config=config,
        environment=environment,
        algorithm=algorithm,
        framework=framework,
        status=status,
        budget=budget,
        axis="updates" if algorithm == "GRPO" else "env_steps",
    )
    with np.errstate(all="ignore"):
        asked = [rule.module for rule in applicable(facts) if rule.family in FAMILIES]
        found = [result for rule in asked if (result := rule.check(facts)) is not None]
    for result in found:
        assert 0 < result.confidence <= 1
        assert result.summary
        assert "\n" not in result.summary
        assert result.evidence


def test_every_rule_is_documented_in_the_same_sections() -> None:
    for rule in (rule.module for rule in RULES if rule.family in FAMILIES):
        lines = (rule.__doc__ or "").splitlines()
        assert lines[0].endswith("."), rule.__name__
        assert len(lines[0]) <= 110, rule.__name__
        heads = [head for line in lines for head in HEADS if line.startswith(head)]
        assert tuple(heads) == HEADS, rule.__name__
