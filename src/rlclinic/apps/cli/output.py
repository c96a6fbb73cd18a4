"""Where the command line's words go: results to stdout, everything else to stderr."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

from rlclinic.model.errors import RlclinicError, UsageError
from rlclinic.reports.text import printable

PIPE_WIDTH = 100


def write(text: str) -> None:
    """Print a result. Characters that the terminal cannot show are replaced, never an error."""
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, errors="replace").decode(encoding))
    sys.stdout.flush()


def write_json(value: object) -> None:
    """Print a result as JSON."""
    write(_json(value))


def deliver(value: object, output: Path | None) -> None:
    """Print a result, text as it is and all else as JSON; or write it to a file, whole or not at all."""
    text = value if isinstance(value, str) else _json(value)
    if output is None:
        write(text)
        return
    from rlclinic.store.files import write_whole

    try:
        if output.is_file() or not output.exists():
            write_whole(output, text)
        else:
            # A device or a pipe must not become a file.
            output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot be written: {error.strerror}", path=str(output)) from error
    say(f"written to {output}")


def write_lines(lines: Iterable[str]) -> None:
    """Print lines that hold names or words of a run, without secrets and harmless for a terminal."""
    from rlclinic.readers.redaction.redact import redact

    write(printable(redact("\n".join(lines))) + "\n")


def say(line: str) -> None:
    """Tell the user something beside the result, harmless for a terminal."""
    from rlclinic.readers.redaction.redact import redact

    sys.stderr.write(printable(redact(line)) + "\n")


def write_error(error: RlclinicError, *, as_json: bool) -> None:
    """Print what is wrong, where, and what to do."""
    if as_json:
        write_json(error.to_json())
        return
    where = f"{error.path}: " if error.path else ""
    say(f"rlclinic: {where}{error.message}" + (f"\n  {error.hint}" if error.hint else ""))


def wants_colour() -> bool:
    """Colour on a terminal only; NO_COLOR and FORCE_COLOR decide where they are set."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or sys.stdout.isatty()


def terminal_width() -> int:
    """The terminal's width within readable bounds; a fixed one in a pipe."""
    if not sys.stdout.isatty():
        return PIPE_WIDTH
    return max(60, min(shutil.get_terminal_size().columns, 120))


class Progress:
    """A counter for long work: one line that is rewritten on a terminal, plain lines in a pipe."""

    def __init__(self, what: str, every: int = 100) -> None:
        self._what = what
        self._every = every
        self._terminal = sys.stderr.isatty()

    def __call__(self, done: int, total: int) -> None:
        if self._terminal:
            end = "\n" if done == total else ""
            sys.stderr.write(f"\r{self._what} {done}/{total}{end}")
            sys.stderr.flush()
        elif total >= self._every and (done % self._every == 0 or done == total):
            sys.stderr.write(f"{self._what} {done}/{total}\n")


def _json(value: object) -> str:
    # Imported where it is needed: it brings numpy, which verbs that print no JSON start without.
    from rlclinic.readers.redaction.redact import redact_value
    from rlclinic.reports.run_json import dumps

    # Runs come clean from their readers; the names of folders and what the user typed pass none.
    return dumps(redact_value("", value)) + "\n"
