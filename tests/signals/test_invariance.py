"""What must not change a measurement, or must change it in a known way: shift, scale, density, gaps, step labels."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlclinic.model.series import FloatArray, Series

from .makers import correlated, made, measured, sigmoid, signal, white

# Of each signal: fields in the unit of the values, fields that move with the values, and fields without a unit.
DIFFERENCES = {
    "collapse": ("drop", "drop_low"),
    "trend": ("slope", "low", "high"),
}
LEVELS = {
    "area": ("mean",),
    "distribution": ("lower", "upper"),
    "forecast": ("value", "low", "high"),
    "level": ("value", "low", "high"),
}
PURE = {
    "crossing": ("reached_step", "reached_earliest"),
    "distribution": ("lower_share", "separation", "valley"),
    "drift": ("direction", "share"),
    "forecast": ("probability", "step"),
    "lead_lag": ("lag", "probability"),
    "oscillation": ("turns", "period", "regularity"),
    "plateau": ("since_step", "share", "confidence"),
    "spikes": ("share",),
    "trend": ("p_value",),
}
NAMES = sorted(PURE | LEVELS | DIFFERENCES)

SHAPES = {
    "climb": sigmoid(300) + 0.1 * white(300, 1),
    "collapse": np.where(np.arange(300) < 200, sigmoid(300), 0.05) + 0.1 * white(300, 2),
    "slow noise": correlated(300, 0.9, seed=3)[0],
    "swings": np.sin(np.arange(300) / 10.0) + 0.1 * white(300, 4),
    "spikes": np.where(np.arange(300) % 90 == 40, 9.0, 0.1 * white(300, 5)),
}


def check(before: Any, after: Any, fields: tuple[str, ...], factor: float = 1.0, shift: float = 0.0) -> None:
    """After is factor * before + shift, field by field."""
    for field in fields:
        old, new = getattr(before, field), getattr(after, field)
        if old is None or new is None:
            assert old is new, field
            continue
        expected = old * factor + shift
        slack = 1e-6 * (abs(factor) + 1e-6 * abs(shift))
        assert new == pytest.approx(expected, rel=1e-6, abs=slack, nan_ok=True), field


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", SHAPES)
@given(exponent=st.integers(-200, 200))
@settings(derandomize=True, max_examples=3)
def test_values_in_another_unit_change_only_the_unit(name: str, shape: str, exponent: int) -> None:
    values, factor = SHAPES[shape], 10.0**exponent
    before = measured(name, made(values), threshold=0.5)
    after = measured(name, made(values * factor), threshold=0.5 * factor)
    check(before, after, PURE.get(name, ()))
    for field in DIFFERENCES.get(name, ()) + LEVELS.get(name, ()):
        expected = getattr(before, field) * factor
        assert getattr(after, field) == pytest.approx(expected, rel=1e-6, abs=1e-9 * factor, nan_ok=True), field


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", SHAPES)
@given(shift=st.sampled_from([-1000.0, -1.0, 3.0, 64.0, 1e5]))
@settings(derandomize=True, max_examples=3)
def test_a_shift_moves_levels_and_nothing_else(name: str, shape: str, shift: float) -> None:
    values = SHAPES[shape]
    before = measured(name, made(values), threshold=0.5)
    after = measured(name, made(values + shift), threshold=0.5 + shift)
    check(before, after, PURE.get(name, ()))
    check(before, after, DIFFERENCES.get(name, ()))
    check(before, after, LEVELS.get(name, ()), shift=shift)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", SHAPES)
def test_a_point_logged_twice_counts_once(name: str, shape: str) -> None:
    values = SHAPES[shape]
    before = made(values)
    after = made(np.repeat(values, 2), np.repeat(before.steps, 2))
    once, twice = measured(name, before), measured(name, after)
    if name in ("distribution", "spikes"):
        return check(once, twice, ("share",) if name == "spikes" else ("lower_share",))
    check(once, twice, PURE.get(name, ()))
    return check(once, twice, LEVELS.get(name, ()) + DIFFERENCES.get(name, ()))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", SHAPES)
def test_values_that_are_nan_are_measured_as_if_they_were_missing(name: str, shape: str) -> None:
    values = SHAPES[shape].copy()
    gone = np.random.default_rng(0).random(values.size) < 0.2
    gone[-1] = False
    missing = made(values[~gone], made(values).steps[~gone])
    values[gone] = math.nan
    assert repr(measured(name, made(values))) == repr(measured(name, missing))


@given(seed=st.integers(0, 1000))
@settings(derandomize=True, max_examples=15)
def test_a_third_of_the_points_missing_leaves_the_conclusions(seed: int) -> None:
    index = np.sort(np.random.default_rng(seed).permutation(300)[:200])
    whole, part = made(SHAPES["climb"]), made(SHAPES["climb"][index], index * 10.0)
    assert signal("level")(part).value == pytest.approx(signal("level")(whole).value, abs=0.1)
    assert signal("trend")(part).p_value < 0.01
    assert signal("crossing")(part, 0.5).reached_step == pytest.approx(1200.0, abs=300.0)
    assert signal("area")(part).mean == pytest.approx(signal("area")(whole).mean, abs=0.06)


@pytest.mark.parametrize("n", [400, 20_000])
def test_every_second_point_tells_the_same_story(n: int) -> None:
    values = sigmoid(n) + 0.2 * white(n, 7)
    whole = made(values)
    half = Series("m", "m", whole.steps[::2], whole.values[::2])
    for name, field, slack in [
        ("level", "value", 0.1),
        ("drift", "share", 0.1),
        ("area", "mean", 0.03),
    ]:
        old, new = (getattr(signal(name)(series), field) for series in (whole, half))
        assert new == pytest.approx(old, abs=slack), (name, field)


@given(power=st.floats(0.3, 3.0), seed=st.integers(0, 20))
@settings(derandomize=True, max_examples=20)
def test_a_trend_test_looks_only_at_the_order_of_steps_and_values(power: float, seed: int) -> None:
    values = white(200, seed) + np.linspace(0.0, 1.0, 200)
    steps = np.arange(1.0, 201.0)
    plain = signal("trend")(made(values, steps))
    bent = signal("trend")(made(np.exp(values), steps**power))
    assert bent.p_value == pytest.approx(plain.p_value, rel=1e-9)


@pytest.mark.parametrize("factor", [0.5, 4.0, 1000.0])
@pytest.mark.parametrize("name", NAMES)
def test_counting_steps_in_another_unit_changes_only_steps(name: str, factor: float) -> None:
    values = SHAPES["collapse"]
    before = measured(name, made(values))
    after = measured(name, made(values, np.arange(values.size) * 10.0 * factor))
    steps = {"reached_step", "reached_earliest", "step", "lag", "period", "since_step"}
    fields = PURE.get(name, ()) + LEVELS.get(name, ())
    check(before, after, tuple(field for field in fields if field not in steps))
    check(before, after, tuple(field for field in fields if field in steps), factor=factor)


def test_a_mirrored_series_has_mirrored_numbers() -> None:
    values: FloatArray = SHAPES["climb"]
    up, down = made(values), made(-values)
    assert signal("trend")(down).slope == pytest.approx(-signal("trend")(up).slope)
    assert signal("drift")(down).direction == -signal("drift")(up).direction
    assert signal("forecast")(down, -2.0, 9e3, better="down").probability == pytest.approx(
        signal("forecast")(up, 2.0, 9e3).probability
    )
