"""Rules about REINFORCE. No recorded run trains it: its trainer does not exist yet."""

from __future__ import annotations

import numpy as np
import pytest

from rlclinic.model.finding import Severity
from rlclinic.rules.reinforce import no_baseline_configured, returns_noisy_without_baseline
from tests.rules.build import flat, make_patient, rising
from tests.rules.recorded import HEALTHY, recorded

RULES = (returns_noisy_without_baseline, no_baseline_configured)
PLAIN = {"gamma": 0.99, "learning_rate": 1e-3}


@pytest.mark.parametrize("path", HEALTHY)
def test_no_other_algorithm_is_judged(path: str) -> None:
    patient = recorded(path)
    assert [rule.check(patient) for rule in RULES] == [None] * len(RULES)


def test_noise_that_hides_the_climb_is_an_alarm_without_a_baseline() -> None:
    """constructed: its trainer does not exist yet."""
    noisy = flat(50.0, 200, noise=0.5)
    found = returns_noisy_without_baseline.check(
        make_patient(algorithm="REINFORCE", series={"return/train": noisy}, config=PLAIN)
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
    patient = make_patient(algorithm="REINFORCE", series={"return/train": returns, **extra}, config=PLAIN)
    assert returns_noisy_without_baseline.check(patient) is None


def test_a_missing_baseline_is_a_note() -> None:
    """constructed: its trainer does not exist yet."""
    found = no_baseline_configured.check(
        make_patient(algorithm="REINFORCE", series={"return/train": rising()}, config=PLAIN)
    )
    assert found is not None
    assert found.severity is Severity.INFO


@pytest.mark.parametrize("setting", [{"use_baseline": True}, {"normalize_returns": "batch"}, {"vf_coef": 0.5}])
def test_a_configured_baseline_is_recognised(setting: dict[str, object]) -> None:
    """constructed: three ways of writing it."""
    patient = make_patient(algorithm="REINFORCE", series={"return/train": rising()}, config={**PLAIN, **setting})
    assert no_baseline_configured.check(patient) is None


def test_a_baseline_that_is_switched_off_is_none() -> None:
    """constructed: keys with values that mean no."""
    config = {**PLAIN, "use_baseline": False, "normalize_returns": None, "policy_targets": "returns"}
    assert no_baseline_configured.check(make_patient(algorithm="REINFORCE", config=config)) is not None


def test_without_a_config_nothing_is_said() -> None:
    """constructed: a bare table of returns."""
    assert no_baseline_configured.check(make_patient(algorithm="REINFORCE", series={"return/train": rising()})) is None
