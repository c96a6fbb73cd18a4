"""The scan finds the same words as a plain search does."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from rlclinic.readers.redaction.literal_scan import Hit, LiteralScan

WORDS = ("token", "Token", "sk-", "://", "key", "aa", "a", "kk")


def test_a_word_is_found_with_its_place() -> None:
    assert LiteralScan(WORDS).search("my Token: x") == Hit(3, 8, "Token")
    assert LiteralScan(WORDS).search("nothing hero") is None


def test_the_search_goes_on_behind_a_place() -> None:
    scan = LiteralScan(["key", "token"])

    assert scan.search("key token key", 3) == Hit(4, 9, "token")
    assert scan.search("key token key", 9) == Hit(10, 13, "key")


@settings(derandomize=True, max_examples=300)
@given(
    st.lists(st.text("abk-T", min_size=1, max_size=4), min_size=1, max_size=6, unique=True),
    st.text("abk-T ", max_size=30),
)
def test_something_is_found_exactly_if_a_word_occurs(words: list[str], text: str) -> None:
    hit = LiteralScan(words).search(text)

    assert (hit is not None) == any(word in text for word in words)
    assert hit is None or (text[hit.start : hit.end] == hit.word and hit.word in words)
