"""Bad input gives the readable part with a note, or one clear error; never another exception."""

from __future__ import annotations

import contextlib
import os
import pickle
import random
import shutil
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlclinic.model.errors import NothingReadable, RlclinicError, RunReadError
from rlclinic.model.run import Run
from rlclinic.readers.open import read

RUNS = Path(__file__).parents[1] / "fixtures" / "runs"
FILES = sorted(path for path in RUNS.rglob("*") if path.is_file() and path.stat().st_size < 80_000)


def attempt(path: Path) -> Run | None:
    """Read; the documented error is the only one allowed."""
    with contextlib.suppress(RlclinicError):
        return read(path)
    return None


def test_an_empty_folder_says_what_to_point_at(tmp_path: Path) -> None:
    with pytest.raises(NothingReadable, match="nothing in this folder is a run") as caught:
        read(tmp_path)
    assert "--metrics" in caught.value.hint


def test_a_missing_path_is_named(tmp_path: Path) -> None:
    with pytest.raises(RunReadError, match="no such file or folder") as caught:
        read(tmp_path / "gone")
    assert caught.value.path.endswith("gone")


@pytest.mark.parametrize("size", [0, 40, 88])
def test_an_event_file_of_an_aborted_start_is_a_run_without_metrics(tmp_path: Path, runs: Path, size: int) -> None:
    source = next((runs / "sb3" / "ppo_cartpole").glob("*tfevents*"))
    (tmp_path / source.name).write_bytes(source.read_bytes()[:size])
    run = read(tmp_path)
    assert not run.series
    assert run.provenance.notes


def test_a_header_only_csv_is_a_run_without_metrics(tmp_path: Path) -> None:
    (tmp_path / "progress.csv").write_text("time/total_timesteps,rollout/ep_rew_mean\n")
    run = read(tmp_path)
    assert not run.series
    assert "progress.csv: a header but no row" in run.provenance.notes


def test_a_half_written_last_line_is_left_out_and_noted(tmp_path: Path) -> None:
    text = "time/total_timesteps,rollout/ep_rew_mean,time/fps\n100,1.5,9\n200,2.5,9\n300,3"
    (tmp_path / "progress.csv").write_text(text)
    run = read(tmp_path)
    assert run["return/train"].values.tolist() == [1.5, 2.5]
    assert any("progress.csv" in note for note in run.provenance.notes)


def test_nan_and_inf_are_kept_as_logged(tmp_path: Path) -> None:
    text = "time/total_timesteps,rollout/ep_rew_mean\n100,nan\n200,-inf\n300,\n400,4\n"
    (tmp_path / "progress.csv").write_text(text)
    series = read(tmp_path)["return/train"]
    assert [str(value) for value in series.values] == ["nan", "-inf", "4.0"]
    assert series.steps.tolist() == [100, 200, 400]
    assert series.last == 4.0


def test_steps_that_go_back_keep_the_later_writing(tmp_path: Path) -> None:
    text = "time/total_timesteps,rollout/ep_rew_mean\n100,1\n200,2\n300,3\n200,20\n300,30\n400,40\n"
    (tmp_path / "progress.csv").write_text(text)
    run = read(tmp_path)
    assert run["return/train"].values.tolist() == [1, 20, 30, 40]
    assert any("steps go back" in note for note in run.provenance.notes)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "latin-1"])
def test_other_encodings_are_read(tmp_path: Path, encoding: str) -> None:
    text = "time/total_timesteps,rollout/ep_rew_mean,température\n100,1,2\n200,2,3\n"
    (tmp_path / "progress.csv").write_bytes(text.encode(encoding))
    assert read(tmp_path)["return/train"].values.tolist() == [1, 2]


def test_nul_bytes_and_a_million_character_line_do_not_hide_the_rest(tmp_path: Path) -> None:
    text = b"time/total_timesteps,rollout/ep_rew_mean\n100,1\n" + b"x" * 1_000_000 + b"\n\x00\x00\n200,2\n"
    (tmp_path / "progress.csv").write_bytes(text)
    assert read(tmp_path)["return/train"].values[-1] == 2


def test_a_yaml_bomb_and_deep_json_are_refused_in_words(tmp_path: Path) -> None:
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)
    )
    (tmp_path / "config.yaml").write_text(bomb)
    (tmp_path / "config.json").write_text("[" * 200_000)
    (tmp_path / "progress.csv").write_text("time/total_timesteps,rollout/ep_rew_mean\n100,1\n200,2\n")
    run = read(tmp_path)
    assert run["return/train"].last == 2
    noted = [note for note in run.provenance.notes if note.startswith(("config.yaml", "config.json"))]
    assert len(noted) == 2


