"""What all tools share: the root, the runs that were read, and the limits."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from rlclinic.apps.mcp.confine import inside, shown
from rlclinic.model.errors import RunReadError, UsageError

if TYPE_CHECKING:
    from rlclinic.model.diagnosis import Diagnosis
    from rlclinic.model.run import Run
    from rlclinic.model.series import FloatArray

RUNS = "runs"
NICKNAMES = ("@last", "@best", "@latest-run")
# Bytes of series that are kept in memory; the run that was asked for last always stays.
MOST_BYTES = 256 << 20
MOST_CASES = 64
# Seconds for which a running run is not read again: its state depends on the clock, not on its files alone.
FRESH = 1.0
JOBS = 2


class Case:
    """One run that was read, with what was made of it."""

    def __init__(self, run: Run, path: Path) -> None:
        self.run = run
        self.path = path
        """The run's folder, or its file."""
        self.read_at = time.monotonic()

    @cached_property
    def diagnosis(self) -> Diagnosis:
        """The diagnosis, made once."""
        from rlclinic.engine import diagnose

        return diagnose(self.run)

    @cached_property
    def epochs(self) -> tuple[FloatArray, FloatArray] | None:
        """Env steps and epochs of the rows, where the run's table counts epochs."""
        from rlclinic.apps.mcp.epochs import epochs_of

        return epochs_of(self.run, self.path)

    @property
    def running(self) -> bool:
        """Whether it still goes on."""
        return self.run.status.state.value == "running"

    @cached_property
    def size(self) -> int:
        """Bytes of its series."""
        return sum(s.values.nbytes + s.steps.nbytes for s in self.run.series.values())


@dataclass(slots=True)
class Desk:
    """Where the tools work."""

    root: Path
    """Resolved; nothing outside of it is read or written."""
    jobs: int = JOBS
    """Trainings, trials and probings at a time."""
    starting: threading.Lock = field(default_factory=threading.Lock)
    """Held while a job is counted and started, so that two callers at once do not exceed the limit."""
    _cases: OrderedDict[str, tuple[object, Case]] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def runs(self) -> Path:
        """Where runs are made, and first looked for."""
        return self.root / RUNS

    def case(self, name: str) -> Case:
        """The run that a name means: an id, `@last`, `@best`, or a path below the root."""
        found = self.locate(name)
        folder = Path(found.partition("::")[0])
        mark = _fingerprint(folder)
        with self._lock:
            kept = self._cases.get(found)
            if kept is not None and kept[0] == mark and not _is_stale(kept[1]):
                self._cases.move_to_end(found)
                return kept[1]
        from rlclinic.readers.open import read

        case = Case(read(found), folder)
        with self._lock:
            self._cases[found] = (mark, case)
            self._cases.move_to_end(found)
            self._forget()
        return case

    def locate(self, name: str) -> str:
        """The absolute path of a run, with its member where a file holds several."""
        from rlclinic.store.names import resolve

        plain, separator, member = name.strip().partition("::")
        folder, _, last = plain.rstrip("/").rpartition("/")
        folder = folder or ("/" if plain.startswith("/") else "")
        if "://" in plain:
            raise UsageError("runs of other machines are not read here", hint="download the run below the root first")
        if last in NICKNAMES:
            home = inside(self.root, folder) if folder else (self.runs if self.runs.is_dir() else self.root)
            return self._checked(resolve(str(home / last)), name)
        path = inside(self.root, plain)
        if not path.exists() and self.runs.is_dir():
            path = inside(self.runs.resolve(), plain) if "/" not in plain else path
        if path.exists() and path != self.root:
            return self._checked(resolve(f"{path}{separator}{member}"), name)
        if "/" in plain or plain in (".", ".."):
            raise RunReadError("no such run", path=plain, hint="call list_runs for the runs below the root")
        return self._checked(self._by_id(name), name)

    def shown(self, path: str | Path) -> str:
        """A path relative to the root."""
        return shown(self.root, path)

    def relative(self, text: str) -> str:
        """A text of ours without the place of the root on this machine."""
        return text.replace(f"{self.root}/", "").replace(str(self.root), ".")

    def _by_id(self, name: str) -> list[str]:
        from rlclinic.store.listing import list_runs

        listing = list_runs(self.root)
        pairs = list(zip(listing.refs, listing.summaries, strict=True))
        exact = [ref.name for ref, row in pairs if name in (row["id"], ref.path.name, ref.name)]
        found = exact or [ref.name for ref, row in pairs if str(row["id"]).startswith(name)]
        if not found:
            known = [str(row["id"]) for row in listing.summaries[:5]]
            told = f"; there are {', '.join(known)} ..." if known else "; there are none below the root"
            raise RunReadError(f"no run is called {name!r}{told}", hint="call list_runs for the ids")
        return found

    def _checked(self, found: list[str], name: str) -> str:
        """One path, and inside the root also after links were followed."""
        if len(found) > 1:
            told = ", ".join(self.shown(path) for path in found[:4])
            raise UsageError(f"{name!r} fits {len(found)} runs: {told}", hint="name one of them by its path")
        plain, separator, member = found[0].partition("::")
        return f"{inside(self.root, plain)}{separator}{member}"

    def _forget(self) -> None:
        while len(self._cases) > 1 and (
            len(self._cases) > MOST_CASES or sum(case.size for _, case in self._cases.values()) > MOST_BYTES
        ):
            self._cases.popitem(last=False)


def _is_stale(case: Case) -> bool:
    return case.running and time.monotonic() - case.read_at > FRESH


def _fingerprint(path: Path) -> object:
    """Changes with every file of the run."""
    if path.is_file():
        status = path.stat()
        return status.st_size, status.st_mtime_ns
    from rlclinic.readers.tree import walk

    return walk(path).fingerprint(deep=True)
