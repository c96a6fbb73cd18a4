"""Lines of a terminal: nothing is lost, nothing is too wide."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from rlclinic.reports.wrap import cells, cut, pad, wrap

text = st.text(st.sampled_from("ab _/-.,%倒é\u0301 "), max_size=300)


@settings(derandomize=True, deadline=None, max_examples=300)
@given(text, st.integers(20, 60))
def test_wrapping_loses_no_character_and_keeps_the_width(words: str, width: int) -> None:
    lines = wrap(words, width, indent="  - ", hanging="    ")
    assert "".join("".join(line[4:].split()) for line in lines) == "".join(words.split())
    assert all(cells(line) <= width or " %" in line for line in lines)


@settings(derandomize=True, deadline=None, max_examples=200)
@given(text, st.integers(1, 40))
def test_a_cut_text_fits_and_shows_the_cut(words: str, width: int) -> None:
    shown = cut(words, width)
    assert cells(shown) <= width
    assert shown == words or shown.endswith("…")


def test_a_percent_sign_stays_with_its_number() -> None:
    assert wrap("aaaa bbbb 12 % cc", 12) == ["aaaa bbbb", "12 % cc"]


def test_a_long_name_is_broken_at_a_joint() -> None:
    assert wrap("diagnostics/advantage_abs_max", 20) == ["diagnostics/", "advantage_abs_max"]


def test_wide_characters_are_padded_by_cells() -> None:
    assert pad("倒", 4) == "倒  "
    assert pad("倒", 4, right=True) == "  倒"
