"""All console parsers together: choice, robustness, speed."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.growth import grows_linearly

from rlclinic.readers.consoles import find_config, parse_console

# Pieces that begin or end something in one of the dialects.
PIECES = [
    "step:1 - ", "step:2", "actor/lr:0.1", " - ", "critic/score/mean:np.float64(0.5)", "np.float64(", "nan", "inf",
    "Initial validation metrics: {", "(\"Final validation metrics: {'a': \"", "ACTIVE_TRAJ_NUM: [1, 2]",
    "epoch 0, step 1", "{'loss': 0.1, 'epoch': 1, 'kl': 2}", "{'loss': '", "✨ Global step 3: {'a': 1}",
    "step 1: {'train/loss': 1}", "rollout 99999999999: {'a/b': 1}", "📊 Training Results:", "  • Loss: 0.1",
    "=== Step 1/2 ===", "Step 1 | Loss 0.1 | LR 1e999", "| 5m 3s", "-" * 20, "| time/             |", "|    x | 1 |",
    " Learning iteration 5/100 ", "     Mean reward: 1e999", "   Total timesteps: nan", "12/500 [00:01<00:02, 1s/it]",
    "Namespace(lr=1, seed=2", "Args(\n", "lr: 0.1", "  - 3", "python3 -m x a=1 \\", "OrderedDict([('a', 1),", "{", "}",
    "Error executing job with overrides: ['a=1', '", "[[[[", "((((", "{{{{", "'", '"', "\\", ":", "=", "/",
    "1" * 40, "-", "\t", " ", "\n", "\n", "\n", "é", "\ufffd",
]  # fmt: skip

ORDINARY = """
Sending build context to Docker daemon  2.048kB
Step 1/7 : FROM python:3.11-slim
 ---> 3a8a5f1c2b7d
Step 2/7 : RUN pip install -r requirements.txt
Successfully tagged library/image:latest
2025-01-01 10:00:00,123 INFO Listening on 0.0.0.0:8080
GET /v1/models 200 OK - 12ms - user/agent:3
step:1 - do this
step:2 - then that
| Name  | Type  | Params |
|-------|-------|--------|
| model | MLP   | 67800  |
npm WARN deprecated package@1.0.0: use another
Date: Mon, 1 Jan 2025
total: 12
{'status': 'ok', 'code': 200, 'items': 3}
{'status': 'ok', 'code': 200, 'items': 4}
Tests: 12 passed, 12 total
Time: 3.2 s
""".splitlines()


def read_whole(lines: list[str]) -> None:
    parse_console(lines)
    find_config(lines)


def test_the_dialect_with_most_rows_comes_first() -> None:
    lines = ["step 0: {'train/loss': 0.5}"] + [
        f"step:{step} - actor/lr:0.1 - actor/entropy:0.{step}" for step in range(5)
    ]
    assert [found.dialect for found in parse_console(lines)] == ["verl", "slime"]


def test_ordinary_logs_hold_no_rows_and_no_settings() -> None:
    assert parse_console(ORDINARY) == ()
    assert find_config(ORDINARY).values == {}


@settings(derandomize=True, max_examples=300)
@given(st.lists(st.sampled_from(PIECES), max_size=60))
def test_any_mixture_of_pieces_is_read_without_an_error(pieces: list[str]) -> None:
    lines = "".join(pieces).split("\n")
    for found in parse_console(lines):
        assert len(found.steps) == len(found.rows) == len(found.lines) > 0
        assert all(1 <= line <= len(lines) for line in found.lines)
        assert all(found.rows)
        assert all(isinstance(value, float) for row in found.rows for value in row.values())
        assert found.decimals.keys() <= {key for row in found.rows for key in row}
    config = find_config(lines)
    assert config.values.keys() == config.lines.keys()


@settings(derandomize=True, max_examples=200)
@given(st.lists(st.text(max_size=80), max_size=30))
def test_any_text_is_read_without_an_error(lines: list[str]) -> None:
    parse_console(lines)
    find_config(lines)


@settings(derandomize=True, max_examples=60)
@given(st.integers(min_value=0, max_value=400))
def test_a_log_cut_anywhere_keeps_the_rows_before_the_cut(cut: int) -> None:
    text = "\n".join(f"step:{step} - actor/lr:0.100 - actor/entropy:0.{500 - step}" for step in range(1, 9))
    whole = parse_console(text.split("\n"))[0]
    found = parse_console(text[:cut].split("\n"))
    complete = text[:cut].count("\n")
    assert len(found[0].rows if found else ()) >= complete
    assert not found or found[0].rows[:complete] == whole.rows[:complete]


@pytest.mark.parametrize("piece", [piece for piece in PIECES if piece.strip()])
def test_time_grows_with_the_length_of_a_line_and_not_faster(piece: str) -> None:
    def work(size: int) -> None:
        line = (piece * (size // len(piece))).replace("\n", " ")
        read_whole([line, line[: len(line) // 2]])

    assert grows_linearly(work, 150_000)


@pytest.mark.parametrize("piece", [piece for piece in PIECES if piece.strip()])
def test_time_grows_with_the_number_of_lines_and_not_faster(piece: str) -> None:
    assert grows_linearly(lambda size: read_whole(piece.split("\n") * size), 3000)


def test_lines_of_a_megabyte_are_read() -> None:
    pieces = ("".join(PIECES) * 2000).replace("\n", " ")

    def work(size: int) -> None:
        line = pieces[:size]
        read_whole([line, f"step:1 - {line}", "{'a': '" + line])

    assert len(pieces) > 1_000_000
    assert grows_linearly(work, 1_000_000)


def test_a_long_verl_log_is_read_whole_in_linear_time() -> None:
    metrics = " - ".join(f"actor/metric_{index}:0.{index:03d}" for index in range(40))
    lines = [f"step:{step} - {metrics}" for step in range(435)]

    (found,) = parse_console(lines)

    assert len(found.rows) == 435
    assert grows_linearly(lambda size: parse_console(lines[:size]), 435)
