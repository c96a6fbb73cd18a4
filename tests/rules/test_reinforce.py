"""Rules about REINFORCE."""

from __future__ import annotations

import numpy as np
import pytest

from rlclinic.model.finding import Severity
from rlclinic.rules.reinforce import no_baseline_configured, returns_noisy_without_baseline
from rlclinic.rules.value import critic_explains_nothing
from tests.rules.scene import fault, flat, rising, scene

PLAIN = {"gamma": 0.99, "learning_rate": 1e-3}


def test_noise_that_hides_the_climb_is_an_alarm_without_a_baseline() -> None:
    """constructed: a trainer that logs nothing of a baseline."""
    noisy = flat(50.0, 200, noise=0.5)
    found = returns_noisy_without_baseline.check(
        scene(algorithm="REINFORCE", series={"return/train": noisy}, config=PLAIN)
    )
    assert found is not None
    assert found.severity is Severity.WARNING
    assert found.evidence[0].value > 1


@pytest.mark.parametrize(
    ("returns", "extra"),
    [(rising(20.0, 400.0, 200), {}), (flat(50.0, 200, noise=0.5), {"value_loss": np.ones(200)})],
)
def test_a_rising_return_or_a_value_network_is_fine(returns: np.ndarray, extra: dict[str, np.ndarray]) -> None:
    """constructed: one of the two conditions is missing."""
    facts = scene(algorithm="REINFORCE", series={"return/train": returns, **extra}, config=PLAIN)
    assert returns_noisy_without_baseline.check(facts) is None


def test_a_missing_baseline_is_a_note() -> None:
    """constructed: a trainer that logs nothing of a baseline."""
    found = no_baseline_configured.check(scene(algorithm="REINFORCE", series={"return/train": rising()}, config=PLAIN))
    assert found is not None
    assert found.severity is Severity.INFO


@pytest.mark.parametrize("setting", [{"use_baseline": True}, {"normalize_returns": "batch"}, {"vf_coef": 0.5}])
def test_a_configured_baseline_is_recognised(setting: dict[str, object]) -> None:
    """constructed: three ways of writing it."""
    facts = scene(algorithm="REINFORCE", series={"return/train": rising()}, config={**PLAIN, **setting})
    assert no_baseline_configured.check(facts) is None


def test_a_baseline_that_is_switched_off_is_none() -> None:
    """constructed: keys with values that mean no."""
    config = {**PLAIN, "use_baseline": False, "normalize_returns": None, "policy_targets": "returns"}
    assert no_baseline_configured.check(scene(algorithm="REINFORCE", config=config)) is not None


def test_without_a_config_nothing_is_said() -> None:
    """constructed: a bare table of returns."""
    assert no_baseline_configured.check(scene(algorithm="REINFORCE", series={"return/train": rising()})) is None


def test_zeros_for_the_fit_of_a_critic_are_no_baseline() -> None:
    """constructed: a trainer that logs a placeholder, with and without a config that says so."""
    zeros = {"return/train": rising(), "explained_variance": np.zeros(60)}
    for config in (PLAIN, {**PLAIN, "baseline": False, "vf_coef": 0.5}):
        assert no_baseline_configured.check(scene(algorithm="REINFORCE", series=zeros, config=config)) is not None


def test_a_baseline_that_is_switched_off_has_no_critic_to_judge() -> None:
    zeros = {"return/train": flat(), "explained_variance": np.zeros(60)}
    without = scene(algorithm="REINFORCE", series=zeros, config={**PLAIN, "baseline": False})
    assert critic_explains_nothing.check(without) is None


def test_the_name_of_a_library_is_no_baseline() -> None:
    assert no_baseline_configured.check(fault("bare_reinforce_cartpole")) is not None
