"""The errors a user can meet.

RlclinicError
├── UsageError           the call itself is wrong: an unknown option, a name that fits several runs
└── RunReadError         a run could not be read
    └── NothingReadable  the place exists but holds nothing that a reader knows

Each says what is wrong, where, and what to do; the command line prints exactly that.
"""

from __future__ import annotations

from enum import IntEnum


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


def _rebuild(kind: type[RlclinicError], message: str, path: str, hint: str) -> RlclinicError:
    return kind(message, path=path, hint=hint)
