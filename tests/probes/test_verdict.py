"""The two-stage verdict."""

from __future__ import annotations

import pytest

from rlclinic.probes.verdict import decide, failing_chance, most_seeds_needed


@pytest.mark.parametrize(
    ("right", "wrong", "verdict"),
    [
        (0, 0, None), (4, 0, None), (5, 0, "pass"), (5, 1, None), (6, 1, None), (7, 1, "pass"), (0, 4, "fail"),
        (4, 4, "fail"), (5, 3, None), (6, 2, None), (12, 3, None), (13, 3, "pass"), (12, 4, "fail"),
        (9, 4, "fail"), (13, 2, "pass"),
    ],
)  # fmt: skip
def test_a_verdict_comes_once_it_is_certain_or_five_seeds_agree(right: int, wrong: int, verdict: str | None) -> None:
    assert decide(right, wrong) == verdict


def test_the_preflight_stops_at_two_right_seeds_and_a_wrong_one_brings_the_full_rule() -> None:
    assert decide(2, 0, quick=True) == "pass"
    assert decide(2, 1, quick=True) is None
    assert decide(7, 1, quick=True) == "pass"


def test_one_seed_decides_an_exact_contract() -> None:
    assert decide(1, 0, exact=True) == "pass"
    assert decide(0, 1, exact=True) == "fail"


def test_no_seed_is_started_in_vain() -> None:
    for right in range(14):
        for wrong in range(5):
            if decide(right, wrong) is not None or right + wrong > 16:
                continue
            more = most_seeds_needed(right, wrong)
            assert more >= 1
            # Until the last of them, no outcome of the others can decide.
            assert all(decide(right + won, wrong + more - 1 - won) is None for won in range(more))


def test_the_chances_of_a_wrong_verdict_are_those_of_the_documentation() -> None:
    assert 1 / failing_chance(0.99) == pytest.approx(90_000, rel=0.01)
    assert 1 / failing_chance(0.95) == pytest.approx(209, rel=0.01)
    assert 1 / (1 - failing_chance(0.5)) == pytest.approx(18, rel=0.02)
    assert 1 / (1 - failing_chance(0.5, quick=True)) == pytest.approx(3.84, rel=0.01)


def test_a_trainer_that_is_always_or_never_right_is_judged_so() -> None:
    assert failing_chance(1.0) == 0.0
    assert failing_chance(0.0) == 1.0
