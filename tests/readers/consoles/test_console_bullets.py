"""NeMo-RL consoles."""

from __future__ import annotations

from rlclinic.readers.consoles.bullets import parse_bullets


def step(number: int, reward: float, *, total: int = 10) -> list[str]:
    return [
        "",
        f"{'=' * 25} Step {number}/{total} {'=' * 25}",
        "▶ Preparing batch...",
        "📊 Training Results:",
        "  • Loss: 0.0123",
        "  • Generation KL Error: 0.0010",
        f"  • Avg Reward: {reward:.4f}",
        "  • Mean Generation Length: 201.2197",
        "",
        "⏱️  Timing:",
        "  • Total step time: 35.70s",
        "  • policy_training: 10.97s (30.7%)",
        "",
        "🔍 Performance Metrics:",
        "  • Mean Total Tokens per Sample: 204.01",
        "  • Throughputs (per GPU):",
        "    - E2E (Samples/sec/gpu): 3.59",
    ]


VALIDATION = [
    "▶ Starting validation at step 2...",
    "",
    "📊 Validation Results:",
    "    • Accuracy: 0.5120",
    "    • Average response length: 312.5 tokens",
    "    • Samples processed: 256",
]


def test_a_block_is_one_row_at_the_step_of_its_headline() -> None:
    (found,) = parse_bullets([*step(1, 0.25), *step(2, 0.5)])
    assert (found.dialect, found.axis, found.steps) == ("nemo-rl", "updates", (1, 2))
    assert found.rows[1] == {
        "Loss": 0.0123,
        "Generation KL Error": 0.001,
        "Avg Reward": 0.5,
        "Mean Generation Length": 201.2197,
        "Total step time": 35.7,
        "policy_training": 10.97,
        "Mean Total Tokens per Sample": 204.01,
        "E2E (Samples/sec/gpu)": 3.59,
    }
    assert found.decimals["Loss"] == 4
    assert found.decimals["Total step time"] == 2


def test_validation_joins_the_step_it_was_run_at() -> None:
    (found,) = parse_bullets([*step(1, 0.25), *VALIDATION, *step(2, 0.5)])
    assert found.steps == (1, 2)
    assert found.rows[1]["Accuracy"] == 0.512
    assert found.rows[1]["Average response length"] == 312.5
    assert found.rows[1]["Loss"] == 0.0123


def test_steps_go_on_counting_in_the_next_epoch() -> None:
    lines = [
        f"{'=' * 25} Epoch 1/2 {'=' * 25}", *step(1, 0.1), *step(2, 0.2),
        f"{'=' * 25} Epoch 2/2 {'=' * 25}", *step(1, 0.3), *step(2, 0.4),
    ]  # fmt: skip
    (found,) = parse_bullets(lines)
    assert found.steps == (1, 2, 3, 4)


def test_blocks_without_headlines_are_counted() -> None:
    block = step(1, 0.25)[3:]
    (found,) = parse_bullets([*block, *block])
    assert found.steps == (1, 2)


def test_bullets_of_a_models_answer_are_not_metrics() -> None:
    answer = ["The plan:", "  • Duration: 5", "  • Loss: 3", "📊 Summary:", "  • Accuracy: 0.5"]
    assert parse_bullets(answer) == ()
    (found,) = parse_bullets([*step(1, 0.25), *(f"word{index}: text" for index in range(20)), *answer])
    assert "Duration" not in found.rows[0]


def test_results_of_another_program_are_no_rows() -> None:
    assert parse_bullets(["📊 Training Results:", "  • Models Trained: 3", "  • Total Samples: 500"]) == ()