def test_yaml_tags_construct_nothing(tmp_path: Path) -> None:
    marker = tmp_path / "owned"
    (tmp_path / "config.yaml").write_text(f"x: !!python/object/apply:os.system ['touch {marker}']\nlr: 0.1\n")
    (tmp_path / "progress.csv").write_text("time/total_timesteps,rollout/ep_rew_mean\n100,1\n200,2\n")
    run = read(tmp_path)
    assert not marker.exists()
    assert run.config.number("learning_rate") == 0.1


class Bomb:
    """Would create a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return os.system, (f"touch {self.path}",)


def test_pickles_are_never_opened(tmp_path: Path) -> None:
    marker = tmp_path / "owned"
    bomb = pickle.dumps(Bomb(marker))
    run = tmp_path / "run"
    run.mkdir()
    for name in ("vecnormalize.pkl", "params.pkl", "evaluations.npz", "model.pt"):
        (run / name).write_bytes(bomb)
    with zipfile.ZipFile(run / "model.zip", "w") as archive:
        archive.writestr("data", '{"learning_rate": 0.1}')
        archive.writestr("_stable_baselines3_version", "2.0")
        archive.writestr("policy.pth", bomb)
    (run / "progress.csv").write_text("time/total_timesteps,rollout/ep_rew_mean\n100,1\n200,2\n")
    assert read(run).config.number("learning_rate") == 0.1
    assert not marker.exists()


def test_an_unreadable_file_is_noted_and_the_rest_is_read(tmp_path: Path) -> None:
    (tmp_path / "progress.csv").write_text("time/total_timesteps,rollout/ep_rew_mean\n100,1\n200,2\n")
    (tmp_path / "other.csv").symlink_to(tmp_path / "nowhere")
    run = read(tmp_path)
    assert run["return/train"].last == 2
    assert "other.csv: broken link, ignored" in run.provenance.notes


def test_a_git_lfs_pointer_is_named_as_such(tmp_path: Path) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12345\n"
    (tmp_path / "progress.csv").write_text(pointer)
    with pytest.raises(NothingReadable, match="git-lfs pointer"):
        read(tmp_path)


def test_secrets_in_configs_and_logs_do_not_reach_the_run(tmp_path: Path) -> None:
    secret = "sk-" + "proj-" + "Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4z"
    (tmp_path / "config.yaml").write_text(f"lr: 0.1\napi_key: {secret}\n")
    (tmp_path / "train.log").write_text(f"Traceback (most recent call last):\n  File\nValueError: bad key {secret}\n")
    (tmp_path / "progress.csv").write_text("time/total_timesteps,rollout/ep_rew_mean\n100,1\n200,2\n")
    run = read(tmp_path)
    everything = repr((run.logs, run.provenance, run.status, dict(run.config.native), dict(run.config.settings)))
    assert secret not in everything
    assert "[redacted]" in everything


DAMAGE = (st.sampled_from(FILES), st.integers(0, 2**32 - 1), st.sampled_from(["cut", "flip", "noise", "grow"]))


@given(*DAMAGE)
@settings(derandomize=True, max_examples=150)
def test_damaged_files_never_raise_anything_else(path: Path, seed: int, damage: str) -> None:
    read_damaged(path, seed, damage)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@given(*DAMAGE)
@settings(derandomize=True, max_examples=3000)
def test_thousands_of_damaged_files_never_raise_anything_else(path: Path, seed: int, damage: str) -> None:
    read_damaged(path, seed, damage)


def read_damaged(path: Path, seed: int, damage: str) -> None:
    """Damage one file of a recorded run and read the folder and the file."""
    generator = random.Random(seed)
    data = bytearray(path.read_bytes())
    if damage == "cut":
        del data[generator.randrange(len(data) + 1) :]
    elif damage == "flip":
        for _ in range(8):
            if data:
                data[generator.randrange(len(data))] ^= 1 << generator.randrange(8)
    elif damage == "noise":
        data = bytearray(generator.randbytes(generator.randrange(4_000)))
    else:
        data += data[: generator.randrange(len(data) + 1)]
    folder = Path(os.environ["PYTEST_TMP"]) / f"{os.getpid()}"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(path.parent, folder, symlinks=True)
    (folder / path.name).write_bytes(bytes(data))
    attempt(folder)
    attempt(folder / path.name)


@pytest.fixture(autouse=True, scope="module")
def _scratch(tmp_path_factory: pytest.TempPathFactory) -> None:
    os.environ["PYTEST_TMP"] = str(tmp_path_factory.mktemp("damaged"))
