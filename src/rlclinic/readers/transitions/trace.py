"""A file of recorded steps: npz (a replay of a checkpoint too), HDF5 (d4rl, robomimic), Minari, CSV, parquet."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rlclinic.model.errors import RunReadError, UsageError
from rlclinic.model.transitions import Transitions
from rlclinic.readers.formats.archive import MOST_BYTES, read_arrays
from rlclinic.readers.formats.errors import FormatError
from rlclinic.readers.formats.tables.csv_table import read_csv
from rlclinic.readers.no_links import open_file, real
from rlclinic.readers.transitions.columns import MOST_ROWS, NAMES, thinned, transitions_of
from rlclinic.readers.transitions.parquet import is_installed, read_parquet

# Members of an episode of Minari and robomimic.
NEEDED = ("rewards", "observations", "obs", "actions", "terminations", "dones", "truncations")
KNOWN = tuple(spelling for spellings in NAMES.values() for spelling in spellings)
INSTALL = "pip install 'rlclinic[data]'"


def read_trace(path: Path, *, needs_rewards: bool = True) -> Transitions:
    """The steps of a file; RunReadError where it holds none. Nothing in it is unpickled."""
    name = path.name.lower()
    if path.is_dir():
        inner = next(
            (path / part for part in ("data/main_data.hdf5", "main_data.hdf5") if (path / part).is_file()), None
        )
        if inner is None:
            raise UsageError("is a folder", path=str(path), hint="name a file of transitions, or a Minari data set")
        return read_trace(inner, needs_rewards=needs_rewards)
    if not path.is_file():
        raise RunReadError("no such file", path=str(path), hint="check the path")
    if name.endswith((".pkl", ".pickle", ".pt", ".pth")):
        raise UsageError(
            "is a pickle, which could run code, and is not opened",
            path=str(path),
            hint="save its arrays instead: np.savez(FILE, observations=..., actions=..., rewards=..., dones=...)",
        )
    reader = next((read for ends, read in READERS.items() if name.endswith(ends)), None)
    if reader is None:
        raise UsageError("is no file of transitions", path=str(path), hint="npz, hdf5, csv or parquet")
    try:
        return transitions_of(reader(path), needs_rewards=needs_rewards)
    except FormatError as error:
        raise RunReadError(f"holds no transitions: {error}", path=str(path)) from error


def _npz(path: Path) -> Mapping[str, Any]:
    with open_file(real(path)) as file:
        found = dict(read_arrays(file, [*KNOWN, "flags", "places"], MOST_BYTES))
    if {"flags", "places"} <= found.keys():
        # As Observe writes it: `episodes` is a table of them there.
        (found["terminated"], found["truncated"]), places = found["flags"].T, found["places"]
        found["episodes"] = places[:, 0] * 10_000_000 + places[:, 1]
    return found


def _csv(path: Path) -> Mapping[str, Any]:
    """Columns `obs_0 obs_1 ... action reward done`, numbered or single."""
    with open_file(real(path)) as file:
        table = read_csv(file.read(MOST_BYTES))
    return _numbered(dict(table.numbers))


def _parquet(path: Path) -> Mapping[str, Any]:
    if not is_installed():
        raise UsageError("parquet needs pyarrow", path=str(path), hint=INSTALL)
    with open_file(real(path)) as file:
        return _numbered(read_parquet(file, MOST_BYTES))


def _hdf5(path: Path) -> Mapping[str, Any]:
    try:
        import h5py
    except ModuleNotFoundError as error:
        raise UsageError("HDF5 needs h5py", path=str(path), hint=INSTALL) from error
    with open_file(real(path)) as handle, _damage(), h5py.File(handle, "r") as file:
        groups = [_own(file, key) for key in file if key.startswith("episode_")]
        if not groups and "data" in file:
            data = _own(file, "data")
            groups = [_own(data, key) for key in data]
        if groups:
            return _episodes(groups)
        known = [name for name in KNOWN if name in file]
        if not known:
            raise FormatError(f"no column of steps among {', '.join(list(file)[:12])}")
        return _arrays(file, known, MOST_BYTES)


def _own(group: Any, key: str) -> Any:
    """A member whose bytes lie in this very file: HDF5 may name others for a group and for the rows of an array."""
    found = group[key] if type(group.get(key, getlink=True)).__name__ == "HardLink" else None
    if found is None:
        raise FormatError(f"{key} is a link")
    if getattr(found, "external", None) or getattr(found, "is_virtual", False):
        raise FormatError(f"the rows of {key} lie in another file")
    return found


def _arrays(group: Any, names: Iterable[str], limit: int) -> dict[str, NDArray[Any]]:
    """The first rows of arrays of numbers; FormatError where all of them take more than `limit` bytes."""
    found = {name: _own(group, name) for name in names}
    for name, array in found.items():
        if getattr(array, "dtype", np.dtype(object)).kind not in "biuf":
            raise FormatError(f"{name} holds no numbers")
        # Rows that were never written take no room in the file; a chunk is unpacked as a whole.
        limit -= array.dtype.itemsize * max(
            math.prod((min(len(array), MOST_ROWS), *array.shape[1:])), math.prod(array.chunks or ())
        )
    if limit < 0:
        raise FormatError(f"its arrays are larger than {MOST_BYTES >> 20} MB")
    return {name: thinned(array[:MOST_ROWS]) for name, array in found.items()}


@contextmanager
def _damage() -> Iterator[None]:
    try:
        yield
    except FormatError:
        raise
    except Exception as error:  # h5py raises a dozen kinds at damage
        raise FormatError(f"damaged ({type(error).__name__})") from None


def _episodes(groups: list[Any]) -> Mapping[str, Any]:
    """Episodes in groups of their own, as Minari and robomimic keep them; observations have one row more."""
    parts: dict[str, list[Any]] = {}
    total = size = 0
    for number, member in enumerate(groups):
        group = _arrays(member, (key for key in NEEDED if key in member), MOST_BYTES)
        count = len(group["actions"])
        seen = group["observations"] if "observations" in group else group["obs"]
        found = {
            "observations": seen[:count],
            "next_observations": seen[1 : count + 1] if len(seen) > count else np.concatenate([seen[1:], seen[-1:]]),
            "actions": group["actions"],
            **({"rewards": group["rewards"]} if "rewards" in group else {}),
            "terminated": group["terminations"] if "terminations" in group else group["dones"],
            "truncated": group["truncations"] if "truncations" in group else np.zeros(count),
            "episodes": np.full(count, number),
        }
        for name, values in found.items():
            parts.setdefault(name, []).append(values)
        total, size = total + count, size + sum(array.nbytes for array in group.values())
        if total >= MOST_ROWS or size >= MOST_BYTES:
            break
    return {name: np.concatenate(values) for name, values in parts.items()}


def _numbered(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Columns `obs_0`, `obs_1` joined to `obs`."""
    found: dict[str, Any] = {}
    groups: dict[str, list[tuple[int, Any]]] = {}
    for name, values in columns.items():
        stem, _, number = name.replace("[", "_").rstrip("]").rpartition("_")
        if stem and number.isdecimal() and len(number) < 10:
            groups.setdefault(stem, []).append((int(number), values))
        else:
            found[name] = values
    for stem, members in groups.items():
        ordered = [np.asarray(values) for _, values in sorted(members, key=lambda item: item[0])]
        if len({values.shape for values in ordered}) == 1:
            found[stem] = np.stack(ordered, axis=1)
    return found


READERS: Mapping[tuple[str, ...], Callable[[Path], Mapping[str, Any]]] = {
    (".npz",): _npz,
    (".csv",): _csv,
    (".parquet",): _parquet,
    (".hdf5", ".h5"): _hdf5,
}
