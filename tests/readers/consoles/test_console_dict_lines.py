"""Consoles that print a dict per step."""

from __future__ import annotations

import pytest

from rlclinic.readers.consoles.dict_lines import parse_dict_lines
from rlclinic.readers.consoles.rows import CUT_WIDTH


def test_openrlhf_lines_give_step_and_numbers() -> None:
    (found,) = parse_dict_lines(
        [
            "INFO ppo_trainer.py] ✨ Global step 1: {'policy_loss': 0.02, 'reward': 0.4, 'timing/generation': 41.2}",
            "noise",
            "✨ Global step 2 [replay]: {'policy_loss': nan, 'reward': 0.5, 'samples': ['text', 0.1]}",
        ]
    )
    assert (found.dialect, found.axis, found.steps, found.lines) == ("openrlhf", "updates", (1, 2), (1, 3))
    assert found.rows[0] == {"policy_loss": 0.02, "reward": 0.4, "timing/generation": 41.2}
    assert found.rows[1].keys() == {"policy_loss", "reward"}


def test_what_python_cannot_read_back_costs_only_itself() -> None:
    (found,) = parse_dict_lines(
        ["Global step 1: {'reward': 0.5, 'model': <Model on cuda, 'kl': 0.1, 'x': tensor(0.25)}", "end"]
    )
    assert found.rows[0] == {"reward": 0.5, "kl": 0.1, "x": 0.25}
    assert found.problems == ("line 1: dict not readable as a whole, 3 numbers kept",)


def test_slime_joins_what_belongs_to_a_step() -> None:
    (found,) = parse_dict_lines(
        [
            "[2025-01-01 10:00:00] rollout.py:120 - perf 0: {'perf/rollout_time': np.float64(12.5)}",
            "rollout 0: {'rollout/raw_reward': 0.25, 'rollout/truncated': 0.0}",
            "model.py:847 - step 0: {'train/loss': 0.5, 'train/grad_norm': 1.0}",
            "eval 0: {'eval/aime': 0.2}",
            "rollout 1: {'rollout/raw_reward': 0.5, 'rollout/truncated': 0.1}",
            "step 1: {'train/loss': 0.4, 'train/grad_norm': 1.5}",
        ]
    )
    assert (found.dialect, found.steps) == ("slime", (0, 1))
    assert found.rows[0] == {
        "perf/rollout_time": 12.5,
        "rollout/raw_reward": 0.25,
        "rollout/truncated": 0.0,
        "train/loss": 0.5,
        "train/grad_norm": 1.0,
        "eval/aime": 0.2,
    }
    assert found.rows[1]["rollout/raw_reward"] == 0.5


def test_slime_with_several_updates_per_rollout_places_the_rollout_at_its_first() -> None:
    lines = []
    for rollout in range(5):
        lines.append(f"rollout {rollout}: {{'rollout/raw_reward': 0.{rollout}}}")
        lines += [f"step {rollout * 4 + part}: {{'train/loss': {rollout}.{part}}}" for part in range(4)]
    (found,) = parse_dict_lines(lines)
    assert found.steps == tuple(range(20))
    assert found.rows[8] == {"rollout/raw_reward": 0.2, "train/loss": 2.0}


def test_a_resumed_slime_run_keeps_the_order_of_the_file() -> None:
    lines = [f"step {step}: {{'train/loss': {index}.5}}" for index, step in enumerate([0, 1, 2, 1, 2])]
    (found,) = parse_dict_lines(lines)
    assert found.steps == (0, 1, 2, 1, 2)


def test_a_torn_last_line_is_dropped_and_named() -> None:
    (found,) = parse_dict_lines(["step 0: {'train/loss': 0.5}", "step 1: {'train/loss': 0.4, 'train/gr"])
    assert found.steps == (0,)
    assert found.problems == ("line 2: torn last row dropped",)


def test_a_line_cut_by_the_tracker_keeps_its_whole_numbers() -> None:
    text = "✨ Global step 3: {" + ", ".join(f"'timing/part_{index}': 0.1234567" for index in range(200))
    (found,) = parse_dict_lines([text[:CUT_WIDTH], "next"])
    assert set(found.rows[0].values()) == {0.1234567}
    assert len(found.rows[0]) > 100


@pytest.mark.parametrize(
    "line",
    [
        "step 1: {'open': 'the door', 'count': 3}",
        "rollout 3: {}",
        "Rollout 3: loss=0.4",
        "eval 2: {not a dict}",
        "kwargs: {'n': 1, 'logprobs': 1, 'max_tokens': 256, 'reward': 1.0}",
        "Critic overriding config {'bos_token_id': None, 'eos_token_id': 1, 'pad_token_id': 2}",
        "{'actor_rollout_ref': {'actor': {'clip_ratio': 0.2,",
        "{" * 2000,
    ],
)
def test_ordinary_text_is_no_row(line: str) -> None:
    assert parse_dict_lines([line] * 3) == ()
