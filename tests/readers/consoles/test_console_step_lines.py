"""verl and Search-R1 consoles."""

from __future__ import annotations

from math import inf, isnan

import pytest

from rlclinic.readers.consoles.rows import CUT_WIDTH, ConsoleRows
from rlclinic.readers.consoles.step_lines import parse_step_lines


def one(lines: list[str]) -> ConsoleRows:
    (found,) = parse_step_lines(lines)
    return found


def test_an_early_verl_line_gives_its_step_and_every_metric() -> None:
    found = one(
        [
            "step:0 - critic/kl:0.000 - critic/kl_coeff:0.001 - actor/lr(1e-4):0.010",
            "step:1 - critic/kl:-0.000 - critic/kl_coeff:0.001 - actor/lr(1e-4):0.010",
        ]
    )
    assert found.dialect == "verl"
    assert found.axis == "updates"
    assert found.steps == (0, 1)
    assert found.rows[0] == {"critic/kl": 0.0, "critic/kl_coeff": 0.001, "actor/lr(1e-4)": 0.01}
    assert found.lines == (1, 2)
    assert found.problems == ()


def test_three_printed_decimals_are_told_from_full_precision() -> None:
    fixed = one(["step:1 - actor/lr:0.000 - actor/kl_coef:0.001 - actor/pg_loss:-0.013"])
    full = one(["step:1 - actor/lr:1e-06 - actor/kl_coef:0.001 - actor/pg_loss:-0.0132 - num_turns/max:6"])
    assert fixed.decimals == {"actor/lr": 3, "actor/kl_coef": 3, "actor/pg_loss": 3}
    assert full.decimals == {}
    assert full.rows[0]["actor/lr"] == 1e-6


def test_a_short_validation_row_shares_the_format_of_the_long_ones() -> None:
    found = one(
        [
            "step:1 - actor/lr:0.000 - actor/kl_coef:0.001 - actor/pg_loss:-0.013",
            "step:2 - val/test_score/nq:0.412",
        ]
    )
    assert found.decimals["val/test_score/nq"] == 3


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("np.float64(-0.9444)", -0.9444),
        ("np.int64(6)", 6.0),
        ("-0.000", 0.0),
        ("inf", inf),
        ("-inf", -inf),
        ("1.5e-09", 1.5e-9),
    ],
)
def test_every_spelling_of_a_number_is_read(text: str, value: float) -> None:
    found = one([f"step:3 - actor/entropy:0.5 - actor/pg_loss:{text} - actor/grad_norm:1.0"])
    assert found.rows[0]["actor/pg_loss"] == value


def test_nan_is_a_value_and_not_a_gap() -> None:
    found = one(["step:3 - actor/entropy:nan - actor/pg_loss:np.float64(nan)"])
    assert isnan(found.rows[0]["actor/entropy"])
    assert isnan(found.rows[0]["actor/pg_loss"])


def test_a_part_is_split_at_its_last_colon() -> None:
    found = one(["step:7 - val/test_score/data:v2:0.25 - val-core/a b/acc/mean@16:0.5 - actor/lr:1e-06"])
    assert found.rows[0]["val/test_score/data:v2"] == 0.25
    assert found.rows[0]["val-core/a b/acc/mean@16"] == 0.5


def test_a_line_glued_to_other_output_is_found_on_both_sides() -> None:
    found = one(
        [
            "Training: 3%| | 1/30 [00:10<05:00, 10.0s/it](TaskRunner pid=1) step:3 - actor/lr:0.1 - perf/mfu:0.2",
            "step:4 - actor/lr:0.1 - perf/mfu:0.25Training: 7%|  | 2/30 [00:20<04:40, 10.0s/it]",
        ]
    )
    assert found.steps == (3, 4)
    assert [row["perf/mfu"] for row in found.rows] == [0.2, 0.25]


def test_two_steps_on_one_line_are_two_rows() -> None:
    found = one(["step:3 - actor/lr:0.1 - perf/mfu:0.2step:4 - actor/lr:0.3 - perf/mfu:0.4"])
    assert found.steps == (3, 4)
    assert found.rows[0] == {"actor/lr": 0.1, "perf/mfu": 0.2}


def test_metric_names_that_end_in_step_do_not_start_a_row() -> None:
    found = one(["step:5 - timing_s/step:12 - training/global_step:5 - actor/lr:1e-06"])
    assert found.steps == (5,)
    assert found.rows[0]["timing_s/step"] == 12.0


def test_the_last_validation_joins_the_row_of_its_step() -> None:
    found = one(
        [
            "step:9 - actor/lr:1e-06 - critic/score/mean:0.5",
            "step:9 - val-core/gsm8k/reward/mean@1:0.86",
        ]
    )
    assert found.steps == (9,)
    assert found.rows[0].keys() == {"actor/lr", "critic/score/mean", "val-core/gsm8k/reward/mean@1"}


def test_a_step_trained_twice_stays_two_rows() -> None:
    found = one(["step:9 - actor/lr:1e-06 - actor/entropy:0.5", "step:9 - actor/lr:1e-06 - actor/entropy:0.7"])
    assert found.steps == (9, 9)


def test_a_resumed_run_keeps_the_order_of_the_file() -> None:
    lines = [f"step:{step} - actor/lr:1e-06 - actor/entropy:{index}.5" for index, step in enumerate([5, 6, 7, 6, 7])]
    assert one(lines).steps == (5, 6, 7, 6, 7)


