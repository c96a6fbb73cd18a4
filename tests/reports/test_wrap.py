"""Lines of a terminal: nothing is lost, nothing is too wide."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from rlclinic.reports.page import Section, Table
from rlclinic.reports.text_blocks import page_text
from rlclinic.reports.wrap import cells, cut, pad, wrap

text = st.text(st.sampled_from("ab _/-.,%倒é\u0301 "), max_size=300)


@settings(derandomize=True, max_examples=300)
@given(text, st.integers(20, 60))
def test_wrapping_loses_no_character_and_keeps_the_width(words: str, width: int) -> None:
    lines = wrap(words, width, indent="  - ", hanging="    ")
    assert "".join("".join(line[4:].split()) for line in lines) == "".join(words.split())
    assert all(cells(line) <= width or " %" in line for line in lines)


@settings(derandomize=True, max_examples=200)
@given(text, st.integers(1, 40))
def test_a_cut_text_fits_and_shows_the_cut(words: str, width: int) -> None:
    shown = cut(words, width)
    assert cells(shown) <= width
    assert shown == words or shown.endswith("…")


def test_a_percent_sign_stays_with_its_number() -> None:
    assert wrap("aaaa bbbb 12% cc", 12) == ["aaaa bbbb", "12% cc"]


def test_a_long_name_is_broken_at_a_joint() -> None:
    assert wrap("diagnostics/advantage_abs_max", 20) == ["diagnostics/", "advantage_abs_max"]


def test_wide_characters_are_padded_by_cells() -> None:
    assert pad("倒", 4) == "倒  "
    assert pad("倒", 4, right=True) == "  倒"


def test_the_widest_column_of_a_table_gives_first_so_that_short_cells_stay_whole() -> None:
    table = Table(("config", "worse", "p"), (("x" * 80, "at most 128 (42)", "0.02"),), cut=(1, 0))
    text = page_text("Title", "", "good", "Reason.", (Section("key", "Part", (table,)),), width=60)
    assert "at most 128 (42)" in text
    assert max(len(line) for line in text.splitlines()) <= 60
