"""The markdown report: its words, and that text of a log stays text on GitHub."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from rlclinic.reports.diagnosis_markdown import diagnosis_markdown
from rlclinic.reports.markdown_words import cell, code, escaped, fenced, paragraph, words
from rlclinic.reports.page import Code
from tests.reports.cases import CASES
from tests.reports.hostile import ATTACKS, hostile_diagnosis
from tests.reports.kept import assert_golden

CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)


@pytest.mark.parametrize("name", CASES)
def test_the_report_reads_as_kept(name: str) -> None:
    assert_golden(f"{name}.md", diagnosis_markdown(CASES[name]()))


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_markup_of_a_log_is_left_alive(attack: str) -> None:
    text = CODE.sub("", diagnosis_markdown(hostile_diagnosis(attack)))
    ours = re.compile(r"</?details>|</?summary>|</?code>|<!-- -->")
    assert "<" not in ours.sub("", text)
    assert not re.search(r"(?<!\\)\]\(", text)
    assert not re.search(r"@\w|(?<!&)#\d", text)
    assert all(char.isprintable() or char == "\n" for char in text)
    assert [line for line in text.splitlines() if line.startswith("# Forged")] == []


@pytest.mark.parametrize("attack", [*ATTACKS, "a|b", "a\\|b", "|", "`|`"])
def test_every_row_of_a_table_has_as_many_cells_as_its_header(attack: str) -> None:
    lines = diagnosis_markdown(hostile_diagnosis(attack)).splitlines()
    width = 0
    for before, line in pairwise(lines):
        if re.fullmatch(r"\|(-{3}:?\|)+", line):
            width = _cells(before)
        if width and line.startswith("|"):
            assert _cells(line) == width, line
        elif not line.startswith("|"):
            width = 0


def _cells(line: str) -> int:
    # As cmark-gfm splits: a backslash takes the next character with it.
    return len(re.sub(r"\\.", "", line).strip().strip("|").split("|"))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("ep_rew_mean", "ep_rew_mean"),
        ("_private_", r"\_private\_"),
        ("a*b*c", r"a\*b\*c"),
        ("<b>", "&lt;b&gt;"),
        ("AT&T", "AT&amp;T"),
        ("@team", "@<!-- -->team"),
        ("see #12", "see #<!-- -->12"),
        ("x | y", r"x \| y"),
    ],
)
def test_words_keep_their_look(text: str, shown: str) -> None:
    assert escaped(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("- item", r"\- item"),
        ("# head", r"\# head"),
        ("3. third", r"3\. third"),
        ("0.5 of it", "0.5 of it"),
        ("-12 below", r"\-12 below"),
    ],
)
def test_a_paragraph_does_not_become_a_list(text: str, shown: str) -> None:
    assert paragraph(text) == shown


def test_a_code_span_cannot_be_closed_by_its_text() -> None:
    assert code("a`b") == "``a`b``"
    assert code("`a`") == "`` `a` ``"
    assert code("") == ""
    assert words((Code("x"), " and y")) == "`x` and y"


def test_a_pipe_in_code_does_not_end_a_cell() -> None:
    assert cell(Code("a|b")) == "<code>a&#124;b</code>"
    assert cell(Code("a")) == "`a`"


def test_a_fence_is_longer_than_any_inside() -> None:
    assert fenced(("```", "`````"))[0] == "``````text"