def test_metrics_pasted_one_per_line_are_one_row() -> None:
    found = one(
        ["step:2", "actor/pg_loss:0.1", " - actor/entropy:np.float64(0.3)", "", "critic/score/mean:0.4", "done"]
    )
    assert found.steps == (2,)
    assert found.rows[0] == {"actor/pg_loss": 0.1, "actor/entropy": 0.3, "critic/score/mean": 0.4}


def test_pasted_steps_follow_each_other() -> None:
    found = one(["step:2", "actor/pg_loss:0.1", "actor/lr:0.3", "step:3", "actor/pg_loss:0.2", "actor/lr:0.3"])
    assert found.steps == (2, 3)


@pytest.mark.parametrize("width", [40, 61, 80, 97])
def test_a_line_wrapped_at_a_terminals_width_is_put_together(width: int) -> None:
    text = "step:12 - " + " - ".join(f"actor/metric_{index}:0.{index}25{index}" for index in range(20))
    wrapped = [text[start : start + width] for start in range(0, len(text), width)]
    found = one([*wrapped, "epoch 0, step 13"])
    assert found.rows[0] == one([text]).rows[0]


def test_lines_of_other_workers_in_between_do_no_harm() -> None:
    found = one(
        [
            "step:1 - actor/lr:1e-06 - actor/entropy:0.5",
            "[WARNING] OBSERVATION TOO LONG, CONSIDER CHANGING YOUR CONFIG, 542 & 500",
            "step:2 - actor/lr:1e-06 - actor/entropy:0.4",
        ]
    )
    assert found.steps == (1, 2)


def test_a_torn_last_line_loses_its_last_number_and_says_so() -> None:
    found = one(
        [
            "step:1 - actor/lr:0.100 - actor/entropy:0.512 - critic/score/mean:0.400",
            "step:2 - actor/lr:0.100 - actor/entropy:0.4",
        ]
    )
    assert found.rows[1] == {"actor/lr": 0.1}
    assert found.problems == ("line 2: torn last row, 1 of 3 metrics kept",)


def test_a_last_line_torn_in_its_first_number_is_no_row() -> None:
    found = one(["step:1 - actor/lr:0.100 - actor/entropy:0.512 - critic/score/mean:0.400", "step:2 - actor/lr:0."])
    assert found.steps == (1,)
    assert found.problems == ("line 2: torn last row, 0 of 3 metrics kept",)


def test_a_line_cut_by_the_tracker_keeps_what_is_whole() -> None:
    text = "step:1 - " + " - ".join(f"actor/metric_{index}:0.1234567" for index in range(300))
    found = one([text[:CUT_WIDTH], "next"])
    assert set(found.rows[0].values()) == {0.1234567}
    assert found.problems == (f"line 1: cut at {CUT_WIDTH} characters, the metrics after it are lost",)


def test_the_first_validation_is_step_zero_and_the_last_belongs_to_the_last_step() -> None:
    found = one(
        [
            "\"Initial validation metrics: {'val/test_score/gsm8k': 0.0}\"",
            "step:1 - actor/lr:1e-06 - actor/entropy:0.5",
            "step:2 - actor/lr:1e-06 - actor/entropy:0.4",
            "Final validation metrics: {'val/test_score/gsm8k': 0.75}",
        ]
    )
    assert found.steps == (0, 1, 2)
    assert found.rows[0] == {"val/test_score/gsm8k": 0.0}
    assert found.rows[2] == {"actor/lr": 1e-6, "actor/entropy": 0.4, "val/test_score/gsm8k": 0.75}


def test_a_resumed_run_validates_first_at_the_step_it_resumed_from() -> None:
    found = one(
        [
            "Setting global step to 40",
            "('Initial validation metrics: '",
            "Initial validation metrics: {'val/test_score/gsm8k': 0.5, 'val/loss': 1.0}",
            "step:41 - actor/lr:1e-06 - actor/entropy:0.5",
        ]
    )
    assert found.steps == (40, 41)


def test_search_r1_without_metric_lines_still_shows_how_far_it_came() -> None:
    found = one(
        [
            "ACTIVE_TRAJ_NUM: [64, 58, 42]",
            "epoch 0, step 1",
            "ACTIVE_TRAJ_NUM: [512, 480, 77]",
            "ACTIVE_TRAJ_NUM: [64, 1, 1]",
            "epoch 0, step 2",
            "ACTIVE_TRAJ_NUM: [512, 400, 50]",
        ]
    )
    assert found.steps == (1, 2)
    assert found.rows[0] == {
        "epoch": 0.0,
        "ACTIVE_TRAJ_NUM/0": 512.0,
        "ACTIVE_TRAJ_NUM/1": 480.0,
        "ACTIVE_TRAJ_NUM/2": 77.0,
    }


def test_supervised_fine_tuning_is_read_too() -> None:
    found = one(["step:1 - train/loss:0.7200 - train/lr(1e-3):0.00027 - train/time(s):7.4", "step:2 - val/loss:0.7"])
    assert found.rows == ({"train/loss": 0.72, "train/lr(1e-3)": 0.00027, "train/time(s)": 7.4}, {"val/loss": 0.7})


@pytest.mark.parametrize(
    "line",
    [
        "step:1 - do this",
        "step:1 - see http://example.org:80",
        "step:2 - library/image:22",
        "step:2 - 12:30 - 13:45",
        "Step 3/7 : RUN pip install -r requirements.txt",
        "epoch 0, step 1",
        "First step: 1 - open the door, second step: 2 - leave",
        "step:5",
    ],
)
def test_ordinary_text_is_no_row(line: str) -> None:
    assert parse_step_lines([line, "nothing more:1"]) == ()
