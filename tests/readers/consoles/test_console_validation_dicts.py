"""The pretty-printed dict of a validation."""

from __future__ import annotations

from rlclinic.readers.consoles.validation_dicts import read_validation

WRAPPED = [
    "(\"Initial validation metrics: {'val-aux/aime/reward/mean@30': \"",
    " \"np.float64(-0.75), 'val-aux/aime/reward/std@30': \"",
    " \"np.float64(0.25), 'val-core/aime/acc/best@30/mean': nan}\")",
    "step:0 - val/loss:1",
]


def test_a_dict_wrapped_over_lines_is_read_whole() -> None:
    found = read_validation(WRAPPED, 0)
    assert found.used == 3
    assert found.values["val-aux/aime/reward/mean@30"] == -0.75
    assert found.values["val-aux/aime/reward/std@30"] == 0.25
    assert len(found.values) == 3
    assert found.problems == ()


def test_lines_of_other_processes_between_the_pieces_are_passed_over() -> None:
    lines = [WRAPPED[0], "NCCL version 2.20.5", *WRAPPED[1:]]
    found = read_validation(lines, 0)
    assert found.values["val-aux/aime/reward/std@30"] == 0.25
    assert found.used == 4


def test_a_dict_that_breaks_off_keeps_its_whole_numbers_and_says_so() -> None:
    found = read_validation(WRAPPED[:2], 0)
    assert found.values == {"val-aux/aime/reward/mean@30": -0.75}
    assert found.problems == ("line 1: validation dict not whole, 1 numbers kept",)


def test_no_validation_is_no_row() -> None:
    assert read_validation(["'Final validation metrics: None'"], 0).values == {}
