"""Recorded steps in several formats: the same transitions from each, and never a pickle."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rlclinic.model.errors import RunReadError, UsageError
from rlclinic.readers.transitions import trace
from rlclinic.readers.transitions.trace import read_trace

RNG = np.random.default_rng(0)
SEEN = RNG.normal(size=(40, 2))
ACTIONS = RNG.integers(0, 3, 40)
REWARDS = RNG.normal(size=40)
DONES = np.arange(40) % 10 == 9


def _npz(folder: Path) -> Path:
    np.savez(folder / "steps.npz", obs=SEEN, act=ACTIONS, rews=REWARDS, dones=DONES)
    return folder / "steps.npz"


def _csv(folder: Path) -> Path:
    rows = [
        f"{a},{b},{action},{reward},{int(done)}"
        for (a, b), action, reward, done in zip(SEEN, ACTIONS, REWARDS, DONES, strict=True)
    ]
    (folder / "steps.csv").write_text("\n".join(["obs_0,obs_1,action,reward,done", *rows]) + "\n", encoding="utf-8")
    return folder / "steps.csv"


def _hdf5(folder: Path) -> Path:
    h5py = pytest.importorskip("h5py")
    with h5py.File(folder / "steps.hdf5", "w") as file:
        for name, values in {"observations": SEEN, "actions": ACTIONS, "rewards": REWARDS, "terminals": DONES}.items():
            file[name] = values
    return folder / "steps.hdf5"


def _minari(folder: Path) -> Path:
    h5py = pytest.importorskip("h5py")
    (folder / "set" / "data").mkdir(parents=True)
    with h5py.File(folder / "set" / "data" / "main_data.hdf5", "w") as file:
        for number in range(4):
            part = slice(10 * number, 10 * number + 10)
            group = file.create_group(f"episode_{number}")
            group["observations"] = np.concatenate([SEEN[part], SEEN[part][-1:]])
            group["actions"], group["rewards"] = ACTIONS[part], REWARDS[part]
            group["terminations"], group["truncations"] = DONES[part], np.zeros(10, bool)
    return folder / "set"


def _parquet(folder: Path) -> Path:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    columns = {"observations": list(SEEN), "actions": ACTIONS, "rewards": REWARDS, "terminated": DONES}
    parquet.write_table(pyarrow.table(columns), folder / "steps.parquet")
    return folder / "steps.parquet"


@pytest.mark.parametrize("write", [_npz, _csv, _hdf5, _minari, _parquet])
def test_every_format_gives_the_same_steps(write: object, tmp_path: Path) -> None:
    steps = read_trace(write(tmp_path))  # type: ignore[operator]
    assert np.allclose(steps.observations, SEEN)
    assert np.allclose(steps.rewards, REWARDS)
    assert steps.action_space.kind == "discrete"
    assert steps.terminated.sum() == 4
    assert steps.times.max() == 9
    assert len(np.unique(steps.episodes)) == 4


@pytest.mark.parametrize("name", ["replay.pkl", "buffer.pickle", "data.pt"])
def test_a_pickle_is_refused_unopened(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"\x80\x04cos\nsystem\n(S'false'\ntR.")
    with pytest.raises(UsageError, match="pickle"):
        read_trace(tmp_path / name)


def test_an_array_of_objects_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "steps.npz", obs=np.array([{}, {}], dtype=object), act=ACTIONS, rews=REWARDS)
    with pytest.raises(RunReadError):
        read_trace(tmp_path / "steps.npz")


def test_a_file_without_rewards_says_what_is_missing(tmp_path: Path) -> None:
    np.savez(tmp_path / "steps.npz", obs=SEEN, act=ACTIONS)
    with pytest.raises(RunReadError, match="no rewards"):
        read_trace(tmp_path / "steps.npz")


@pytest.mark.parametrize("kind", ["external", "soft", "rows", "virtual"])
def test_members_of_an_hdf5_file_that_lie_elsewhere_are_refused(kind: str, tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["observations"] = SEEN
    (tmp_path / "secret").write_bytes(bytes(8 * SEEN.size))
    with h5py.File(tmp_path / "steps.h5", "w") as file:
        file["actions"], file["rewards"] = ACTIONS, REWARDS
        if kind == "external":
            file["observations"] = h5py.ExternalLink(str(tmp_path / "other.h5"), "/observations")
        elif kind == "soft":
            file["x"] = h5py.ExternalLink(str(tmp_path / "other.h5"), "/")
            file["observations"] = h5py.SoftLink("/x/observations")
        elif kind == "rows":
            place = [(str(tmp_path / "secret"), 0, 8 * SEEN.size)]
            file.create_dataset("observations", SEEN.shape, dtype="f8", external=place)
        else:
            layout = h5py.VirtualLayout(SEEN.shape, "f8")
            layout[:] = h5py.VirtualSource(str(tmp_path / "other.h5"), "observations", SEEN.shape)
            file.create_virtual_dataset("observations", layout)
    with pytest.raises(RunReadError, match=r"is a link|lie in another file"):
        read_trace(tmp_path / "steps.h5")


def test_a_parquet_file_that_makes_its_library_abort_is_damaged(tmp_path: Path) -> None:
    path = _parquet(tmp_path)
    whole = path.read_bytes()
    # A count in the footer, of which the library does not expect any other.
    at = len(whole) - 1015
    path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
    with pytest.raises(RunReadError, match="damaged"):
        read_trace(path)


def test_a_small_file_of_equal_numbers_does_not_fill_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trace, "MOST_BYTES", 1 << 20)
    np.savez_compressed(tmp_path / "steps.npz", obs=np.zeros((2, 300_000), "u1"), act=ACTIONS, rews=REWARDS)
    np.savez_compressed(tmp_path / "many.npz", obs=SEEN, act=np.zeros(100_000), rews=np.zeros(100_000, "u1"))
    paths = [tmp_path / "steps.npz", tmp_path / "many.npz"]
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    columns = {"obs": [[0.0] * 300_000], "act": [1], "rews": [1.0]}
    parquet.write_table(pyarrow.table(columns), tmp_path / "steps.parquet")
    paths.append(tmp_path / "steps.parquet")
    for path in paths:
        assert path.stat().st_size < 10_000
        with pytest.raises(RunReadError, match=r"1 MB|0 MB"):
            read_trace(path)


@pytest.mark.parametrize("form", ["columns", "episodes", "chunk"])
def test_rows_that_were_never_written_do_not_fill_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    h5py = pytest.importorskip("h5py")
    monkeypatch.setattr(trace, "MOST_BYTES", 1 << 20)
    with h5py.File(tmp_path / "steps.h5", "w") as file:
        group = file.create_group("episode_0") if form == "episodes" else file
        group["actions"], group["rewards"] = ACTIONS, REWARDS
        group["terminations"] = group["truncations"] = DONES
        if form == "chunk":
            file.create_dataset("observations", SEEN.shape, chunks=(1000, 1000), maxshape=(None, None), dtype="f8")
        else:
            for name in ("observations", "obs"):
                group.create_dataset(name, (len(SEEN), 2_000), chunks=(1, 2_000), dtype="f8")
    assert (tmp_path / "steps.h5").stat().st_size < 40_000
    with pytest.raises(RunReadError, match="larger than 1 MB"):
        read_trace(tmp_path / "steps.h5")


def test_of_episodes_that_fill_the_memory_only_the_first_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = _minari(tmp_path)
    monkeypatch.setattr(trace, "MOST_BYTES", 1_000)
    assert len(np.unique(read_trace(folder).episodes)) < 4


def test_columns_that_are_no_numbers_are_not_decoded(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    # As text of its own in each row it would take 3 GB.
    note = pyarrow.DictionaryArray.from_arrays(pyarrow.array(np.zeros(40, "i4")), pyarrow.array(["x" * 75_000_000]))
    columns = {"obs": list(SEEN), "act": ACTIONS, "rews": REWARDS, "done": DONES, "note": note}
    parquet.write_table(pyarrow.table(columns), tmp_path / "steps.parquet")
    assert np.allclose(read_trace(tmp_path / "steps.parquet").observations, SEEN)
