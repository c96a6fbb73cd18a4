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
    assert ({"width", "colour"} <= set(names)) == row.styled


@pytest.mark.parametrize("row", FORMATS, ids=lambda row: row.name)
def test_every_format_names_the_run(row: Format) -> None:
    assert "ppo_cartpole_high_lr" in render(row, [collapsed()], Context())


def test_reports_of_several_runs_follow_each_other() -> None:
    text = render(find_format("text"), [collapsed(), healthy()], Context(width=80))
    assert text.index("COLLAPSED") < text.index("LEARNING")
    assert max(map(len, text.splitlines())) <= 80
