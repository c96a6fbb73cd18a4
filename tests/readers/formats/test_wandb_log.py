"""The W&B transaction log: what is read from logs that are whole."""

from __future__ import annotations

import math
import os
from pathlib import Path

import numpy as np
import pytest

from rlclinic.readers.formats.wandb import state as wandb_state
from rlclinic.readers.formats.wandb import wandb_log
from rlclinic.readers.formats.wandb.wandb_log import WandbLog, is_wandb_log, read_wandb_file, read_wandb_log
from rlclinic.readers.place import named
from tests.readers.formats import wandb_writer as w

RUNS = Path(__file__).parents[2] / "fixtures" / "runs" / "wandb"


def fixture(name: str) -> WandbLog:
    (path,) = (RUNS / name).glob("wandb/offline-run-*/run-*.wandb")
    return read_wandb_file(named(path))


def column(log: WandbLog, name: str) -> list[tuple[int, float]]:
    found = log.history[name]
    return list(zip(found.rows.tolist(), found.values.tolist(), strict=True))


def test_a_finished_run_is_read_whole() -> None:
    log = fixture("finished")
    assert log.problems == ()
    assert (log.rows, log.exit_code, log.finished, log.wandb_version) == (50, 0, True, "0.31.0")
    assert log.history["_step"].values.tolist() == list(range(50))
    assert log.history["train/epsilon"].values[0] == 1.0
    assert log.history["rollout/return"].values[0] == -2318.6
    assert log.history["rollout/return"].values[-10:].mean() > -60
    assert log.history["train/q.max"].values.tolist() == [0.0] * 50
    assert set(log.history["reached_goal"].values.tolist()) == {0.0, 1.0}
    assert np.diff(log.history["global_step"].values).min() > 0
    assert log.config["env_id"] == "CliffWalking-v1"
    assert log.config["epsilon"] == {"start": 1.0, "end": 0.05, "decay_rows": 20}
    assert log.summary["global_step"] == log.history["global_step"].values[-1]
    assert log.summary["train/q"] == {"min": log.history["train/q.min"].values[-1], "max": 0}
    assert "_wandb" not in log.config
    assert "_wandb" not in log.summary
    assert log.output.startswith("row 0: return -2318.6\nrow 1: ")
    assert log.stats["_timestamp"].values.size == log.stats["cpu"].values.size + 1
    assert not log.has_tensorboard


def test_a_finished_run_says_who_it_is() -> None:
    run = dict(fixture("finished").run)
    assert 1.7e9 < run.pop("start_time") < 2.5e9  # type: ignore[operator]
    assert run == {
        "run_id": "cliff-finished",
        "project": "cliff",
        "run_group": "fixtures",
        "job_type": "train",
        "display_name": "q-learning finished",
        "notes": "tabular",
        "host": "fixture",
        "tags": ("fixture", "finished"),
    }


def test_a_killed_run_has_no_exit_record_and_keeps_its_rows() -> None:
    log = fixture("killed")
    assert (log.exit_code, log.finished) == (None, False)
    assert 20 <= log.rows < 48
    assert log.history["_step"].values.tolist() == list(range(log.rows))
    assert log.runtime == log.history["_runtime"].values[-1]
    assert len(log.problems) == 1
    assert "torn last record dropped" in log.problems[0]


def test_a_crashed_run_has_its_exit_code_and_traceback() -> None:
    log = fixture("crashed")
    assert (log.rows, log.exit_code) == (20, 1)
    assert log.output.rstrip().endswith("RuntimeError: the table holds a value that is not finite")


def test_typed_values_are_read_as_the_same_history() -> None:
    typed, plain = fixture("typed"), fixture("finished")
    assert typed.problems == ()
    assert typed.history.keys() == plain.history.keys()
    for name in plain.history.keys() - {"_timestamp", "_runtime"}:
        assert column(typed, name) == column(plain, name)


def test_fixtures_name_no_machine() -> None:
    for file in RUNS.rglob("*"):
        if file.is_file():
            data = file.read_bytes()
            assert not any(word in data for word in (b"/tmp", b"/home", b"/root", b"/work", b"/Users"))


def test_metrics_missing_in_a_row_leave_a_gap() -> None:
    log = read_wandb_log(w.log([w.history({"a": "1"}), w.history({"b": "2"}), w.history({"a": "3"})]))
    assert log.rows == 3
    assert column(log, "a") == [(0, 1.0), (2, 3.0)]
    assert column(log, "b") == [(1, 2.0)]


