"""The table of formats."""

from __future__ import annotations

from importlib import import_module
from inspect import signature

import pytest

from rlclinic.reports.formats import FORMATS, Context, Format, find_format, render
from tests.reports.cases import collapsed, healthy


@pytest.mark.parametrize("row", FORMATS, ids=lambda row: row.name)
def test_every_format_is_one_file_with_the_function_of_its_row(row: Format) -> None:
    function = getattr(import_module(f"rlclinic.reports.{row.module}"), row.function)
    names = list(signature(function).parameters)
    assert names[0] == ("diagnoses" if row.scope == "all" else "diagnosis")
    assert tuple(names[1:]) == row.takes or row.scope == "all"


@pytest.mark.parametrize("row", FORMATS, ids=lambda row: row.name)
def test_every_format_names_the_run(row: Format) -> None:
    assert "ppo_cartpole_high_lr" in render(row, [collapsed()], Context())


def test_several_runs_give_an_overview_the_worst_first_and_the_reports_follow_where_all_is_asked_for() -> None:
    text = render(find_format("text"), [healthy(), collapsed()], Context(width=80))
    assert text.startswith("2 runs: 1 in trouble, 1 healthy, 0 undecided\n")
    assert text.index("collapsed") < text.index("learning  ")
    assert "  learning-rate-too-high  1 run, likely: ppo_cartpole_high_lr" in text
    full = render(find_format("text"), [collapsed(), healthy()], Context(width=80, detail="full"))
    assert full.index("COLLAPSED") < full.index("LEARNING")
    page = render(find_format("html"), [collapsed(), healthy()], Context())
    assert page.count("<details>") == 2
    assert page.count("<!DOCTYPE html>") == 1
    assert max(map(len, text.splitlines())) <= 80
