"""Metrics behind OpenRLHF's progress bar."""

from __future__ import annotations

from rlclinic.readers.consoles.bar_postfixes import parse_bar_postfixes


def bar(reward: float) -> str:
    return (
        "Train epoch [1/1]: 100%|██| 8/8 [00:10<00:00,  2.50s/it, act_loss=0.1, "
        f"reward={reward}, gen_len=200, kl=nan, act_lr=5e-7]"
    )


def test_each_pass_of_the_bar_is_a_row() -> None:
    (found,) = parse_bar_postfixes([bar(0.5), "text", bar(0.6), bar(0.6)])
    assert (found.dialect, found.axis, found.steps, found.lines) == ("openrlhf", "rows", (1, 2), (1, 3))
    assert found.rows[0].keys() == {"act_loss", "reward", "gen_len", "kl", "act_lr"}
    assert found.rows[1]["reward"] == 0.6


def test_whole_lines_of_metrics_make_the_bar_needless() -> None:
    assert parse_bar_postfixes([bar(0.5), "✨ Global step 1: {'reward': 0.5}"]) == ()


def test_bars_of_other_programs_are_no_rows() -> None:
    assert parse_bar_postfixes(["8/8 [00:10<00:00, 2.5s/it, loss=0.1]", "act_loss=0.5 is low"]) == ()
