"""Step counters of progress bars."""

from __future__ import annotations

from rlclinic.readers.consoles.progress_bars import bar_steps, evenly_spaced_steps


def test_the_last_count_before_a_row_is_its_step() -> None:
    lines = ["1/9 [00:01<00:08, 1.0s/it]", "row", "2/9 [00:02<00:07]", "3/9 [00:03<00:06]", "row"]
    assert bar_steps(lines, [2, 5]) == [1, 3]


def test_a_bar_that_stands_still_is_not_believed() -> None:
    lines = ["2/2 [00:01<00:00, 1.0s/it]", "row", "row", "row"]
    assert bar_steps(lines, [2, 3, 4]) is None


def test_a_bar_that_begins_after_the_first_row_is_not_believed() -> None:
    assert bar_steps(["row", "5/9 [00:01<00:08]", "row"], [1, 3]) is None


def test_a_resumed_bar_may_go_back_once() -> None:
    counts = [*range(1, 20), *range(15, 30)]
    lines = [text for count in counts for text in (f"{count}/99 [00:01<00:08]", "row")]
    assert bar_steps(lines, list(range(2, len(lines) + 1, 2))) == counts


def test_fractions_and_dates_are_no_counters() -> None:
    assert bar_steps(["12/31 [note]", "1/2/3 [00:01<", "row"], [3]) is None


def test_no_rows_have_no_steps() -> None:
    assert bar_steps(["1/9 [00:01<00:08]"], []) is None
    assert evenly_spaced_steps(["1/9 [00:01<00:08]"], []) is None
