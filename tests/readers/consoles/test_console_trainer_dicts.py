"""Rows of Hugging Face trainers."""

from __future__ import annotations

from math import isnan

import pytest

from rlclinic.readers.consoles.dict_lines import parse_dict_lines
from rlclinic.readers.consoles.rows import ConsoleRows


def row(loss: float, epoch: float) -> str:
    return f"{{'loss': {loss}, 'grad_norm': 4.25, 'learning_rate': 4.9e-06, 'reward': 0.725, 'epoch': {epoch}}}"


def bar(step: int, total: int = 500) -> str:
    return f"  2%|▏         | {step}/{total} [58:53<41:17:29, 162.28s/it]"


def one(lines: list[str]) -> ConsoleRows:
    (found,) = parse_dict_lines(lines)
    return found


def test_rows_take_their_step_from_the_bar_before_them() -> None:
    found = one([bar(19), bar(20), row(0.0043, 0.04), bar(20), bar(40), row(0.0047, 0.09), bar(60) + row(0.005, 0.13)])
    assert (found.dialect, found.axis, found.steps) == ("dict", "updates", (20, 40, 60))
    assert found.lines == (3, 6, 7)
    assert found.rows[0] == {
        "loss": 0.0043,
        "grad_norm": 4.25,
        "learning_rate": 4.9e-06,
        "reward": 0.725,
        "epoch": 0.04,
    }


def test_bars_of_other_work_are_not_the_training_bar() -> None:
    lines = ["Map: 100%|██| 30000/30000 [00:01<00:00, 99.1examples/s]", "Loading: 100%|█| 2/2 [00:02<00:00, 1.05s/it]"]
    for index in range(1, 6):
        lines += [bar(10 * index), row(0.001 * index, 0.01 * index), f"  50%| | {index % 2}/7 [00:01<00:01, 1.0it/s]"]
    assert one(lines).steps == (10, 20, 30, 40, 50)


def test_without_a_bar_rows_are_only_numbered() -> None:
    found = one([row(0.1, 0.01), row(0.2, 0.02), row(0.3, 0.03)])
    assert (found.axis, found.steps) == ("rows", (1, 2, 3))


def test_a_bar_behind_the_rows_gives_their_distance_if_only_one_fits() -> None:
    rows = [row(0.001 * index, round(0.05 * index, 2)) for index in range(1, 41)]
    assert one([*rows, bar(401)]).steps == tuple(range(10, 401, 10))
    assert one([*rows[:3], bar(99)]).axis == "rows"


def test_an_early_first_row_forbids_even_spacing() -> None:
    rows = [row(0.1, 0.01), *(row(0.001 * index, round(0.1 * index, 2)) for index in range(1, 11))]
    assert one([*rows, bar(100)]).axis == "rows"


@pytest.mark.parametrize(
    ("key", "axis"),
    [("'step': {}", "updates"), ("'global_step': {}", "updates"), ("'total_timesteps': {}", "env_steps")],
)
def test_a_step_in_the_dict_is_the_step(key: str, axis: str) -> None:
    lines = [f"{{{key.format(step)}, 'loss': 0.5{step}, 'kl': 0.1, 'reward': 1.0}}" for step in (100, 200)]
    found = one(lines)
    assert (found.axis, found.steps) == (axis, (100, 200))
    assert found.rows[0].keys() == {"loss", "kl", "reward"}


def test_a_step_written_as_a_share_is_the_step() -> None:
    lines = [
        f"{{'loss': '0.5', 'kl': '0.{step}', 'reward': '1', 'global_step/max_steps': '{step}/500', 'time': '2m'}}"
        for step in (5, 10)
    ]
    found = one(lines)
    assert found.steps == (5, 10)
    assert found.rows[1] == {"loss": 0.5, "kl": 0.1, "reward": 1.0}


def test_numbers_printed_as_strings_and_nan_are_numbers() -> None:
    found = one(["{'loss': '0.0', 'grad_norm': 'nan', 'kl': nan, 'learning_rate': '1e-06', 'epoch': '0.02'}"])
    assert found.rows[0]["loss"] == 0.0
    assert isnan(found.rows[0]["grad_norm"])
    assert isnan(found.rows[0]["kl"])


def test_evaluation_and_closing_summary_belong_to_the_step_before_them() -> None:
    found = one(
        [
            bar(10),
            row(0.1, 0.5),
            "{'eval_loss': 0.7, 'eval_runtime': 3.2, 'eval_reward': 0.4, 'epoch': 0.5}",
            bar(20),
            row(0.2, 1.0),
            "{'train_runtime': 120.5, 'train_samples_per_second': 3.1, 'train_loss': 0.15, 'epoch': 1.0}",
        ]
    )
    assert found.steps == (10, 20)
    assert found.rows[0]["eval_reward"] == 0.4
    assert found.rows[1]["train_loss"] == 0.15
    assert found.rows[1]["epoch"] == 1.0


def test_a_row_printed_twice_counts_once() -> None:
    assert len(one([row(0.1, 0.01), row(0.1, 0.01), row(0.2, 0.02)]).rows) == 2
    unstable = row(0.1, 0.01).replace("4.25", "nan")
    assert len(one([unstable, unstable]).rows) == 1


def test_the_rounding_of_the_trainer_is_reported() -> None:
    rounded = one([row(0.0, 0.01), row(0.0043, 0.02), row(0.0021, 0.03)])
    full = one([row(0.0, 0.01), row(0.00432187, 0.0234), row(0.0021, 0.03)])
    assert rounded.decimals == {"loss": 4, "epoch": 2}
    assert full.decimals == {}


def test_trl_ppo_has_no_loss_key_and_is_read() -> None:
    lines = [
        f"{{'eps': 3, 'objective/kl': 0.{index}, 'objective/rlhf_reward': 1.5, 'loss/policy_avg': 0.01, 'lr': 1e-06}}"
        for index in range(1, 4)
    ]
    assert one(lines).rows[1]["objective/kl"] == 0.2


@pytest.mark.parametrize(
    "line",
    [
        "{'lr': 0.1, 'loss_type': 2, 'reward_scale': 1.0, 'seed': 3}",
        "{'eos_token_id': 151645, 'pad_token_id': 151643, 'recompute': False, 'global_steps': 0}",
        "{'loss': 'mse', 'reward': 'sparse', 'kl': 'none', 'epoch': 'first'}",
        "{'loss': 0.5, 'epoch': 1}",
        "{'question': 'what is the loss?', 'answer': '4', 'score': 1.0, 'source': 'web', 'id': 7}",
    ],
)
def test_a_dict_that_is_no_metrics_is_no_row(line: str) -> None:
    assert parse_dict_lines([line, "text", line, line]) == ()
