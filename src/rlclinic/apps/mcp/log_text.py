"""The log of a run as an agent may see it: clean lines, no secrets, the end first in mind."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rlclinic.apps.mcp.workspace import OpenRun
from rlclinic.model.errors import UsageError

if TYPE_CHECKING:
    from rlclinic.model.run import LogExcerpt
    from rlclinic.readers.place import Entry

# Of a longer log only the end is read; in bytes.
MOST_BYTES = 8 << 20
LONGEST_LINE = 400
LONGEST_PATTERN = 300
# A pattern that takes longer runs away; in seconds.
PATIENCE = 10.0
_SPECIAL = re.compile(r"[.^$*+?{}\[\]\\|()]")
# Matches in a process of its own, which can be ended: a regular expression may take for ever.
_MATCH = (
    "import re,sys,json\n"
    "pattern,lines=json.load(sys.stdin)\n"
    "found=re.compile(pattern,re.IGNORECASE)\n"
    "json.dump([i for i,line in enumerate(lines) if found.search(line)],sys.stdout)\n"
)


def log_lines(opened: OpenRun) -> tuple[str, list[str]]:
    """The name of the run's main log and its lines, secrets removed; no lines where there is no log."""
    entry = _main_log(opened)
    if entry is None:
        return "", []
    from rlclinic.readers.formats.logs.log_text import clean_lines
    from rlclinic.readers.redaction.redact import redact
    from rlclinic.reports.text import printable

    with entry.open() as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - MOST_BYTES))
        data = file.read(MOST_BYTES)
    text = redact("\n".join(clean_lines(data)), opened.run.secrets)
    return entry.relative, [printable(line)[:LONGEST_LINE] for line in text.split("\n")] if text else []


def gravest(items: Sequence[LogExcerpt]) -> list[LogExcerpt]:
    """Tracebacks before errors before warnings, and of each the last first: it tells how the run ended."""
    return [item for kind in ("traceback", "error", "warning") for item in reversed(items) if item.kind == kind]


def quoted(item: LogExcerpt, most: int) -> str:
    """An excerpt in about so many characters: its beginning, and its last line, where a traceback names the error."""
    last = item.text.rstrip().rpartition("\n")[2][: most // 2]
    text = item.text if len(item.text) <= most else f"{item.text[: most - len(last)].rstrip()} ... {last}"
    return f"{item.kind} in {item.file}, line {item.line}: {text}"


def matching(lines: list[str], pattern: str) -> list[str]:
    """The lines in which a regular expression is found, upper and lower case alike."""
    if not _SPECIAL.search(pattern):
        return [line for line in lines if pattern.casefold() in line.casefold()]
    if len(pattern) > LONGEST_PATTERN:
        raise UsageError(f"filter_pattern has {len(pattern)} characters", hint=f"at most {LONGEST_PATTERN}")
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise UsageError(f"filter_pattern is no regular expression: {error}", hint="escape ( [ . * with \\") from error
    import json

    try:
        ended = subprocess.run(
            [sys.executable, "-I", "-S", "-c", _MATCH],
            input=json.dumps([pattern, lines]),
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise UsageError("filter_pattern takes too long on this log", hint="use a plain word") from error
    found: list[int] = json.loads(ended.stdout or "[]")
    return [lines[index] for index in found]


def _main_log(opened: OpenRun) -> Entry | None:
    """run.log, else the longest file that looks like a log."""
    from rlclinic.readers.parts.logs import log_entries
    from rlclinic.readers.place import scan, single

    path = Path(opened.path)
    entries = log_entries(scan(path) if path.is_dir() else single(path))
    named = [entry for entry in entries if entry.relative == "run.log" and entry.size]
    return (named or sorted(entries, key=lambda entry: -entry.size) or [None])[0]  # type: ignore[list-item]
