"""The weights of the loss are found again from its logged parts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlclinic.facts.loss_weights import loss_weights
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.unusual_settings import unusual
from tests.rules.scene import recorded, scene


def _parts(value_weight: float, entropy_weight: float, *, rows: int = 60, seed: int = 0) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    policy, value = 0.02 * random.standard_normal(rows), 2.0 * random.gamma(2.0, 1.0, rows)
    entropy = np.linspace(1.4, 0.4, rows)
    return {
        "policy_loss": policy,
        "value_loss": value,
        "entropy": entropy,
        "loss": policy + value_weight * value - entropy_weight * entropy,
    }


@settings(derandomize=True, max_examples=60)
@given(st.floats(0.05, 1e5), st.integers(0, 50))
def test_the_weight_of_the_value_loss_is_found_at_any_scale(weight: float, seed: int) -> None:
    found = loss_weights(scene(series=_parts(weight, 0.0, seed=seed)))

    assert found.value == pytest.approx(weight, rel=0.02)
    assert found.entropy is None


def test_a_heavy_bonus_is_found_with_the_entropy_and_without() -> None:
    series = _parts(0.01, 2.0)
    bare = {name: values for name, values in series.items() if name != "entropy"}

    with_entropy, without = loss_weights(scene(series=series)), loss_weights(scene(series=bare))

    assert with_entropy.entropy == pytest.approx(2.0, rel=0.05)
    assert without.entropy is not None
    assert 0.1 < without.entropy < 2.0


def test_totals_of_one_minibatch_still_tell_the_order_of_magnitude() -> None:
    series = _parts(8000.0, 0.0)
    series["loss"] = series["loss"] * np.random.default_rng(1).uniform(0.7, 1.3, series["loss"].size)

    found = loss_weights(scene(series=series))

    assert found.value == pytest.approx(8000.0, rel=0.3)


def test_nothing_is_told_by_a_total_that_its_parts_do_not_make() -> None:
    series = _parts(0.5, 0.0)
    series["loss"] = np.random.default_rng(2).standard_normal(series["loss"].size)

    assert loss_weights(scene(series=series)).value is None
    assert loss_weights(scene(series=_parts(0.5, 0.0, rows=5))).value is None


def test_a_recorded_run_shows_the_weights_of_its_config() -> None:
    facts = recorded("faults/solved_ppo_cartpole")
    told = facts.setting("vf_coef")

    assert told is not None
    assert loss_weights(facts).value == pytest.approx(told, rel=0.5)


def test_a_weight_that_only_the_log_tells_lies_outside_practice() -> None:
    found = [unusual(RunFacts(scene(series=_parts(weight, 0.0)).run), "vf_coef") for weight in (8000.0, 0.5)]
    gross, usual = (item.beyond("either") for item in found if item is not None)
    assert gross > 2.0
    assert usual == 0.0
