"""Lists of numbers in a text, with the names that stand before them."""

from __future__ import annotations

import time

from rlclinic.readers.parts.number_lists import number_lists

NUMBERS = ", ".join(str(number) for number in range(12))


def test_a_list_has_the_name_that_stands_before_it() -> None:
    text = f"lengths = [{NUMBERS}]\nrewards: np.array([{NUMBERS}])"
    table = number_lists(text, "notes.txt")
    assert table is not None
    assert set(table.columns) == {"lengths", "rewards"}
    assert table.rows == 12


def test_a_megabyte_of_words_is_passed_over() -> None:
    words = "episode 1 " * 100_000
    began = time.process_time()
    assert number_lists(words, "train.txt") is None
    assert number_lists(f"{words} rewards = [{NUMBERS}]", "train.txt") is not None
    assert time.process_time() - began < 1.0
