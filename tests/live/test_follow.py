"""Files that grow, are rotated, replaced, truncated, deleted and made again are followed; what is read is bounded."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from rlclinic.live import follow, kept
from rlclinic.live.follow import Follower
from rlclinic.live.kept import MOST_ROWS, KeptEvents, KeptLines, KeptLog
from rlclinic.model.errors import RlclinicError
from rlclinic.model.run import Run, Status
from rlclinic.readers.discover import ref_of_folder
from rlclinic.readers.open import read

HEADER = "time/total_timesteps,rollout/ep_rew_mean,train/approx_kl,eval/mean_reward\n"


class Writer:
    """Writes progress.csv as Stable-Baselines3 does: a row per update, an evaluation now and then."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self.path = folder / "progress.csv"
        self.row = 0
        self.path.write_text(HEADER)

    def rows(self, count: int) -> None:
        with self.path.open("a") as file:
            for _ in range(count):
                self.row += 1
                evaluation = f"{self.row}" if self.row % 100 == 0 else ""
                file.write(f"{self.row * 8},{self.row % 50},0.0{self.row % 9 + 1},{evaluation}\n")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "PPO_CartPole-v1"


@pytest.fixture
def writer(folder: Path) -> Writer:
    writer = Writer(folder)
    writer.rows(50)
    return writer


def follower(folder: Path) -> Follower:
    ref = ref_of_folder(folder)
    assert ref is not None
    return Follower(ref)


def polled(following: Follower) -> Run:
    run = following.poll()
    assert run is not None
    return run


def test_what_is_appended_is_seen_and_nothing_new_is_nothing(writer: Writer, folder: Path) -> None:
    following = follower(folder)
    assert polled(following).steps == 400
    assert following.poll() is None
    writer.rows(10)
    assert polled(following).steps == 480


def test_a_short_run_is_followed_as_it_is_read(writer: Writer, folder: Path) -> None:
    following = follower(folder)
    polled(following)
    writer.rows(777)
    seen, whole = polled(following), read(folder)
    assert {name: series.values.tolist() for name, series in seen.series.items()} == {
        name: series.values.tolist() for name, series in whole.series.items()
    }


def test_of_a_long_run_a_bounded_part_is_kept_and_its_evaluations_with_it(writer: Writer, folder: Path) -> None:
    following = follower(folder)
    polled(following)
    writer.rows(20_000)
    run = polled(following)
    assert len(run["return/train"]) < MOST_ROWS + 400
    assert len(run["return/eval"]) == 200
    assert run.steps == writer.row * 8


