"""What holds for every signal: its shape, its manners on bad input, its cost to import."""

from __future__ import annotations

import dataclasses
import math
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rlclinic.signals
from rlclinic.model.series import Series

from .makers import SIGNALS, made, measured, white

FOLDER = Path(rlclinic.signals.__file__).parent

NUMBERS = st.one_of(
    st.sampled_from([0.0, 1.0, -1.0, 1e300, -1e300, 1.7e308, 5e-324, 1e-300, math.nan, math.inf, -math.inf]),
    st.floats(allow_nan=True, allow_infinity=True),
    st.floats(-100, 100).map(lambda value: round(value, 1)),
)


@st.composite
def series(draw: st.DrawFn) -> Series:
    """Series of up to forty points, with equal steps and hostile values."""
    values = draw(st.lists(NUMBERS, max_size=40))
    if draw(st.booleans()):
        values = [draw(NUMBERS)] * len(values)
    gaps = draw(st.lists(st.sampled_from([0.0, 1.0, 2.0, 1000.0, 1e12]), min_size=len(values), max_size=len(values)))
    return made(values, np.cumsum(gaps), decimals=draw(st.sampled_from([None, 0, 3])))


def test_there_is_one_file_per_signal_with_one_public_function_of_its_name() -> None:
    files = {path.stem for path in FOLDER.glob("*.py") if not path.stem.startswith("_")}
    assert files == set(SIGNALS)
    for name in SIGNALS:
        module = import_module(f"rlclinic.signals.{name}")
        own = [key for key, value in vars(module).items() if _is_public_function(key, value, module.__name__)]
        assert own == [name]


def _is_public_function(key: str, value: Any, module: str) -> bool:
    return callable(value) and not isinstance(value, type) and value.__module__ == module and not key.startswith("_")


def test_importing_all_signals_imports_neither_scipy_nor_ruptures() -> None:
    imports = ";".join(f"import rlclinic.signals.{name}" for name in SIGNALS)
    code = f"{imports};import sys;print([m for m in ('scipy','ruptures') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_importing_the_package_imports_no_signal() -> None:
    code = "import rlclinic.signals,sys;print([m for m in sys.modules if m.startswith('rlclinic.signals.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", SIGNALS)
@given(data=series())
@settings(derandomize=True, max_examples=40)
def test_hostile_values_yield_a_result_without_error_or_warning(name: str, data: Series) -> None:
    result = measured(name, data)
    assert result.n <= 2 * len(data)


@pytest.mark.parametrize("name", SIGNALS)
@given(data=series())
@settings(derandomize=True, max_examples=10)
def test_the_same_series_always_gives_the_same_result(name: str, data: Series) -> None:
    assert repr(measured(name, data)) == repr(measured(name, made(data.values, data.steps, data.decimals)))


@pytest.mark.parametrize("name", [name for name in SIGNALS if name != "resample"])
@pytest.mark.parametrize("values", [[], [math.nan] * 20, [1.0], [1.0, 2.0]], ids=["none", "nan", "one", "two"])
def test_too_few_points_say_so_and_leave_the_numbers_unknown(name: str, values: list[float]) -> None:
    result = measured(name, made(values))
    if result.enough:
        assert name in ("area", "constants", "crossing")
        return
    assert result.n <= len(values)
    doubtful = ("low", "high", "p_value", "slope", "probability", "scale", "effect", "confidence", "period", "lag")
    assert all(math.isnan(value) for key, value in _numbers(result) if key in doubtful)


def _numbers(result: Any) -> Iterator[tuple[str, float]]:
    for field in dataclasses.fields(result):
        value = getattr(result, field.name)
        if isinstance(value, int | float) and not isinstance(value, bool):
            yield field.name, float(value)


@pytest.mark.parametrize("name", SIGNALS)
def test_results_are_frozen(name: str) -> None:
    result = measured(name, made(white(50)))
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.n = 1


@pytest.mark.parametrize(
    ("name", "field", "expected"),
    [
        ("trend", "p_value", 1.0),
        ("trend", "slope", 0.0),
        ("spikes", "largest", ()),
        ("oscillation", "turns", 0),
        ("drift", "direction", 0.0),
        ("collapse", "drop", 0.0),
        ("plateau", "share", 1.0),
        ("plateau", "confidence", 1.0),
        ("change_points", "points", ()),
    ],
)
def test_a_constant_series_has_no_noise_no_trend_and_no_surprise(name: str, field: str, expected: object) -> None:
    assert getattr(measured(name, made(np.full(60, 0.1))), field) == expected


@pytest.mark.parametrize("name", SIGNALS)
def test_every_value_of_1e300_is_measured_like_any_other(name: str) -> None:
    values = white(80)
    small = measured(name, made(values))
    large = measured(name, made(values * 2.0**996), threshold=0.5 * 2.0**996)
    if name != "resample":
        assert large.enough == small.enough
    for (field, before), (_, after) in zip(_numbers(small), _numbers(large), strict=True):
        if field == "p_value" or field == "share":
            assert after == pytest.approx(before, rel=1e-6, nan_ok=True), field
