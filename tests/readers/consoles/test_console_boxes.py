"""Boxed tables."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from rlclinic.readers.consoles import parse_console
from rlclinic.readers.consoles.boxes import parse_boxes


def sb3(values: Mapping[str, object]) -> list[str]:
    """A box as Stable-Baselines3 prints it: names grouped under the part before the slash."""
    lines, heading = [], None
    for name, value in values.items():
        group = name[: name.index("/") + 1] if "/" in name else None
        if group and group != heading:
            lines.append((group, ""))
        heading = group
        lines.append((f"   {name[len(group) :]}" if group else name, str(value)))
    return boxed(lines)


def boxed(cells: list[tuple[str, str]], *, right: bool = False) -> list[str]:
    width, value_width = max(len(name) for name, _ in cells), max(len(value) for _, value in cells)
    side = ">" if right else "<"
    body = [f"| {name:{side}{width}} | {value:{side}{value_width}} |" for name, value in cells]
    ruler = "-" * len(body[0])
    return [ruler, *body, ruler]


def test_stable_baselines3_names_are_put_together_from_group_and_name() -> None:
    box = {"rollout/ep_rew_mean": 21.3, "time/fps": 900, "time/total_timesteps": 2048, "train/approx_kl": 0.0089}
    (found,) = parse_boxes(["Using cpu device", *sb3(box), *sb3(box | {"time/total_timesteps": 4096})])
    assert (found.dialect, found.axis, found.steps) == ("sb3-box", "env_steps", (2048, 4096))
    assert found.rows[0] == box
    assert found.lines == (2, 11)
    assert found.decimals == {}


def test_an_evaluation_box_of_the_same_step_joins_the_training_box() -> None:
    lines = [
        *sb3({"eval/mean_reward": 5.0, "time/total_timesteps": 2048}),
        *sb3({"rollout/ep_rew_mean": 4.0, "time/total_timesteps": 2048}),
        *sb3({"eval/mean_reward": 6.0, "time/total_timesteps": 4096}),
        *sb3({"rollout/ep_rew_mean": 5.0, "time/total_timesteps": 4096}),
    ]
    (found,) = parse_boxes(lines)
    assert found.steps == (2048, 4096)
    assert found.rows[1] == {"eval/mean_reward": 6.0, "rollout/ep_rew_mean": 5.0, "time/total_timesteps": 4096.0}


def test_spinning_up_boxes_are_placed_by_interactions() -> None:
    lines = []
    for epoch in range(3):
        cells = [
            ("Epoch", f"{epoch}"),
            ("AverageEpRet", f"{epoch + 0.5}"),
            ("TotalEnvInteracts", f"{(epoch + 1) * 4000:.3g}"),
        ]
        lines += boxed([(name, f"{value:>15}") for name, value in cells], right=True)
    (found,) = parse_boxes(lines)
    assert (found.dialect, found.axis, found.steps) == ("spinningup-box", "env_steps", (4000, 8000, 12000))
    assert found.rows[0]["AverageEpRet"] == 0.5


def test_three_digits_too_coarse_for_the_steps_fall_back_to_epochs() -> None:
    lines = []
    for epoch in range(20):
        lines += boxed([("Epoch", str(epoch)), ("AverageEpRet", f"{epoch}.5"), ("TotalEnvInteracts", "1.02e+06")])
    (found,) = parse_boxes(lines)
    assert (found.axis, found.steps) == ("epochs", tuple(range(20)))


def test_flat_boxes_without_a_step_count_are_numbered() -> None:
    box = [("policy loss", "0.017"), ("mean 100 episode reward", "30.2")]
    (found,) = parse_boxes([*boxed(box), *boxed([("policy loss", "0.02"), ("mean 100 episode reward", "31")])])
    assert (found.dialect, found.axis, found.steps) == ("baselines-box", "rows", (1, 2))
    assert found.rows[1]["mean 100 episode reward"] == 31.0


def test_other_output_inside_a_box_does_not_break_it() -> None:
    lines = sb3({"rollout/ep_rew_mean": 21.3, "time/total_timesteps": 2048})
    (found,) = parse_boxes([*lines[:3], "UserWarning: something", *lines[3:]])
    assert found.steps == (2048,)


def test_a_torn_last_box_is_dropped_and_named() -> None:
    box = sb3({"rollout/ep_rew_mean": 21.3, "time/total_timesteps": 2048})
    (found,) = parse_boxes([*box, *box[:-2]])
    assert found.steps == (2048,)
    assert found.problems == ("line 7: torn last box dropped",)


@pytest.mark.parametrize(
    "lines",
    [
        ["| metric | value |", "|--------|-------|", "| loss   | 0.5   |", "| steps  | 100   |"],
        ["+------+------+", "| name | rows |", "+------+------+", "| a    | 3    |", "+------+------+"],
        ["-----------------", "| only one | 1 |", "-----------------"],
        ["--------------------", "some text", "--------------------"],
        ["-" * 20, "| a very different width | 3 | ", "-" * 20, "| a | 3 |"],
    ],
)
def test_other_tables_are_no_rows(lines: list[str]) -> None:
    assert parse_boxes(lines) == ()


def test_boxes_pasted_without_their_rulers_are_told_by_the_blank_lines_around_them() -> None:
    """constructed: a web page shows the rows alone; a Markdown table of words is none."""
    box = "| EpRewMean | {} |\n| KL        | {} |\n| EpLenMean | 200  |\n"
    text = "Iteration 1\n\n" + box.format("-8.5", "1e-3") + "\nIteration 2\n\n" + box.format("-7.3", "nan ")
    (rows,) = parse_console(text.splitlines())
    assert [row["EpRewMean"] for row in rows.rows] == [-8.5, -7.3]
    table = "\n| run  | note |\n|------|------|\n| PPO  | good |\n\n"
    assert parse_boxes((table + table).splitlines()) == ()
