"""Characters that act on a terminal or cannot be seen leave through no format: JSON escapes them, others replace."""

from __future__ import annotations

import json
import sys
import unicodedata

import pytest

from rlclinic.reports.formats import FORMATS, Context, Format, render
from rlclinic.reports.run_json import dumps, show_object
from rlclinic.reports.run_text import show_text
from rlclinic.reports.text import printable
from tests.reports.hostile import hostile_diagnosis

# C0 and C1 controls, DEL, bidi and other format characters, line and paragraph separators, no-break spaces, tags.
INVISIBLE = "".join(
    char
    for char in map(chr, range(sys.maxunicode + 1))
    if unicodedata.category(char) in ("Cc", "Cf", "Zl", "Zp", "Zs") and char not in " \n"
)
NAMED = "\x1b\x7f\x85\x9b\u061c\u200b\u200e\u202a\u202e\u2028\u2029\u2066\u2069\ufeff\U000e0041"


def is_seen(text: str) -> bool:
    return all(char.isprintable() or char == "\n" for char in text)


def test_the_characters_that_matter_are_among_those_tried() -> None:
    assert set(NAMED) <= set(INVISIBLE)


@pytest.mark.parametrize("row", FORMATS, ids=lambda row: row.name)
def test_no_format_lets_one_through(row: Format) -> None:
    assert is_seen(render(row, [hostile_diagnosis(f"a{INVISIBLE}b")], Context()))


def test_show_lets_none_through() -> None:
    run = hostile_diagnosis(f"a{INVISIBLE}b").run
    assert is_seen(show_text(run, everything=True))
    assert is_seen(dumps(show_object(run)))


@pytest.mark.parametrize("indent", [None, 2])
def test_json_tells_every_character_all_the_same(indent: int | None) -> None:
    value = {f"key{INVISIBLE}": [f"ä 中 😀 é {INVISIBLE}", "\udc80 half a pair", 1.5, None]}
    text = dumps(value, indent=indent)
    assert is_seen(text)
    assert json.loads(text) == value
    assert "ä 中 😀 é" in text, "letters of any script stay as they are"


def test_printable_keeps_lines_and_letters() -> None:
    assert printable("ä 中 😀\nnext") == "ä 中 😀\nnext"
    assert printable(INVISIBLE) == "\ufffd" * len(INVISIBLE)
