"""The errors a user can meet.

RlclinicError
├── UsageError           the call itself is wrong: an unknown option, a name that fits several runs
└── RunReadError         a run could not be read
    ├── NothingReadable  the place exists but holds nothing that a reader knows
    └── InternalError    rlclinic itself failed on it

Each says what is wrong, where, and what to do; the command line prints exactly that.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from pathlib import Path


class ExitCode(IntEnum):
    """What the command line returns to the shell."""

    OK = 0
    FINDINGS = 1
    ERROR = 2
    NOTHING_READABLE = 5
    INTERRUPTED = 130


class RlclinicError(Exception):
    """Something the user can act on."""

    kind = "error"
    exit_code = ExitCode.ERROR

    def __init__(self, message: str, *, path: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.path = path
        self.hint = hint

    def __reduce__(self) -> tuple[object, ...]:
        # Keyword-only arguments do not survive the default pickling between worker processes.
        return _rebuild, (type(self), self.message, self.path, self.hint)

    def to_json(self) -> dict[str, object]:
        """The error object of the JSON contract."""
        return {
            "schema": "rlclinic.error/1",
            "error": {"kind": self.kind, "message": self.message, "path": self.path, "hint": self.hint},
        }


class UsageError(RlclinicError):
    """The call names something that does not exist or is not unique."""

    kind = "usage"


class RunReadError(RlclinicError):
    """A run could not be read."""

    kind = "unreadable"


class NothingReadable(RunReadError):  # noqa: N818 - reads as what it is
    """The place exists, but nothing in it is a run that a reader knows."""

    kind = "nothing-readable"
    exit_code = ExitCode.NOTHING_READABLE


class InternalError(RunReadError):
    """Something that rlclinic did not foresee; `__cause__` is what it was."""

    kind = "internal"


@contextmanager
def contained(path: str | Path = "") -> Iterator[None]:
    """Whatever goes wrong with one run becomes an error that names it, so that it takes no other run down.

    Every place that reads or examines a run works inside of it. The text of the unforeseen error may quote the run's
    files, so only its kind and place are told.
    """
    try:
        yield
    except (RlclinicError, BrokenPipeError):
        # A pipe that breaks is the end of whoever reads our output, not of the run.
        raise
    except OSError as error:
        message = f"cannot be read or written: {error.strerror or type(error).__name__}"
        raise RunReadError(message, path=str(error.filename or path)) from error
    except Exception as error:
        raise InternalError(
            f"rlclinic failed on it ({type(error).__name__} in {_place(error)})",
            path=str(path),
            hint="this is a defect of rlclinic; please report it with the file that it fails on",
        ) from error


def _place(error: Exception) -> str:
    """The last line of ours that the error passed."""
    package = str(Path(__file__).parent.parent)
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.startswith(package)]
    return f"{Path(own[-1].filename).relative_to(package)}:{own[-1].lineno}" if own else "a library"


def _rebuild(kind: type[RlclinicError], message: str, path: str, hint: str) -> RlclinicError:
    return kind(message, path=path, hint=hint)
