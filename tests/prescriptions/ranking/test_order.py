"""Facts come first, one mechanism per round, and the setting that is off before its rivals."""

from __future__ import annotations

import pytest

from rlclinic.model.diagnosis import Verdict
from tests.prescriptions.made import PPO, advised, changed_keys, made_run

RUN = made_run({**PPO, "learning_rate": 0.05, "n_epochs": 40})
# Five times what works: more than usual, but not beyond what working configs have.
FASTER = made_run({**PPO, "learning_rate": 0.005, "n_epochs": 40})


def test_of_close_causes_the_one_whose_setting_is_off_goes_first() -> None:
    ordinary = made_run({**PPO, "learning_rate": 0.001, "n_epochs": 80})
    made = advised(ordinary, {"learning-rate-too-high": 0.4, "too-many-epochs": 0.3}, "kl-too-large")
    assert changed_keys(made) == {"n_epochs": (80, 40)}


def test_facts_come_before_everything_else() -> None:
    shares = {"learning-rate-too-high": 0.5, "evaluation-mismatch": 0.3}
    made = advised(FASTER, shares, "kl-too-large", verdict=Verdict.COLLAPSED)
    assert [item.causes[0] for item in made][:2] == ["evaluation-mismatch", "learning-rate-too-high"]


@pytest.mark.parametrize(("rate", "mismatch"), [(0.5, 0.3), (0.3, 0.5)])
def test_a_setting_that_no_working_config_comes_near_is_a_fact_too(rate: float, mismatch: float) -> None:
    shares = {"learning-rate-too-high": rate, "evaluation-mismatch": mismatch}
    made = advised(RUN, shares, "kl-too-large", verdict=Verdict.COLLAPSED)
    assert (made[0].causes[0] == "learning-rate-too-high") == (rate > mismatch)


def test_at_most_three_lead_and_one_mechanism_is_changed_only_once() -> None:
    shares = {
        "learning-rate-too-high": 0.2, "reward-scale-too-large": 0.19, "entropy-bonus-too-high": 0.18,
        "too-many-epochs": 0.05, "rollout-too-short": 0.17,
    }  # fmt: skip
    made = advised(RUN, shares, "kl-too-large")
    assert len(made) == 3
    assert len(changed_keys(made)) == len([change for item in made for change in item.changes])


def test_opposite_causes_never_both_change_a_setting() -> None:
    made = advised(RUN, {"learning-rate-too-low": 0.3, "learning-rate-too-high": 0.29}, "kl-vanishes")
    assert len([change for item in made for change in item.changes if change.key == "learning_rate"]) <= 1
