"""prime-rl consoles."""

from __future__ import annotations

import pytest

from rlclinic.readers.consoles.bars import parse_bars

TRAINER = (
    "22:43:19 SUCCESS Step 1 | 1m 22.5s | Loss -0.0003 | Entropy 0.3717 | Mismatch KL 0.0249 | Grad. Norm 0.0560 "
    "| LR 1.00e-06 | Throughput 8712 tokens/s | MFU 5.4% | Peak Mem. 89.6/139.8 GiB (64.1%)"
)
ORCHESTRATOR = (
    "SUCCESS Step 2 | 22.5s | Reward 0.5000 | Trainable 2/4 (50.0%) | Turns 3.0 | Error 0.0% | Truncation 12.5%"
)


def test_the_trainers_line_gives_every_field() -> None:
    (found,) = parse_bars(["noise", TRAINER])
    assert (found.dialect, found.axis, found.steps, found.lines) == ("prime-rl", "updates", (1,), (2,))
    assert found.rows[0] == pytest.approx(
        {
            "Time": 82.5,
            "Loss": -0.0003,
            "Entropy": 0.3717,
            "Mismatch KL": 0.0249,
            "Grad. Norm": 0.056,
            "LR": 1e-6,
            "Throughput": 8712.0,
            "MFU": 0.054,
            "Peak Mem.": 89.6,
        }
    )
    assert found.decimals["Loss"] == 4
    assert "LR" not in found.decimals


def test_percentages_and_shares_are_fractions() -> None:
    (found,) = parse_bars([ORCHESTRATOR])
    assert found.rows[0] == pytest.approx(
        {"Time": 22.5, "Reward": 0.5, "Trainable": 0.5, "Turns": 3.0, "Error": 0.0, "Truncation": 0.125}
    )


def test_trainer_and_orchestrator_of_one_file_meet_at_their_step() -> None:
    ahead = [ORCHESTRATOR.replace("Step 2", f"Step {step}") for step in (1, 2)]
    (found,) = parse_bars(
        [*ahead, TRAINER, ORCHESTRATOR.replace("Step 2", "Step 3"), TRAINER.replace("Step 1", "Step 2")]
    )
    assert found.steps == (1, 2, 3)
    assert found.rows[0]["Loss"] == -0.0003
    assert found.rows[0]["Reward"] == 0.5
    assert (found.rows[0]["Time"], found.rows[0]["Orchestrator Time"]) == (82.5, 22.5)
    assert "Loss" not in found.rows[2]


def test_a_resumed_run_keeps_the_order_of_the_file() -> None:
    lines = [TRAINER.replace("Step 1", f"Step {step}") for step in (4, 5, 5, 6)]
    assert parse_bars(lines)[0].steps == (4, 5, 6)
    lines[2] = lines[2].replace("Loss -0.0003", "Loss 0.1000")
    assert parse_bars([ORCHESTRATOR, *lines])[0].steps == (2, 4, 5, 5, 6)


def test_the_older_form_with_colons_is_read() -> None:
    (found,) = parse_bars(
        ["Step 0 | Time: 98.02s | Reward: 0.4353 | Seq. Length: 2069.9 tokens/sample | Max. Off-Policy Level: 1"]
    )
    assert found.rows[0] == {
        "Time": 98.02,
        "Reward": 0.4353,
        "Seq. Length": 2069.9,
        "Max. Off-Policy Level": 1.0,
    }


@pytest.mark.parametrize(
    "line",
    [
        "Step 3 | copy files | done",
        "Step 3 | Loss of time 3",
        "Micro Step 1/2 | Loss: 0.1 | Entropy: 0.2",
        "| Step 3 | 4 | 5 |",
    ],
)
def test_ordinary_text_is_no_row(line: str) -> None:
    assert parse_bars([line]) == ()
