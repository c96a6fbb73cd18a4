"""Many runs at once: find them, follow their files, look at each, and tell what changed."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rlclinic.live.alerts import Alert, Patience
from rlclinic.live.conditions import RULES, lacking
from rlclinic.live.examination import Examiner, Look
from rlclinic.live.follow import Follower
from rlclinic.live.messages import to_object
from rlclinic.model.errors import RlclinicError, RunReadError, contained
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.run import Status
from rlclinic.readers.discover import RunRef, find, ref_of_folder, split_name
from rlclinic.reports.outlook import outlook_object

SCHEMA = "rlclinic.watch/1"
# Seconds between two searches for new runs below a folder.
SEARCH_EVERY = 10.0
# Share of the time that watching may take: runs whose files must be read whole are looked at less often.
SHARE = 0.2
# Runs that are followed at once, the newest first.
MOST_RUNS = 200


@dataclass(frozen=True, slots=True)
class Event:
    """Something that changed."""

    kind: str
    """`run` (first seen), `state`, `advice`, `alert`, `gone`, `unreadable`."""
    name: str
    look: Look | None = None
    alert: Alert | None = None
    text: str = ""

    def to_object(self) -> dict[str, Any]:
        """Plain data."""
        found: dict[str, Any] = {"schema": SCHEMA, "event": self.kind, "run": self.name, "text": self.text}
        if self.look is not None:
            diagnosis = self.look.diagnosis
            outlook = diagnosis.outlook
            found |= {
                "step": diagnosis.run.steps,
                "budget": diagnosis.run.budget,
                "state": diagnosis.run.status.state.value,
                "verdict": diagnosis.verdict.value,
                "advice": outlook.advice.value if outlook is not None else None,
                "reason": self.look.advice[1],
                "outlook": outlook_object(outlook),
            }
        if self.alert is not None:
            found["alert"] = to_object(self.alert)
        return found


class Watched:
    """One run that is followed."""

    def __init__(self, ref: RunRef, presets: Sequence[str], patience: Patience | None, goal: float | None) -> None:
        self.name = ref.name
        self.look: Look | None = None
        self.problem = ""
        self._follower = Follower(ref)
        self._examiner = Examiner(presets, patience)
        self._goal = goal
        self._next = 0.0

    @property
    def state(self) -> Status:
        """Of the last look."""
        return self.look.diagnosis.run.status.state if self.look is not None else Status.UNKNOWN

    @property
    def ended(self) -> bool:
        """Whether it is known to be over."""
        return self.look is not None and self.state in (Status.FINISHED, Status.CRASHED, Status.INTERRUPTED)

    def poll(self) -> Iterator[Event]:
        """What changed since the last call."""
        if time.monotonic() < self._next:
            return
        began = time.process_time()
        try:
            with contained(self.name):
                run = self._follower.poll()
                now = self._examiner.look(run.with_goal(self._goal)) if run is not None else None
        except RlclinicError as error:
            yield from self._failed(error)
            return
        finally:
            self._next = time.monotonic() + (time.process_time() - began) / SHARE
        self.problem = ""
        if now is not None:
            yield from self._changes(now)

    def _changes(self, now: Look) -> Iterator[Event]:
        before, self.look = self.look, now
        run, advice = now.diagnosis.run, now.advice
        if before is None:
            missing = lacking(now.diagnosis)
            yield Event("run", self.name, now, text="; ".join(missing))
        elif before.diagnosis.run.status.state is not run.status.state:
            yield Event("state", self.name, now, text=run.status.reason)
        # What had ended before anybody watched is no news.
        for alert in now.alerts if before is not None or run.status.state is Status.RUNNING else ():
            yield Event("alert", self.name, now, alert, alert.title)
        if run.status.state is Status.RUNNING and (before is None or before.advice[0] is not advice[0]):
            yield Event("advice", self.name, now, text=f"{advice[0].value}: {advice[1]}")

    def _failed(self, error: RlclinicError) -> Iterator[Event]:
        if error.message == self.problem:
            return
        self.problem = error.message
        gone = isinstance(error, RunReadError) and not self._follower.ref.path.exists()
        yield Event("gone" if gone else "unreadable", self.name, text=error.message)


class Watch:
    """The runs that some names stand for: runs themselves, and folders below which new ones may appear."""

    def __init__(
        self,
        names: Sequence[str],
        presets: Sequence[str] = (RULES,),
        patience: Patience | None = None,
        goal: float | None = None,
    ) -> None:
        self._names = tuple(names)
        self._options = (presets, patience, goal)
        self._searched = -SEARCH_EVERY
        self.runs: dict[str, Watched] = {}

    def poll(self) -> list[Event]:
        """Look at every run that has changed."""
        if time.monotonic() - self._searched >= SEARCH_EVERY or not self.runs:
            self._search()
        return [event for watched in self.runs.values() for event in watched.poll()]

    @property
    def ended(self) -> bool:
        """Whether every run is over; never while a folder is watched in which nothing has appeared yet."""
        return bool(self.runs) and all(watched.ended for watched in self.runs.values())

    def _search(self) -> None:
        self._searched = time.monotonic()
        refs = [ref for name in self._names for ref in _refs(name)]
        refs.sort(key=lambda ref: -max((changed for _, _, changed in ref.fingerprint), default=0))
        for ref in refs[:MOST_RUNS]:
            if ref.name not in self.runs:
                self.runs[ref.name] = Watched(ref, *self._options)


def _refs(name: str) -> list[RunRef]:
    """The runs of a name; none where nothing is there yet."""
    plain, member = split_name(name)
    path = Path(plain)
    if not path.exists():
        return []
    if path.is_file():
        from rlclinic.readers.discover import reader_of_file
        from rlclinic.readers.place import single

        return [RunRef(path, reader_of_file(single(path, member).entries[0]).id, member)]
    own = ref_of_folder(path) if not member else None
    found = [own] if own is not None else find(path)
    return [ref for ref in found if not member or ref.member == member]