def test_only_appended_bytes_are_read(writer: Writer, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    following = follower(folder)
    writer.rows(5_000)
    polled(following)
    taken: list[int] = []
    take = KeptLines.take
    monkeypatch.setattr(KeptLines, "take", lambda self, data: taken.append(len(data)) or take(self, data))
    writer.rows(3)
    polled(following)
    assert sum(taken) < 100


def test_a_torn_last_row_waits_for_its_end(writer: Writer, folder: Path) -> None:
    following = follower(folder)
    polled(following)
    with writer.path.open("a") as file:
        file.write("408,77,0.")
    assert polled(following).steps == 400
    with writer.path.open("a") as file:
        file.write("01,\n")
    assert polled(following)["return/train"].last == 77


def rotated(writer: Writer) -> None:
    writer.rows(5)
    writer.path.rename(writer.path.with_name("progress.csv.1"))
    writer.path.write_text(HEADER)
    writer.rows(5)


def replaced_by_a_longer_copy(writer: Writer) -> None:
    copy = writer.path.with_name("copy")
    shutil.copy(writer.path, copy)
    copy.replace(writer.path)
    writer.rows(10)


@pytest.mark.parametrize("change", [rotated, replaced_by_a_longer_copy])
def test_a_log_that_goes_on_elsewhere_is_one_run(
    change: Callable[[Writer], None], writer: Writer, folder: Path
) -> None:
    following = follower(folder)
    polled(following)
    change(writer)
    run = polled(following)
    assert run.steps == 480
    assert len(run["return/train"]) == 60


def test_a_truncated_file_is_a_new_run(writer: Writer, folder: Path) -> None:
    following = follower(folder)
    polled(following)
    writer.path.write_text(HEADER)
    writer.row = 0
    writer.rows(7)
    assert polled(following).steps == 56


def test_a_file_rewritten_with_other_content_of_the_same_length_is_noticed(writer: Writer, folder: Path) -> None:
    following = follower(folder)
    polled(following)
    text = writer.path.read_text().replace("400,0,", "400,9,")
    writer.path.write_text(text)
    os.utime(writer.path, (1, 1))
    assert polled(following)["return/train"].last == 9


def test_resumed_steps_replace_those_that_were_taken_before(writer: Writer, folder: Path) -> None:
    following = follower(folder)
    polled(following)
    writer.row = 30
    writer.rows(5)
    run = polled(following)
    assert run.steps == 280
    assert np.all(np.diff(run["return/train"].steps) > 0)


def test_a_folder_that_is_deleted_and_made_again_is_followed_again(writer: Writer, folder: Path) -> None:
    following = follower(folder)
    polled(following)
    shutil.rmtree(folder)
    with pytest.raises(RlclinicError, match="not there any more"):
        following.poll()
    Writer(folder).rows(3)
    assert polled(following).steps == 24


def test_two_writers_of_one_folder_are_both_read(writer: Writer, folder: Path) -> None:
    following = follower(folder)
    polled(following)
    monitor = folder / "monitor.csv"
    monitor.write_text('#{"t_start": 1.0, "env_id": "CartPole-v1"}\nr,l,t\n')
    with monitor.open("a") as file:
        file.writelines(f"{row}.0,10,{row}.5\n" for row in range(30))
    writer.rows(5)
    run = polled(following)
    assert run.steps == 440
    assert run.episodes is not None
    assert len(run.episodes) == 30


@pytest.mark.parametrize("seconds", [-(10**8), 10**8])
def test_a_run_that_grows_goes_on_whatever_the_clock_says(writer: Writer, folder: Path, seconds: float) -> None:
    following = follower(folder)
    polled(following)
    writer.rows(5)
    moment = writer.path.stat().st_mtime + seconds
    os.utime(writer.path, (moment, moment))
    assert polled(following).status.state is Status.RUNNING
    assert following.poll() is None


def test_a_run_that_grew_goes_on_until_it_has_been_silent_for_long(
    writer: Writer, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    following = follower(folder)
    polled(following)
    writer.rows(5)
    polled(following)
    with writer.path.open("a") as file:
        file.write("4")
    assert polled(following).status.state is Status.RUNNING
    monkeypatch.setattr(follow, "SILENCE", 0.0)
    monkeypatch.setattr(follow, "PAUSES", 0.0)
    assert polled(following).status.state is Status.UNKNOWN
    assert following.poll() is None


def test_a_long_file_is_caught_up_with_though_it_grows_no_more(
    writer: Writer, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer.rows(1_000)
    monkeypatch.setattr(follow, "MOST_BYTES", 4_000)
    following = follower(folder)
    steps = [run.steps for _ in range(20) if (run := following.poll()) is not None]
    assert steps[-1] == 1_050 * 8
    assert len(steps) < 20


@pytest.mark.parametrize("rows", [0, 5_000])
def test_a_last_row_without_an_end_is_read_as_by_diagnose(writer: Writer, folder: Path, rows: int) -> None:
    writer.rows(rows)
    writer.path.write_text(writer.path.read_text().rstrip("\n"))
    assert polled(follower(folder)).steps == read(folder).steps


def test_a_row_without_end_is_not_read_again_and_again(
    writer: Writer, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follow, "LONGEST_ROW", 1_000)
    with writer.path.open("a") as file:
        file.write("x" * 5_000)
    following = follower(folder)
    polled(following)
    assert len(following._files["progress.csv"]._kept.content()) < 2_000
    with writer.path.open("a") as file:
        file.write("\n")
    writer.rows(5)
    assert polled(following).steps == 440


def test_a_link_out_of_the_run_is_not_followed(writer: Writer, folder: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text(HEADER + "999999,1,0.01,\n")
    following = follower(folder)
    polled(following)
    writer.path.unlink()
    writer.path.symlink_to(secret)
    with pytest.raises(RlclinicError):
        polled(following)


def test_events_are_kept_by_tag_and_read_like_the_whole_file(runs: Path) -> None:
    from rlclinic.readers.formats.tensorboard.tfevents import read_events

    path = next(file for file in sorted(runs.rglob("*tfevents*")) if file.stat().st_size > 4_000)
    data, kept = path.read_bytes(), KeptEvents()
    half = len(data) // 2
    taken = kept.take(data[:half])
    assert taken <= half
    kept.take(data[taken:])
    mine, whole = read_events(kept.content()), read_events(data)
    assert {tag: column.values.tolist() for tag, column in mine.scalars.items()} == {
        tag: column.values.tolist() for tag, column in whole.scalars.items()
    }
    assert mine.hparams == whole.hparams


def test_rows_that_are_not_finite_are_kept_before_others() -> None:
    kept = KeptLines()
    kept.take("".join(f"{row},{'nan' if row == 17_777 else '1.0'}\n" for row in range(30_000)).encode())
    assert b"17777,nan" in kept.content()


def test_long_rows_are_kept_up_to_a_number_of_bytes_from_start_to_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "MOST_SIZE", 100_000)
    lines = KeptLines()
    for number in range(1_000):
        lines.take(b'{"step": %d, "samples": "%s"}\n' % (number, b"x" * 1_000))
    steps = [int(line.split(b",")[0].split(b":")[1]) for line in lines.content().splitlines()]
    assert len(lines.content()) < 150_000
    assert steps[-1] > 950
    assert max(np.diff(steps)) < 70


def test_of_a_long_log_beginning_and_end_are_kept() -> None:
    kept = KeptLog()
    for start in range(0, 400_000, 10_000):
        kept.take(b"".join(b"line %d of a log, %s\n" % (row, b"x" * 40) for row in range(start, start + 10_000)))
    content = kept.content()
    assert content.startswith(b"line 0 of")
    assert b"line 399999 of" in content
    assert len(content) < 16 << 20
