"""The console of AlphaZero General."""

from __future__ import annotations

from pathlib import Path

import pytest

from rlclinic.readers.consoles.arena import parse_arena
from rlclinic.readers.open import read


def match(won: int, lost: int, drawn: int, *, kept: bool = True) -> list[str]:
    return [
        "2024-01-01 10:00:00 host Coach[7] INFO PITTING AGAINST PREVIOUS VERSION",
        f"2024-01-01 10:01:00 host Coach[7] INFO NEW/PREV WINS : {won} / {lost} ; DRAWS : {drawn}",
        f"2024-01-01 10:01:00 host Coach[7] INFO {'ACCEPTING' if kept else 'REJECTING'} NEW MODEL",
    ]


def test_the_rating_adds_up_over_networks_that_are_kept() -> None:
    (found,) = parse_arena([*match(30, 10, 0), *match(10, 30, 0, kept=False), *match(20, 20, 0), *match(30, 10, 0)])
    rating = [row["elo"] for row in found.rows]
    assert rating[0] == pytest.approx(185.2, abs=0.1)
    # One that lost is thrown away, one that is as good is no gain, the next is as much better as the first was.
    assert rating[1] == rating[2] == rating[0]
    assert rating[3] == pytest.approx(2 * rating[0])
    assert [row["share of the match"] for row in found.rows] == [0.75, 0.25, 0.5, 0.75]


def test_a_match_that_was_won_whole_and_one_without_draws_are_read() -> None:
    (found,) = parse_arena(["NEW/PREV WINS : 40 / 0"])
    assert found.rows[0]["elo"] == pytest.approx(763.4, abs=0.1)
    assert parse_arena(["NEW/PREV WINS : many"]) == ()


def test_the_rating_serves_as_the_return_of_a_run_of_self_play(tmp_path: Path) -> None:
    lines = [line for _ in range(12) for line in match(24, 16, 0)]
    (tmp_path / "train.log").write_text("\n".join(lines) + "\n")
    run = read(tmp_path)
    assert run.returns is not None
    assert (run.returns.name, run.returns.logged_as, run.step_axis) == ("return/eval", "elo", "iterations")
    assert (run.returns.values[1:] > run.returns.values[:-1]).all()