@pytest.mark.parametrize(
    ("json", "value"),
    [
        ("1.5", 1.5),
        ("-0.0", -0.0),
        ("1.7947859861107867e+09", 1794785986.1107867),
        ("1e+30", 1e30),
        ("NaN", math.nan),
        ('"NaN"', math.nan),
        ("Infinity", math.inf),
        ('"Infinity"', math.inf),
        ("-Infinity", -math.inf),
        ('"-Infinity"', -math.inf),
        ("true", 1.0),
        ("false", 0.0),
        ("123456789012345678901234567890", 123456789012345678901234567890.0),
    ],
)
@pytest.mark.parametrize("rows", [1, 40])
def test_numbers_are_read_as_numbers(json: str, value: float, rows: int) -> None:
    log = read_wandb_log(w.log([w.history({"a": json})] * rows))
    assert log.history["a"].values.tobytes() == np.full(rows, value).tobytes()


@pytest.mark.parametrize("json", ['"text"', "null", "[1, 2]", "", "1.2.3", "1-2", "nan", "True", "0x10", "1_0", '"1"'])
@pytest.mark.parametrize("rows", [1, 40])
def test_what_is_no_number_makes_no_column(json: str, rows: int) -> None:
    log = read_wandb_log(w.log([w.history({"a": json, "b": "1"})] * rows))
    assert set(log.history) == {"b"}
    assert log.rows == rows


@pytest.mark.parametrize("rows", [1, 40])
def test_nested_keys_and_objects_are_joined_with_dots(rows: int) -> None:
    row = w.history([(["a", "b", "c"], "1"), ("o", '{"x": 2, "y": {"z": "NaN"}, "t": "text"}'), ("p.q", "3")])
    log = read_wandb_log(w.log([row] * rows))
    assert {name: found.values[0] for name, found in log.history.items()} == pytest.approx(
        {"a.b.c": 1.0, "o.x": 2.0, "o.y.z": math.nan, "p.q": 3.0}, nan_ok=True
    )
    assert log.history["o.x"].rows.tolist() == list(range(rows))


@pytest.mark.parametrize("rows", [1, 40])
def test_numbers_that_describe_media_are_left_out(rows: int) -> None:
    image = w.items([(["image", "_type"], '"image-file"'), (["image", "width"], "64"), ("imagery", "1")])
    table = w.items([("table", '{"_type": "table-file", "nrows": 3}')])
    log = read_wandb_log(w.log([w.record(w.HISTORY, image + table)] * rows))
    assert set(log.history) == {"imagery"}


@pytest.mark.parametrize("rows", [1, 40])
def test_the_later_of_two_values_of_one_name_counts(rows: int) -> None:
    row = w.history([("a", "1"), (["b"], "5"), (["a"], "2"), ("b", "{}"), ("c", '{"d": 1}'), (["c", "d"], "7")])
    log = read_wandb_log(w.log([row] * rows))
    assert column(log, "a") == [(n, 2.0) for n in range(rows)]
    assert column(log, "b") == [(n, 5.0) for n in range(rows)]
    assert column(log, "c.d") == [(n, 7.0) for n in range(rows)]


def test_config_is_what_was_set_last() -> None:
    first = w.items([("lr", "0.1"), ("net", '{"width": 64, "depth": 2}'), ("_wandb", "{}"), ("old", "1")])
    later = w.items([("lr", "0.01"), (["net", "depth"], "3")]) + w.items([("old", "")], field=2)
    log = read_wandb_log(w.log([w.record(w.RUN, w.chunk(1, "id") + w.chunk(4, first)), w.record(w.CONFIG, later)]))
    assert log.config == {"lr": 0.01, "net": {"width": 64, "depth": 3}}


@pytest.mark.parametrize("rows", [1, 40])
def test_summary_is_what_was_set_last(rows: int) -> None:
    early = [w.summary([("a", str(n)), (["b", "c"], "1"), (["_wandb", "runtime"], "5")]) for n in range(rows)]
    late = [w.summary([("best", "9"), (["b", "d"], '"NaN"')])]
    log = read_wandb_log(w.log(early + late))
    assert log.summary == {"a": rows - 1, "b": {"c": 1, "d": "NaN"}, "best": 9}


def test_removed_summary_keys_are_gone() -> None:
    removal = w.record(w.SUMMARY, w.items([("a", "")], field=2))
    log = read_wandb_log(w.log([w.summary({"a": "1", "b": "2"})] * 40 + [removal]))
    assert log.summary == {"b": 2}


def test_console_text_is_joined_in_order() -> None:
    assert read_wandb_log(w.log([w.output("loss"), w.output(" "), w.output("1\n")])).output == "loss 1\n"


def test_only_the_end_of_long_console_text_is_kept() -> None:
    lines = [f"{n:06}" + "x" * 9994 for n in range(300)]
    log = read_wandb_log(w.log([w.output(line) for line in lines]))
    assert "".join(lines).endswith(log.output)
    assert 2_000_000 < len(log.output) <= 2 << 20
    assert log.problems == ("console text: only the last 2 MiB were kept",)


