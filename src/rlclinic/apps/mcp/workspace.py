"""What all tools share: the root, the runs that were read, and the limits."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from dataclasses import field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlclinic.apps.mcp.confine import inside, shown
from rlclinic.model.errors import RunReadError, UsageError
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.readers.discover import MEMBER, split_name

if TYPE_CHECKING:
    from rlclinic.model.diagnosis import Diagnosis
    from rlclinic.model.run import Run
    from rlclinic.model.series import FloatArray, Series

RUNS = "runs"
NICKNAMES = ("@last", "@best", "@latest-run")
# Bytes of series that are kept in memory; the run that was asked for last always stays.
MOST_BYTES = 256 << 20
MOST_OPEN = 64
# Seconds for which a running run is not read again: its state depends on the clock, not on its files alone.
FRESH = 1.0
# Seconds for which an id means the run that it meant before, and how many ids are remembered.
LISTED = 5.0
MOST_IDS = 256
JOBS = 2


class OpenRun:
    """One run that was read, with what was made of it."""

    def __init__(self, run: Run, path: Path) -> None:
        self.run = run
        self.path = path
        """The run's folder, or its file."""
        self.read_at = time.monotonic()
        self.answers: dict[tuple[str, str], Any] = {}
        """What tools answered, by tool and arguments."""

    @cached_property
    def diagnosis(self) -> Diagnosis:
        """The diagnosis, made once."""
        from rlclinic.engine import diagnose

        return diagnose(self.run)

    def towards(self, goal: float | None) -> Diagnosis:
        """The diagnosis against a return that the caller is after."""
        from rlclinic.engine import diagnose

        return self.diagnosis if goal is None else diagnose(self.run, goal=goal)

    @cached_property
    def epochs(self) -> tuple[FloatArray, FloatArray] | None:
        """Env steps and epochs of the rows, where the run's table counts epochs."""
        from rlclinic.apps.mcp.epochs import epochs_of

        return epochs_of(self.run, self.path)

    def series(self, name: str) -> Series:
        """The metric that a caller means; UsageError with near names where the run has none."""
        from rlclinic.reference.metric_lookup import lookup, suggestions

        found = lookup(self.run, name)
        if found is not None:
            return found
        if not self.run.series:
            raise UsageError("the run has no metric at all", hint="show_run tells what was read of it")
        near = suggestions(self.run, name)
        told = f"near are {', '.join(near)}; " if near else ""
        raise UsageError(f"the run has no metric {name!r}", hint=f"{told}list_available_metrics lists all")

    @property
    def running(self) -> bool:
        """Whether it still goes on."""
        return self.run.status.state.value == "running"

    @cached_property
    def size(self) -> int:
        """Bytes of its series."""
        return sum(s.values.nbytes + s.steps.nbytes for s in self.run.series.values())


