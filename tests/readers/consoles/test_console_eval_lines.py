"""Evaluation lines of Stable-Baselines3."""

from __future__ import annotations

from rlclinic.readers.consoles.boxes import parse_boxes

LINES = ["Eval num_timesteps=10000, episode_reward=187.46 +/- 21.53", "Episode length: 187.50 +/- 21.53"]
BOX = [
    "----------------------------------",
    "| eval/              |           |",
    "|    mean_reward     | 187       |",
    "| time/              |           |",
    "|    total_timesteps | 10000     |",
    "----------------------------------",
]


def test_evaluations_without_a_box_are_rows() -> None:
    (found,) = parse_boxes(["start", *LINES, "Success rate: 50.00%", "New best mean reward!", *LINES[:1]])
    assert (found.dialect, found.axis, found.steps, found.lines) == ("sb3-box", "env_steps", (10000,), (2,))
    assert found.rows[0] == {
        "eval/mean_reward": 187.46,
        "eval/std_reward": 21.53,
        "eval/mean_ep_length": 187.5,
        "eval/success_rate": 0.5,
    }


def test_the_line_has_more_digits_than_the_box_of_its_step() -> None:
    (found,) = parse_boxes([*LINES, *BOX])
    assert found.steps == (10000,)
    assert found.rows[0]["eval/mean_reward"] == 187.46
    assert found.rows[0]["time/total_timesteps"] == 10000.0


def test_an_evaluation_between_boxes_keeps_its_place() -> None:
    other = [line.replace("10000", "30000") for line in BOX]
    lines = [line.replace("10000", "20000") for line in LINES]
    (found,) = parse_boxes([*BOX, *lines, *other])
    assert found.steps == (10000, 20000, 30000)
