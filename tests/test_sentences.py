"""Every sentence of a report agrees with its own numbers: what rose ends higher, what fell ends lower."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlclinic.engine import diagnose
from rlclinic.model.diagnosis import Diagnosis
from rlclinic.model.numbers import plain_numbers
from rlclinic.readers.discover import find
from tests.conftest import RUNS, diagnosis_of
from tests.rules.scene import scene

NUMBER = r"(-?\d[\d,]*\.?\d*(?:e[-+]?\d+)?)"
BETWEEN = r"(?: [a-z]+ step [\d,]+| at [\d,]+ env steps)?"
ROSE = re.compile(rf"\b(?:rose|climbed) from {NUMBER}{BETWEEN} to {NUMBER}")
FELL = re.compile(rf"\b(?:fell|declined|sank|shrank) from {NUMBER}{BETWEEN} to {NUMBER}")
BY = re.compile(rf"\b(?:rose|rises|climbed) by {NUMBER}")


def sentences(told: Diagnosis) -> Iterator[str]:
    """All that a report says in prose."""
    yield told.reason
    yield from (finding.summary for finding in told.findings)
    yield from told.decision_path
    if told.outlook is not None:
        yield told.outlook.summary


def contradictions(text: str) -> list[str]:
    """Parts of a sentence whose verb and numbers disagree."""
    found = [m[0] for m in ROSE.finditer(text) if not _value(m[2]) > _value(m[1])]
    found += [m[0] for m in FELL.finditer(text) if not _value(m[2]) < _value(m[1])]
    return found + [m[0] for m in BY.finditer(text) if not _value(m[1]) > 0]


def _value(text: str) -> float:
    return float(text.replace(",", ""))


def test_a_contradiction_is_found() -> None:
    assert contradictions("r rose from -387 to -808 over 5,000 env steps") == ["rose from -387 to -808"]
    assert contradictions("r rose from 25.58 to 9.377 over 5,000 env steps") == ["rose from 25.58 to 9.377"]
    assert contradictions("r fell from 1 to 2") == ["fell from 1 to 2"]
    assert contradictions("r rose by -3 over the last third") == ["rose by -3"]


def test_what_did_not_move_stayed() -> None:
    assert plain_numbers("r went from -500 to -500.") == "r stayed at -500."
    assert plain_numbers("r went from 1.5 to 1.5, kl went from 2 to 2.5") == "r stayed at 1.5, kl went from 2 to 2.5"
    assert plain_numbers("r went from 2.5e+05 to 2.5e+05") == "r stayed at 250,000"


@pytest.mark.parametrize("run", sorted(str(Path(ref.name).relative_to(RUNS)) for ref in find(RUNS)))
def test_no_report_of_a_recorded_run_contradicts_itself(run: str) -> None:
    told = diagnosis_of(run)
    assert [wrong for text in sentences(told) for wrong in contradictions(text)] == []
    assert [text for text in sentences(told) if re.search(r"went from (\S+) to \1[\s,;.]*$", text)] == []


@settings(derandomize=True, max_examples=40)
@given(
    levels=st.lists(st.floats(-1000, 1000), min_size=2, max_size=5),
    noise=st.floats(0, 50),
    points=st.integers(4, 80),
    seed=st.integers(0, 1000),
)
def test_no_report_of_any_curve_contradicts_itself(levels: list[float], noise: float, points: int, seed: int) -> None:
    at = np.linspace(0, len(levels) - 1, points)
    values = np.interp(at, np.arange(len(levels)), levels) + noise * np.random.default_rng(seed).standard_normal(points)
    told = diagnose(scene(series={"return/train": values}).run)
    assert [wrong for text in sentences(told) for wrong in contradictions(text)] == []