@pytest.mark.parametrize(
    ("records", "ending"),
    [
        ([w.header()], (None, False)),
        ([w.header(), w.record(w.EXIT, b"")], (0, True)),
        ([w.header(), w.record(w.EXIT, w.integer(1, 1))], (1, True)),
        ([w.header(), w.record(w.EXIT, w.integer(1, -1))], (-1, True)),
        ([w.header(), w.record(w.EXIT, w.integer(3, 1))], (0, False)),
        ([w.record(w.HEADER, b""), w.record(w.EXIT, b"")], (0, False)),
        ([w.record(w.HEADER, b""), w.record(w.EXIT, b""), w.record(w.FINAL, b"")], (0, True)),
        ([w.record(w.HEADER, b""), w.record(w.FOOTER, b"")], (None, False)),
    ],
)
def test_the_end_of_a_run_is_told_by_its_last_records(records: list[bytes], ending: tuple[int | None, bool]) -> None:
    log = read_wandb_log(w.log(records))
    assert (log.exit_code, log.finished) == ending


def test_the_version_of_older_writers_comes_from_telemetry() -> None:
    log = read_wandb_log(w.log([w.record(w.HEADER, b""), w.record(w.TELEMETRY, w.chunk(5, "0.15.5"))]))
    assert log.wandb_version == "0.15.5"


def test_tensorboard_sync_is_noticed() -> None:
    assert read_wandb_log(w.log([w.record(w.TBRECORD, w.chunk(1, "logs"))])).has_tensorboard


def test_system_statistics_carry_their_time() -> None:
    stats = w.chunk(2, w.integer(1, 1_700_000_000) + w.integer(2, 500_000_000)) + w.items({"cpu": "12.5"}, field=3)
    log = read_wandb_log(w.log([w.record(w.STATS, stats)] * 2))
    assert log.stats["cpu"].values.tolist() == [12.5, 12.5]
    assert log.stats["_timestamp"].values.tolist() == [1_700_000_000.5] * 2


def test_records_that_cross_blocks_are_put_together() -> None:
    text = "x" * 100_000
    records = [w.history({"a": str(n), "text": f'"{text}"'}) for n in range(5)]
    log = read_wandb_log(w.log(records))
    assert column(log, "a") == [(n, float(n)) for n in range(5)]
    assert log.problems == ()


def test_a_log_of_many_chunks_keeps_its_row_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    data = w.log([w.history({"a": str(n), "b": str(-n)} if n % 2 else {"a": str(n)}) for n in range(3000)])
    whole = read_wandb_log(data)
    monkeypatch.setattr(wandb_log, "CHUNK", 4096)
    cut = read_wandb_log(data)
    assert column(cut, "a") == column(whole, "a") == [(n, float(n)) for n in range(3000)]
    assert column(cut, "b") == column(whole, "b") == [(n, float(-n)) for n in range(1, 3000, 2)]


def test_more_metrics_than_the_limit_are_left_out_with_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rlclinic.readers.formats.wandb.columns.MAX_COLUMNS", 10)
    monkeypatch.setattr(wandb_state, "MAX_KEYS", 5)
    values = {f"m{n}": str(n) for n in range(20)}
    log = read_wandb_log(w.log([w.history(values)] * 30 + [w.summary(values)]))
    assert (len(log.history), len(log.summary)) == (10, 5)
    assert sum("the rest was left out" in note for note in log.problems) == 2


def test_a_log_without_records_says_so() -> None:
    log = read_wandb_log(w.MAGIC)
    assert (log.rows, log.exit_code, log.history) == (0, None, {})
    assert log.problems == ("no complete record in the log: W&B had not written any yet when the run ended",)


def test_a_log_is_known_by_its_first_bytes() -> None:
    assert is_wandb_log(w.log([w.header()])[:16])
    assert not is_wandb_log(b":W&B")
    assert not is_wandb_log(b"")


def test_a_damaged_file_header_does_not_hide_the_records() -> None:
    log = read_wandb_log(w.log([w.history({"a": "1"})], magic=b"?W&B\xe1\xbe\x00"))
    assert column(log, "a") == [(0, 1.0)]
    assert log.problems == ("the file does not begin like a W&B log",)


def test_a_file_beyond_the_limit_is_read_in_part(tmp_path: Path) -> None:
    path = tmp_path / "run-x.wandb"
    path.write_bytes(w.log([w.history({"a": str(n)}) for n in range(100)]))
    log = read_wandb_file(named(path), max_bytes=1000)
    assert 0 < log.rows < 100
    assert log.problems[0] == "only the first 1000 bytes of the file were read"


def test_a_file_that_cannot_be_read_raises_oserror(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (tmp_path / "absent", tmp_path, pipe):
        with pytest.raises(OSError, match=path.name):
            read_wandb_file(named(path))
