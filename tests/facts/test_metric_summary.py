"""One metric in a few numbers, and two of them beside each other."""

from __future__ import annotations

import math

import numpy as np
import pytest

import rlclinic
from rlclinic.facts.metric_summary import metric_correlation, metric_summary, metric_trend
from rlclinic.model.config import Config, Setting
from rlclinic.model.errors import UsageError
from rlclinic.model.run import Run
from rlclinic.model.series import FloatArray, Series

RISING = np.linspace(0.0, 10.0, 60) + np.random.default_rng(0).normal(0.0, 0.1, 60)


def series(values: FloatArray | list[float], name: str = "return/train", first: float = 0.0) -> Series:
    return Series(name, name, first + 100.0 * np.arange(len(values)), np.asarray(values, dtype=np.float64))


def test_values_that_are_not_finite_are_counted_and_not_averaged() -> None:
    found = metric_summary(series([1.0, math.nan, 3.0, math.inf]))
    assert (found.count, found.not_finite, found.mean, found.min, found.max) == (2, 2, 2.0, 1.0, 3.0)
    assert (found.first, found.last, found.is_constant) == (1.0, 3.0, False)


def test_a_metric_without_a_finite_value_has_no_numbers() -> None:
    found = metric_summary(series([math.nan]))
    assert (found.count, found.not_finite, found.mean, found.last) == (0, 1, None, None)
    assert found.is_constant


@pytest.mark.parametrize(
    ("name", "values", "direction"),
    [
        ("return/train", RISING, "improving"),
        ("return/train", -RISING, "declining"),
        ("learning_rate", RISING, "rising"),
        ("learning_rate", -RISING, "falling"),
        ("return/train", np.random.default_rng(1).normal(size=60), "stable"),
        ("return/train", RISING[:1], "insufficient_data"),
    ],
)
def test_a_trend_is_told_in_words_that_fit_the_metric(name: str, values: FloatArray, direction: str) -> None:
    assert metric_trend(series(values, name)).direction == direction


def test_the_ends_of_a_trend_are_means_of_a_tenth() -> None:
    found = rlclinic.metric_trend(series([1.0, 3.0, *([2.0] * 16), 7.0, 9.0]))
    assert (found.first_value, found.last_value, found.change, found.change_pct) == (2.0, 8.0, 6.0, 300.0)


def test_metrics_are_correlated_where_both_have_a_step() -> None:
    found = metric_correlation(series(RISING), series(-RISING, first=3000.0))
    assert found.n_samples == 30
    assert found.value is not None
    assert found.value < -0.7
    assert found.strength == "strong"


def test_what_cannot_be_correlated_says_why() -> None:
    assert metric_correlation(series(RISING), series([1.0] * 60)).problem == "one of them is constant"
    assert metric_correlation(series(RISING), series(RISING, first=50.0)).problem == "fewer than 3 common steps"


def test_a_hyperparameter_is_told_as_it_was_in_force_and_as_configured() -> None:
    falling = Series("learning_rate", "train/learning_rate", np.arange(3.0), np.array([3e-4, 2e-4, 1e-4]))
    settings = {"learning_rate": Setting("learning_rate", 3e-4, "lr"), "gamma": Setting("gamma", 0.99, "discount")}
    run = Run("run", "run", series={"learning_rate": falling}, config=Config(settings))
    rate, discount = (rlclinic.hyperparameter_history(run, name) for name in ("lr", "discount"))
    assert (rate.is_scheduled, rate.summary.last, rate.configured) == (True, 1e-4, 3e-4)
    assert (discount.is_scheduled, discount.series, discount.configured) == (False, None, 0.99)
    with pytest.raises(UsageError, match="neither logs nor configures"):
        rlclinic.hyperparameter_history(run, "momentum")
