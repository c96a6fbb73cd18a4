"""The one place where files that others wrote are opened: links are followed once, in `real`, and never again.

Between the check of a path and its use another process may put a link where a folder was. So a name is made a real
path once, that path is checked, and exactly it is opened: a link in any part of it is refused, not followed.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import BinaryIO

# A pipe must not wait for its writer, a terminal not become ours; Windows must not translate line ends.
_READ = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC", "O_BINARY"))
_FOLDER = getattr(os, "O_DIRECTORY", 0)
# A folder that may be passed through but not listed (a /home of mode 711) can still be opened to go on from it.
_PASS = getattr(os, "O_PATH", 0)
# macOS refuses links in all parts of a path by itself.
_NO_LINKS = getattr(os, "O_NOFOLLOW_ANY", 0)
_LISTS_HANDLES = os.scandir in os.supports_fd
# Bytes of a config, a status or a list of runs.
SMALL = 4 << 20

ROOT: ContextVar[str] = ContextVar("root", default="")
"""The root, itself a real path, that nothing leaves; empty where there is none."""


def confine(root: str) -> None:
    """Nothing outside of a root, itself a real path, is opened by this process from now on."""
    ROOT.set(root)


@contextmanager
def confined(root: str | Path) -> Iterator[None]:
    """Nothing outside of a root, itself a real path, is opened meanwhile."""
    before = ROOT.set(str(root))
    try:
        yield
    finally:
        ROOT.reset(before)


def real(path: str | Path) -> str:
    """Where a path leads when all links are followed; OSError where that is out of the root."""
    return inside(os.path.realpath(path), path)


def inside(found: str, named: str | Path) -> str:
    """A real path, named so; OSError where it is out of the root."""
    root = ROOT.get()
    if root and not is_below(found, root):
        raise PermissionError(errno.EACCES, "leads out of the root", str(named))
    return found


def is_below(path: str, root: str) -> bool:
    """Whether a real path is a root or lies below it."""
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)


def is_file(path: Path) -> bool:
    """Whether a regular file lies there; not where the name is none that the system takes, or the way is closed."""
    try:
        return path.is_file()
    except OSError:
        return False


def lies_in(path: Path, folder: Path) -> bool:
    """Whether a regular file lies below a folder, with no link on the way that leads out."""
    return is_file(path) and is_below(os.path.realpath(path), os.path.realpath(folder))


def open_file(path: str) -> BinaryIO:
    """A regular file by its real path."""
    handle = _open(path, _READ)
    try:
        mode = os.fstat(handle).st_mode
        if not stat.S_ISREG(mode):
            kind = "a directory, " if stat.S_ISDIR(mode) else ""
            raise OSError(errno.EINVAL, f"{kind}not a regular file", path)
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def read_file(path: str | Path, limit: int = SMALL) -> bytes:
    """A small file that is named rather than found: links on the way to it are followed once."""
    with open_file(real(path)) as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        size = f"{limit >> 20} MB" if limit >= 1 << 20 else f"{limit >> 10} KB"
        raise OSError(errno.EFBIG, f"larger than {size}", str(path))
    return data


def status(path: str) -> os.stat_result:
    """Kind, size and times of what lies at a real path, without opening it where the system can tell so."""
    handle = _open(path, _PASS or _READ)
    try:
        found = os.fstat(handle)
    finally:
        os.close(handle)
    if stat.S_ISLNK(found.st_mode):
        raise _is_link(path)
    return found


@contextmanager
def listing(folder: str) -> Iterator[Iterator[os.DirEntry[str]]]:
    """What lies in a folder of a real path. Entries may be asked for their kind and size in here only."""
    handle = _open(folder, _READ | _FOLDER) if _LISTS_HANDLES else None
    try:
        if handle is None and os.path.realpath(folder) != folder:
            raise _is_link(folder)
        with os.scandir(folder if handle is None else handle) as entries:
            yield entries
    finally:
        if handle is not None:
            os.close(handle)


def _open(path: str, flags: int) -> int:
    if _NO_LINKS:
        return os.open(path, flags | _NO_LINKS)
    if not _PASS:
        return _open_and_compare(path, flags)
    *above, last = path.split("/")[1:]
    folder = os.open("/", _PASS | os.O_CLOEXEC)
    try:
        for name in above:
            below = os.open(name, _PASS | _FOLDER | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
            os.close(folder)
            folder = below
        return os.open(last or ".", flags | os.O_NOFOLLOW, dir_fd=folder)
    finally:
        os.close(folder)


def _open_and_compare(path: str, flags: int) -> int:
    """Windows: open, then see whether the path still leads to itself and to what was opened."""
    handle = os.open(path, flags)
    if os.path.realpath(path) == path and os.path.samestat(os.lstat(path), os.fstat(handle)):
        return handle
    os.close(handle)
    raise _is_link(path)


def _is_link(path: str) -> OSError:
    return OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
