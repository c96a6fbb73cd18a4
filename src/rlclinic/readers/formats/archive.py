"""Members of zip archives and the arrays of an npz: never unpickled, never larger than asked for.

What an archive says about its sizes is not believed: decompression stops at the limit. Only FormatError is raised.
"""

from __future__ import annotations

import io
import warnings
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from rlclinic.model.numbers import bounded_array
from rlclinic.readers.formats.errors import FormatError

# The methods that numpy and Stable-Baselines3 write; the others decompress without a limit.
METHODS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
# What the numbers of a file may take: one byte in the file may be eight in memory.
MOST_BYTES = 512 << 20
# Arrays of one file that are looked at.
MAX_ARRAYS = 100


def read_members(source: IO[bytes], names: Sequence[str], limit: int) -> dict[str, bytes]:
    """Those of the named members that a zip archive has."""
    with _damage(), zipfile.ZipFile(source) as archive:
        there = set(archive.namelist())
        return {name: _member(archive, name, limit) for name in names if name in there}


def read_arrays(source: IO[bytes], names: Sequence[str], limit: int) -> dict[str, NDArray[np.float64]]:
    """Those of the named arrays of numbers that an npz has, one row for each entry; `limit` is for all of them."""
    found: dict[str, NDArray[np.float64]] = {}
    with _damage(), zipfile.ZipFile(source) as archive:
        there = set(archive.namelist())
        for name in names:
            if f"{name}.npy" in there:
                found[name] = read_array(_member(archive, f"{name}.npy", limit), limit)
                limit -= found[name].nbytes
    return found


def array_names(source: IO[bytes]) -> list[str]:
    """The names of the arrays of an npz."""
    with _damage(), zipfile.ZipFile(source) as archive:
        return [name.removesuffix(".npy") for name in archive.namelist()[:MAX_ARRAYS] if name.endswith(".npy")]


def _member(archive: zipfile.ZipFile, name: str, limit: int) -> bytes:
    if archive.getinfo(name).compress_type not in METHODS:
        raise FormatError(f"{name}: its compression is not read")
    with archive.open(name) as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise FormatError(f"{name} is larger than {limit >> 20} MB")
    return data


def read_array(data: bytes, limit: int = MOST_BYTES) -> NDArray[np.float64]:
    """An array of numbers from the bytes of an npy, one row for each entry."""
    with _damage(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numpy wants files of Python 2 to be saved anew
        array: NDArray[Any] = np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)
    if array.dtype.kind not in "biuf":
        raise FormatError(f"an array of {array.dtype.name} holds no numbers")
    if 8 * array.size > limit:
        raise FormatError(f"{array.size:,} numbers take more than {limit >> 20} MB")
    rows = np.atleast_1d(array)
    return bounded_array(rows.reshape(len(rows), -1)) if rows.size else np.empty((0, 0))


@contextmanager
def _damage() -> Iterator[None]:
    try:
        yield
    except FormatError:
        raise
    except Exception as error:  # zipfile, zlib and numpy raise a dozen kinds at damage
        raise FormatError(f"damaged ({type(error).__name__})") from None
