"""Rules about MM-RKHS."""

from __future__ import annotations

import numpy as np
import pytest

from rlclinic.model.finding import Severity
from rlclinic.rules.mmrkhs import kl_large_from_start, mmd_outweighs_objective, policy_pinned
from tests.rules.scene import fault, flat, rising, scene

RULES = (mmd_outweighs_objective, policy_pinned, kl_large_from_start)
ALGORITHM = "MM-RKHS"


def test_a_healthy_run_gets_nothing() -> None:
    """constructed: the bounds of the rule, apart from the course of a run."""
    series = {
        "approx_kl": flat(0.01),
        "mmd": flat(0.02),
        "policy_loss": flat(-0.03),
        "return/train": rising(),
    }
    facts = scene(algorithm=ALGORITHM, series=series)
    assert [rule.check(facts) for rule in RULES] == [None] * len(RULES)


def test_a_penalty_far_above_the_objective_is_an_alarm() -> None:
    """constructed: the bounds of the rule, apart from the course of a run."""
    series = {"mmd": flat(0.05), "policy_loss": flat(-0.001), "return/train": flat()}
    found = mmd_outweighs_objective.check(scene(algorithm=ALGORITHM, series=series, config={"mmd_coef": 10.0}))
    assert found is not None
    assert found.severity is Severity.WARNING
    assert found.evidence[0].value == pytest.approx(0.5, rel=0.05)


def test_a_penalty_at_the_noise_floor_or_of_the_size_of_the_objective_is_fine() -> None:
    """constructed: the bounds of the rule, apart from the course of a run."""
    for mmd, loss in ((0.001, -0.00001), (0.05, -0.02)):
        series = {"mmd": flat(mmd), "policy_loss": flat(loss), "return/train": flat()}
        assert mmd_outweighs_objective.check(scene(algorithm=ALGORITHM, series=series)) is None


def test_a_policy_that_never_moves_is_an_alarm() -> None:
    """constructed: the bounds of the rule, apart from the course of a run."""
    series = {"approx_kl": flat(1e-6), "mmd": flat(0.001), "return/train": flat()}
    found = policy_pinned.check(scene(algorithm=ALGORITHM, series=series))
    assert found is not None
    assert found.severity is Severity.WARNING


@pytest.mark.parametrize(("kl", "returns"), [(1e-3, flat()), (1e-6, rising())])
def test_a_policy_that_moves_or_learns_is_not_pinned(kl: float, returns: np.ndarray) -> None:
    """constructed: one of the two conditions is missing."""
    series = {"approx_kl": flat(kl), "mmd": flat(0.001), "return/train": returns}
    assert policy_pinned.check(scene(algorithm=ALGORITHM, series=series)) is None


def test_kl_of_a_resampled_action_is_an_error() -> None:
    """constructed: the public trainer logged KL 8.04 to 5.85 at a policy loss of 0.0000."""
    series = {
        "approx_kl": np.linspace(8.04, 5.85, 24),
        "policy_loss": flat(1e-5, 24),
        "return/train": rising(9.4, 18.0, 24),
    }
    found = kl_large_from_start.check(scene(algorithm=ALGORITHM, series=series))
    assert found is not None
    assert found.severity is Severity.ERROR
    assert "8" in found.summary


def test_large_steps_with_a_real_objective_are_another_case() -> None:
    """constructed: a high learning rate gives a large KL that grows, and a large surrogate."""
    growing = {"approx_kl": np.geomspace(0.01, 5.0, 24), "policy_loss": flat(1e-5, 24)}
    real = {"approx_kl": np.full(24, 0.5), "policy_loss": flat(-0.4, 24)}
    for series in (growing, real):
        assert kl_large_from_start.check(scene(algorithm=ALGORITHM, series=series)) is None


def test_a_weight_that_drives_the_mmd_to_zero_is_an_alarm_by_what_it_takes_of_the_gain() -> None:
    found = mmd_outweighs_objective.check(fault("pulled_mmrkhs_cartpole"))
    assert found is not None
    assert found.severity is Severity.WARNING
    assert "KL per update is 8.5e-08 nats" in found.summary


def test_a_policy_that_another_term_holds_is_not_held_by_the_mmd() -> None:
    assert mmd_outweighs_objective.check(fault("pinned_mmrkhs_cartpole")) is None


def test_a_policy_that_stands_still_needs_no_published_number_of_steps_to_be_pinned() -> None:
    """constructed: 12,000 steps of CartPole, half of what the run may take, and a seventh of what A2C needs."""
    series = {"approx_kl": flat(1e-6), "mmd": flat(0.001), "return/train": flat()}
    short = {"algorithm": ALGORITHM, "environment": "CartPole-v1", "series": series, "steps": 12_000}
    assert policy_pinned.check(scene(**short, budget=12_000)) is not None
    assert policy_pinned.check(scene(**short, budget=120_000)) is None
