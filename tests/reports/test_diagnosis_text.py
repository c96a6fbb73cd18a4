"""The terminal report: its words, its width, its colours, and that no log can act through it."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from rlclinic.model.diagnosis import Cause, Diagnosis, Verdict
from rlclinic.model.finding import NotChecked
from rlclinic.model.run import Run
from rlclinic.model.series import Series
from rlclinic.reports.diagnosis_text import diagnosis_text
from rlclinic.reports.wrap import cells
from tests.reports.cases import CASES, collapsed, healthy
from tests.reports.hostile import ATTACKS, hostile_diagnosis
from tests.reports.kept import assert_golden

COLOUR = re.compile(r"\x1b\[[0-9;]*m")


@pytest.mark.parametrize("name", CASES)
def test_the_report_reads_as_kept(name: str) -> None:
    assert_golden(f"{name}.txt", diagnosis_text(CASES[name]()))


def test_a_narrow_terminal_gets_the_same_words_in_less_width() -> None:
    assert_golden("collapsed_80.txt", diagnosis_text(collapsed(), width=80))


@pytest.mark.parametrize("width", [60, 80, 100, 160])
@pytest.mark.parametrize("name", CASES)
def test_no_line_is_wider_than_the_terminal(name: str, width: int) -> None:
    lines = diagnosis_text(CASES[name](), width=width).splitlines()
    assert [line for line in lines if cells(line) > width] == []


def test_colours_add_nothing_but_colours() -> None:
    plain = diagnosis_text(collapsed())
    painted = diagnosis_text(collapsed(), colour=True)
    assert "\x1b" not in plain
    assert COLOUR.sub("", painted) == plain
    assert "\x1b[1;31mCOLLAPSED\x1b[0m" in painted
    assert "\x1b[1;32mLEARNING\x1b[0m" in diagnosis_text(healthy(), colour=True)


@pytest.mark.parametrize("style", ["plain", "coloured"])
@pytest.mark.parametrize("attack", ATTACKS)
def test_text_of_a_log_cannot_act_on_the_terminal(attack: str, style: str) -> None:
    text = COLOUR.sub("", diagnosis_text(hostile_diagnosis(attack), width=100, colour=style == "coloured"))
    assert all(char.isprintable() or char == "\n" for char in text)
    assert "Forged heading" not in [line.strip("# ") for line in text.splitlines()]
    assert max(cells(line) for line in text.splitlines()) <= 100


def test_wide_characters_count_as_two_cells() -> None:
    run = replace(collapsed().run, environment="倒立摆 " * 30)
    lines = diagnosis_text(replace(collapsed(), run=run), width=80).splitlines()
    assert [line for line in lines if cells(line) > 80] == []


def test_a_section_without_content_is_left_out() -> None:
    text = diagnosis_text(Diagnosis(Run("bare", "runs/bare"), Verdict.INSUFFICIENT_DATA, "nothing was logged"))
    titles = [line for line in text.splitlines() if line and not line.startswith(" ")]
    assert titles == ["bare  INSUFFICIENT-DATA", "Performance", "Run", "Findings"]


def test_a_healthy_run_is_told_so_before_any_candidate() -> None:
    lines = diagnosis_text(healthy()).splitlines()
    first = lines[lines.index("Root cause") + 1]
    assert first == "  Nothing wrong was found: as far as it can be judged, the run is healthy (78%)."


def test_a_healthy_run_that_is_not_certain_is_not_called_certain() -> None:
    causes = (Cause("nothing-wrong", "nothing-wrong", "none", "nothing wrong", 0.41),)
    text = diagnosis_text(replace(healthy(), causes=causes))
    assert "Nothing wrong was found, which is not certain: that the run is healthy leads with 41%." in text


def test_ranges_of_classic_algorithms_are_not_held_against_language_models() -> None:
    run = collapsed().run
    assert "below 0.02" in diagnosis_text(replace(collapsed(), run=run), detail="full")
    lengths = Series("response_length", "len", np.arange(9.0), np.ones(9), known=True)
    assert "below 0.02" not in diagnosis_text(
        replace(collapsed(), run=replace(run, series={**run.series, "response_length": lengths}), next_steps=()),
        detail="full",
    )


def test_an_unknown_cause_is_not_dressed_up_as_an_answer() -> None:
    causes = (Cause("unknown", "unknown", "none", "unknown", 0.7), Cause("batch-too-small", "x", "root", "x", 0.2))
    text = diagnosis_text(replace(collapsed(), causes=causes))
    assert "No known cause fits this run well: an unknown cause leads with 70%." in text
    assert "Most likely" not in text


def test_a_mechanism_sends_the_reader_on_to_its_root() -> None:
    causes = (Cause("gradient-explosion", "policy-too-fast", "mechanism", "gradient explosion", 0.8),)
    text = diagnosis_text(replace(collapsed(), causes=causes), width=160)
    assert "Most likely: gradient explosion (80%)." in text
    assert "look for the root among the other candidates" in text


def test_checks_that_miss_the_same_thing_stand_on_one_line() -> None:
    missing = tuple(NotChecked(f"OPT0{index}", "x", ("grad_norm|grad_norm/actor",)) for index in range(3))
    text = diagnosis_text(replace(collapsed(), not_checked=missing), detail="full")
    assert "3 checks were not made" in text
    assert "  - log grad_norm (gradient norm): OPT00, OPT01, OPT02" in text


def test_a_setting_is_asked_for_only_where_there_is_a_config_to_put_it_in() -> None:
    missing = (NotChecked("DAT07", "x", ("config:gamma|config:discount",)),)
    assert "  - add the config of the run: DAT07" in diagnosis_text(
        replace(collapsed(), not_checked=missing), detail="full"
    )
    assert "  - set gamma in the config: DAT07" in diagnosis_text(
        replace(healthy(), not_checked=missing), detail="full"
    )


def test_values_that_are_not_finite_are_counted_and_placed() -> None:
    values = np.ones(40)
    values[30:] = np.nan
    series = {
        "return/train": Series("return/train", "reward", np.arange(40.0), np.arange(40.0), known=True),
        "value_loss": Series("value_loss", "vf", np.arange(40.0), values, known=True),
    }
    found = Diagnosis(Run("r", "r", series=series, steps=39), Verdict.LEARNING, "it learns")
    text = diagnosis_text(found, detail="full")
    assert "value_loss: 10 of 40 points are not finite (!), the first at step 30" in text
    row = next(line for line in text.splitlines() if line.strip().startswith("value_loss "))
    assert row.split()[1:3] == ["1", "nan"]
    assert "!" in row
