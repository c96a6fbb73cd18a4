"""The fuzzer itself, and the inputs that it once found."""

from __future__ import annotations

import warnings
from contextlib import suppress
from pathlib import Path

import pytest
from bench.fuzz.opened import seeds
from bench.fuzz.targets import INPUT, PARSED, Case, kinds_of, parser_case, targets
from bench.fuzz.work import DOCUMENTED, Failure, Tally, attempt, keep, kept, measured, shrunk

HOSTILE = Path(__file__).parents[1] / "fixtures" / "hostile"
INPUTS = 300


def test_mutated_inputs_raise_only_documented_errors() -> None:
    tally = Tally()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in range(INPUTS):
            measured(parser_case(7, number), number, tally)
    assert {failure.where: failure.number for failure in tally.failures.values()} == {}
    assert tally.inputs == INPUTS
    assert 0 < tally.refused < INPUTS


def test_an_input_follows_from_its_seed_and_number() -> None:
    assert [parser_case(3, number) for number in range(20)] == [parser_case(3, number) for number in range(20)]
    assert parser_case(3, 1) != parser_case(4, 1)


@pytest.mark.parametrize(("place", "case"), tuple(kept(HOSTILE)), ids=lambda item: getattr(item, "name", ""))
def test_an_input_that_once_failed_is_read_or_refused(place: Path, case: Case) -> None:
    with suppress(*DOCUMENTED):
        assert attempt(case) is None


def test_a_failure_is_told_by_its_innermost_line_and_kept_small(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(data: bytes) -> None:
        if b"bad" in data:
            raise OverflowError("too large")

    monkeypatch.setitem(PARSED, "csv", (("csv",), fail))
    tally = Tally()
    measured(Case("csv", {INPUT: b"x" * 300 + b"bad" + b"y" * 300}), 5, tally)
    (failure,) = tally.failures.values()
    assert "OverflowError" in failure.where
    small = shrunk(failure)
    assert small.files == {INPUT: b"bad"}
    keep(small, tmp_path)
    assert [case for _, case in kept(tmp_path)] == [Case("csv", {INPUT: b"bad"})]


def test_of_equal_failures_the_smallest_input_is_kept_and_all_are_counted() -> None:
    tally = Tally()
    for size in (9, 3, 6):
        tally.fail(Failure("a.py:1 KeyError", "", "csv", size, {INPUT: bytes(size)}))
    (failure,) = tally.failures.values()
    assert (failure.count, failure.size) == (3, 3)


def test_every_target_has_seeds() -> None:
    assert all(kind in seeds() for name in targets() for kind in kinds_of(name))
