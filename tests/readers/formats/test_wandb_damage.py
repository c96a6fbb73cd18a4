"""The W&B transaction log: damaged, torn and hostile bytes lose only themselves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlclinic.readers.formats.wandb import wandb_log
from rlclinic.readers.formats.wandb.wandb_log import WandbLog, read_wandb_log
from tests.readers.formats import wandb_writer as w

RUNS = Path(__file__).parents[2] / "fixtures" / "runs" / "wandb"
REAL = next((RUNS / "finished").glob("wandb/offline-run-*/run-*.wandb")).read_bytes()
BLOCK = 32_768
RECORDS = [w.history({"_step": str(n), "loss": f"{n / 7}"}) for n in range(4000)]
MANY = w.log(RECORDS)  # about eight blocks
FUZZ = settings(derandomize=True, max_examples=60)


def steps(log: WandbLog) -> list[int]:
    return [int(value) for value in log.history["_step"].values.tolist()] if "_step" in log.history else []


def is_whole(log: WandbLog) -> bool:
    """Whether every row that was read has both of its metrics, as they were written."""
    loss = log.history["loss"]
    return loss.values.tolist() == [step / 7 for step in steps(log)] and log.rows == len(steps(log))


@FUZZ
@given(st.integers(0, 4000), st.integers(0, 40))
def test_a_torn_log_keeps_every_row_before_the_tear(rows: int, more: int) -> None:
    log = read_wandb_log(MANY[: len(w.log(RECORDS[:rows])) + more])
    assert log.rows == rows
    assert steps(log) == list(range(rows))
    assert all("torn" in note or "no complete record" in note for note in log.problems)


def test_a_torn_last_record_is_named() -> None:
    log = read_wandb_log(MANY[:-5])
    assert log.rows == 3999
    assert len(log.problems) == 1
    assert "torn last record dropped" in log.problems[0]


def test_zeros_behind_the_last_record_are_no_problem() -> None:
    log = read_wandb_log(MANY + bytes(100_000))
    assert (log.rows, log.problems) == (4000, ())


@pytest.mark.parametrize("block", [0, 1, 3])
def test_a_wrong_checksum_costs_the_rest_of_its_block_only(block: int) -> None:
    at = block * BLOCK + 1000
    data = bytearray(MANY)
    data[at] ^= 1
    log = read_wandb_log(bytes(data))
    per_block = BLOCK // 45
    assert is_whole(log)
    assert 4000 - per_block <= log.rows <= 4000 - per_block // 2
    assert steps(log)[0] == 0
    assert steps(log)[-1] == 3999
    assert f"skipped to the next block at byte {(block + 1) * BLOCK}" in log.problems[0]


def test_a_lost_middle_part_drops_the_record_it_belongs_to() -> None:
    text = json.dumps("x" * 100_000)
    data = bytearray(w.log([w.history({"a": str(n), "t": text}) for n in range(3)]))
    data[2 * BLOCK + 100] ^= 1
    log = read_wandb_log(bytes(data))
    assert log.history["a"].values.tolist() == [1.0, 2.0]
    assert any("record(s) dropped: a part of each is missing" in note for note in log.problems)


def test_many_damaged_places_are_counted() -> None:
    data = bytearray(w.log([w.history({"a": str(n)}) for n in range(20_000)]))
    for block in range(1, 15):
        data[block * BLOCK + 500] ^= 255
    log = read_wandb_log(bytes(data))
    assert len(log.problems) <= 8
    assert any("more places" in note for note in log.problems)


@FUZZ
@given(st.binary(max_size=300))
def test_random_bytes_give_an_empty_log(data: bytes) -> None:
    log = read_wandb_log(data)
    assert (log.rows, log.history) == (0, {})
    assert log.problems


@FUZZ
@given(st.lists(st.tuples(st.integers(0, len(REAL) - 1), st.integers(1, 255)), min_size=1, max_size=6))
def test_flipped_bits_never_invent_rows(flips: list[tuple[int, int]]) -> None:
    data = bytearray(REAL)
    for at, bits in flips:
        data[at] ^= bits
    log = read_wandb_log(bytes(data))
    assert set(steps(log)) <= set(range(50))
    assert log.problems or bytes(data) == REAL


@FUZZ
@given(st.lists(st.binary(max_size=60), max_size=40), st.sampled_from([1, 24]))
def test_hostile_messages_behind_valid_checksums_are_survived(payloads: list[bytes], min_lanes: int) -> None:
    wandb_log._read(w.log(payloads), min_lanes=min_lanes)


@FUZZ
@given(
    st.lists(st.tuples(st.sampled_from(range(1, 28)), st.binary(max_size=60)), max_size=40),
    st.sampled_from([1, 24]),
)
def test_hostile_records_of_every_kind_are_survived(records: list[tuple[int, bytes]], min_lanes: int) -> None:
    log = wandb_log._read(w.log([w.record(*pair) for pair in records]), min_lanes=min_lanes)
    assert log.rows == sum(kind == w.HISTORY for kind, _ in records)


@pytest.mark.parametrize("rows", [1, 40])
def test_deep_json_is_refused_with_a_note(rows: int) -> None:
    deep = '{"a":' * 100_000 + "1" + "}" * 100_000
    hostile = [("x", deep), ("y", '{"a":' * 140 + "1" + "}" * 140), ("ok", "1")]
    log = read_wandb_log(
        w.log([w.history(hostile)] * rows + [w.summary(hostile), w.record(w.CONFIG, w.items(hostile))])
    )
    assert set(log.history) == {"ok"}
    assert log.summary == log.config == {"ok": 1}
    assert log.problems == (f"{2 * rows + 4} malformed message(s): their unreadable part was dropped",)


def test_keys_nested_too_deeply_are_refused() -> None:
    log = read_wandb_log(w.log([w.history([(["k"] * 1000, "1"), (["k"] * 70, "2"), ("ok", "3")])] * 30))
    assert set(log.history) == {"ok"}


def test_lone_surrogates_do_not_reach_the_caller() -> None:
    log = read_wandb_log(w.log([w.record(w.CONFIG, w.items({"a": '"\\ud800"', "b": '{"\\udfff": 1}'}))]))
    assert log.config == {"a": "?", "b": {"?": 1}}


def test_broken_text_is_replaced() -> None:
    run = w.chunk(1, b"\xff\xfeid") + w.chunk(3, "ü")
    log = read_wandb_log(
        w.log([w.record(w.RUN, run), w.record(w.HISTORY, w.chunk(1, w.chunk(1, b"\xff") + w.chunk(16, "1")))])
    )
    assert log.run == {"run_id": "\ufffd\ufffdid", "project": "ü"}
    assert set(log.history) == {"\ufffd"}


def test_a_record_of_absurd_size_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wandb_log, "MAX_RECORD", 1000)
    log = read_wandb_log(w.log([w.history({"a": "1"}), w.history({"a": " " * 2000}), w.history({"a": "3"})]))
    assert log.history["a"].values.tolist() == [1.0, 3.0]
    assert log.problems == ("1 record(s) of more than 1000 bytes left out",)


def test_one_row_with_very_many_items_is_read() -> None:
    wide = {f"m{n}": str(n) for n in range(5000)}
    log = read_wandb_log(w.log([w.history({"m0": "1"})] * 100 + [w.history(wide)] + [w.history({"m0": "2"})] * 100))
    assert log.rows == 201
    assert log.history["m4999"].rows.tolist() == [100]
    assert log.history["m0"].values.tolist() == [1.0] * 100 + [0.0] + [2.0] * 100