@dataclass(slots=True)
class Workspace:
    """The folder that the tools work in, and the runs of it that were read."""

    root: Path
    """Resolved; nothing outside of it is read or written."""
    jobs: int = JOBS
    """Trainings, trials and probings at a time."""
    trainers: tuple[str, ...] = ()
    """Trainers of the project that may be imported to be probed, by the word of whoever started the server."""
    starting: threading.Lock = field(default_factory=threading.Lock)
    """Held while a job is counted and started, so that two callers at once do not exceed the limit."""
    _opened: OrderedDict[str, tuple[object, OpenRun]] = field(default_factory=OrderedDict)
    _ids: dict[str, tuple[float, str]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def runs(self) -> Path:
        """Where runs are made, and first looked for; refused where it is a link out of the root."""
        return inside(self.root, RUNS)

    def open(self, name: str) -> OpenRun:
        """The run that a name means: an id, `@last`, `@best`, or a path below the root."""
        # A folder that was read as a run, and has not changed, need not be looked for among all runs.
        direct = None if _is_nickname(name) else self._direct(name)
        kept = self._kept(direct) if direct is not None else None
        if kept is not None:
            return kept
        found = self.locate(name)
        return self._kept(found) or self._read(found)

    def locate(self, name: str) -> str:
        """The absolute path of a run, with its member where a file holds several."""
        from rlclinic.store.names import resolve

        plain = name.strip().partition("::")[0]
        if "://" in plain:
            raise UsageError("runs of other machines are not read here", hint="download the run below the root first")
        if _is_nickname(name):
            folder, separator, last = plain.rstrip("/").rpartition("/")
            home = inside(self.root, folder or separator) if separator else self._home()
            return self._checked(resolve(str(home / last)), name)
        direct = self._direct(name)
        if direct is not None:
            return self._checked(resolve(direct), name)
        if "/" in plain or plain in (".", ".."):
            raise RunReadError("no such run", path=plain, hint="call list_runs for the runs below the root")
        return self._by_id(name)

    def shown(self, path: str | Path) -> str:
        """A path relative to the root."""
        return shown(self.root, path)

    def relative(self, text: str) -> str:
        """A text of ours without the place of the root on this machine."""
        return text.replace(f"{self.root}/", "").replace(str(self.root), ".")

    def placed(self, name: str, base: Path | None = None) -> str:
        """The absolute path of what a name means, with its member or section; refused where it lies outside."""
        home = base or self.root
        plain, member = split_name(name, lambda text: inside(home, text).exists())
        return f"{inside(home, plain)}{MEMBER if member else ''}{member}"

    def _home(self) -> Path:
        return self.runs if self.runs.is_dir() else self.root

    def _direct(self, name: str) -> str | None:
        """What lies at a name below the root, or in `runs` there; None where nothing does."""
        is_plain = "/" not in name.partition("::")[0] and self.runs.is_dir()
        for base in (self.root, self.runs) if is_plain else (self.root,):
            found = self.placed(name.strip(), base)
            if _folder(found).exists():
                return found if found != str(self.root) else None
        return None

    def _kept(self, found: str) -> OpenRun | None:
        """The run as it was read before, where none of its files has changed since."""
        before, opened = self._opened.get(found, (None, None))
        if opened is None or _is_stale(opened) or before != _fingerprint(opened.path):
            return None
        with self._lock:
            if found in self._opened:
                self._opened.move_to_end(found)
        return opened

    def _read(self, found: str) -> OpenRun:
        from rlclinic.readers.open import read

        folder = _folder(found)
        mark = _fingerprint(folder)
        opened = OpenRun(read(found), folder)
        with self._lock:
            self._opened[found] = (mark, opened)
            self._opened.move_to_end(found)
            self._forget()
        return opened

    def _by_id(self, name: str) -> str:
        """The run of an id. The listing behind it is long, so what it said of an id holds for a few seconds."""
        when, found = self._ids.get(name, (0.0, ""))
        if found and time.monotonic() - when < LISTED and _folder(found).exists():
            return found
        found = self._checked(self._listed(name), name)
        if len(self._ids) >= MOST_IDS:
            self._ids.clear()
        self._ids[name] = time.monotonic(), found
        return found

    def _listed(self, name: str) -> list[str]:
        from rlclinic.apps.mcp.jobs import find_job
        from rlclinic.store.listing import list_runs

        job = find_job(self, name)
        if job is not None:
            tool = {"trial": "trial_status", "probe": "probe_trainer", "examine": "examine_environment"}.get(
                job.kind, "get_training_status"
            )
            raise RunReadError(f"{name!r} is a {job.kind}, not a run", hint=f"call {tool} with this id")
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
        return self.placed(found[0])

    def _forget(self) -> None:
        while len(self._opened) > 1 and (
            len(self._opened) > MOST_OPEN or sum(opened.size for _, opened in self._opened.values()) > MOST_BYTES
        ):
            self._opened.popitem(last=False)


def _is_nickname(name: str) -> bool:
    return name.strip().partition("::")[0].rstrip("/").rpartition("/")[2] in NICKNAMES


def _folder(found: str) -> Path:
    return Path(split_name(found)[0])


def _is_stale(opened: OpenRun) -> bool:
    return opened.running and time.monotonic() - opened.read_at > FRESH


def _fingerprint(path: Path) -> object:
    """Changes with every file of the run, and with the ledger, whose trials a diagnosis quotes."""
    from rlclinic.store.ledger import default_state

    if path.is_file():
        status = path.stat()
        return status.st_size, status.st_mtime_ns, default_state()
    from rlclinic.readers.tree import walk

    return walk(path).fingerprint(deep=True), default_state()
