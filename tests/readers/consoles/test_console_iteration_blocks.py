"""rsl_rl consoles."""

from __future__ import annotations

from rlclinic.readers.consoles.iteration_blocks import parse_iteration_blocks


def block(iteration: int, reward: float) -> list[str]:
    pad = 35
    return [
        "#" * 80,
        f"{f' Learning iteration {iteration}/1500 ':^80}",
        "",
        f"{'Computation:':>{pad}} 45211 steps/s (collection: 1.912s, learning 0.262s)",
        f"{'Value function loss:':>{pad}} 0.0213",
        f"{'Mean action noise std:':>{pad}} 1.00",
        f"{'Mean reward:':>{pad}} {reward:.2f}",
        f"{'Mean episode rew_tracking:':>{pad}} 0.0123",
        f"{'Episode_Reward/track_lin_vel:':>{pad}} nan",
        "-" * 80,
        f"{'Total timesteps:':>{pad}} {(iteration + 1) * 98304}",
        f"{'Iteration time:':>{pad}} 2.17s",
        f"{'ETA:':>{pad}} 3210.4s",
        "Mean: 12",
    ]


def test_a_block_is_a_row_at_its_timesteps() -> None:
    (found,) = parse_iteration_blocks([*block(0, -0.5), *block(1, 4.31)])
    assert (found.dialect, found.axis, found.steps) == ("rsl_rl-console", "env_steps", (98304, 196608))
    assert found.lines == (2, 16)
    row = dict(found.rows[1])
    assert row.pop("Episode_Reward/track_lin_vel") != 0
    assert row == {
        "Learning iteration": 1.0,
        "Computation": 45211.0,
        "Value function loss": 0.0213,
        "Mean action noise std": 1.0,
        "Mean reward": 4.31,
        "Mean episode rew_tracking": 0.0123,
        "Total timesteps": 196608.0,
        "Iteration time": 2.17,
        "ETA": 3210.4,
    }
    assert found.decimals["Mean reward"] == 2
    assert found.decimals["Value function loss"] == 4


def test_a_name_too_long_for_its_column_begins_at_the_margin() -> None:
    lines = block(0, 1.0)
    lines.insert(8, "Mean episode rew_tracking_linear_velocity_in_x: -0.5000")
    lines.insert(8, "Loaded: 5")
    (found,) = parse_iteration_blocks(lines)
    assert found.rows[0]["Mean episode rew_tracking_linear_velocity_in_x"] == -0.5
    assert "Loaded" not in found.rows[0]


def test_without_timesteps_the_iteration_is_the_step() -> None:
    lines = [line for line in [*block(7, 1.0), *block(8, 2.0)] if "timesteps" not in line]
    (found,) = parse_iteration_blocks(lines)
    assert (found.axis, found.steps) == ("updates", (7, 8))


def test_a_torn_last_block_is_dropped_and_named() -> None:
    (found,) = parse_iteration_blocks([*block(0, 1.0), *block(1, 2.0)[:6]])
    assert found.steps == (98304,)
    assert found.problems == ("line 16: block without a step count dropped",)


def test_ordinary_text_is_no_row() -> None:
    assert parse_iteration_blocks(["Learning iteration 3/10", "  apples: 5", "  pears: 6"]) == ()
    assert parse_iteration_blocks(["The Learning iteration 3/10 was fine", "    Mean reward: 5"]) == ()
