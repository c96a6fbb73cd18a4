"""Comparisons and histories in every format: their words, and that nothing of a run is ever markup."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from rlclinic.reports.compare_html import comparison_html
from rlclinic.reports.compare_json import comparison_object
from rlclinic.reports.compare_markdown import comparison_markdown
from rlclinic.reports.compare_text import comparison_text
from rlclinic.reports.history_formats import history_html, history_markdown, history_text
from rlclinic.reports.history_json import history_object
from rlclinic.reports.markdown_blocks import page_markdown
from rlclinic.reports.page import Section
from rlclinic.reports.run_json import dumps
from rlclinic.reports.wrap import cells
from tests.reports.comparisons import comparison, history
from tests.reports.hostile import ATTACKS
from tests.reports.kept import assert_golden

KEPT: dict[str, Callable[[], str]] = {
    "compare.txt": lambda: comparison_text(comparison()),
    "compare.md": lambda: comparison_markdown(comparison()),
    "compare.json": lambda: dumps(comparison_object(comparison())) + "\n",
    "history.txt": lambda: history_text(history()),
    "history.md": lambda: history_markdown(history()),
    "history.json": lambda: dumps(history_object(history())) + "\n",
}


@pytest.mark.parametrize("name", KEPT)
def test_the_report_reads_as_kept(name: str) -> None:
    assert_golden(name, KEPT[name]())


@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_line_of_the_text_is_wider_than_the_terminal(width: int) -> None:
    for text in (comparison_text(comparison("n" * 40), width=width), history_text(history("n" * 40), width=width)):
        # A table with a column per run cannot be narrower than its columns.
        assert max(cells(line) for line in text.splitlines()) <= max(width, 80)


def test_the_curves_of_all_runs_are_in_one_picture_with_a_colour_each() -> None:
    page = comparison_html(comparison())
    picture = page[page.index('<figure class="wide">') : page.index("</figure>")]
    assert [f'class="line line-{index}"' in picture for index in range(5)] == [True] * 4 + [False]
    assert "threshold 475" in picture
    assert page.count("<li><svg") == 5


def test_runs_of_different_environments_are_not_drawn_over_each_other() -> None:
    mixed = replace(comparison(), environments=("CartPole-v1", "Pendulum-v1"))
    assert '<figure class="wide">' not in comparison_html(mixed)


@pytest.mark.parametrize("page", [comparison_html(comparison()), history_html(history())], ids=["compare", "history"])
def test_a_page_needs_nothing_else(page: str) -> None:
    HTMLParser().feed(page)
    assert page.startswith("<!DOCTYPE html>")
    assert not re.search(r"<script|(?:src|href|url|@import)\s*[=(]", page, re.IGNORECASE)


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_name_of_a_run_becomes_markup(attack: str) -> None:
    for page in (comparison_html(comparison(attack, attack)), history_html(history(attack))):
        body = page[page.index("<body>") :]
        assert "<script" not in body
        assert "<img" not in body
        assert "<b>" not in body
        assert "\x1b" not in page
    for text in (comparison_markdown(comparison(attack, attack)), history_markdown(history(attack))):
        assert [line for line in text.splitlines() if line.startswith("# Forged")] == []
        assert "<script" not in re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", text)
    for text in (comparison_text(comparison(attack, attack)), history_text(history(attack))):
        assert all(char.isprintable() or char == "\n" for char in text)


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_title_of_a_section_becomes_markup(attack: str) -> None:
    sections = [Section("a", attack, ()), Section("b", attack, (), appendix=True)]
    text = page_markdown("Runs", "", sections)
    assert not re.search(r"<(?!/?details>|/?summary>|!-- -->)|\x1b", text)


def test_a_running_run_is_marked_as_progress() -> None:
    assert "39 so far" in comparison_text(comparison())


def test_the_json_of_both_says_its_schema_and_survives_a_round_trip() -> None:
    first, second = comparison_object(comparison()), history_object(history())
    assert first["schema"] == "rlclinic.compare/1"
    assert second["schema"] == "rlclinic.history/1"
    assert json.loads(dumps(first))["partings"][0]["moves"][1]["probability"] == 0.97
    assert json.loads(dumps(second))["suggestions"][0]["changes"] == [
        {"key": "learning_rate", "native_key": "learning_rate", "from": 0.0003, "to": 0.0001}
    ]


def test_a_history_without_a_usable_run_says_so() -> None:
    empty = replace(history(), best=(), separations=(), attempts=(), suggestions=(), enough=False)
    assert "No run here has a return" in history_text(empty)
