"""Run inputs in processes of their own, each bounded in time and memory, and add up what came of them."""

from __future__ import annotations

import faulthandler
import multiprocessing
import re
import resource
import shutil
import signal
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bench.fuzz.seeds import Files, folders
from bench.fuzz.targets import Case, diagnose_case, neighbour, parser_case, run, scratch, targets, write_files
from rlclinic.model.errors import InternalError, RlclinicError
from rlclinic.readers.formats.errors import FormatError

LEVELS: dict[str, Callable[[int, int], Case]] = {"parsers": parser_case, "diagnose": diagnose_case}
DOCUMENTED = (RlclinicError, FormatError)
SLOW_SECONDS = 5.0
"""Of processor time, so that a busy machine does not count."""
# A process that hears no signal, or waits for something, is ended.
SILENT_SECONDS = 90
# What one input may take. Addresses have a wider limit: a read of at most 2 GiB asks for all of them first.
MOST_BYTES, ROOM_BYTES = 512 << 20, 4 << 30
FILL_SECONDS = 0.03
# Seconds spent on making a failing input small.
SHRINK_SECONDS = 4.0


class TooSlowError(Exception):
    """An input took longer than it may. Where it is raised is where the time went."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A kind of failure with its smallest input."""

    where: str
    what: str
    target: str
    number: int
    files: Files = field(repr=False)
    count: int = 1

    @property
    def size(self) -> int:
        return sum(map(len, self.files.values()))


@dataclass(slots=True)
class Tally:
    """What came of many inputs."""

    inputs: int = 0
    refused: int = 0
    """Ended in a documented error."""
    slowest: tuple[float, str, int] = (0.0, "", -1)
    peak: int = 0
    """Bytes that a worker held at most, and how much of it came with the inputs."""
    grown: int = 0
    failures: dict[str, Failure] = field(default_factory=dict)
    warned: set[str] = field(default_factory=set)

    def add(self, other: Tally) -> None:
        """Take in the tally of another process or moment."""
        self.inputs += other.inputs
        self.refused += other.refused
        self.slowest = max(self.slowest, other.slowest)
        self.peak, self.grown = max(self.peak, other.peak), max(self.grown, other.grown)
        self.warned |= other.warned
        for failure in other.failures.values():
            self.fail(failure)

    def fail(self, failure: Failure) -> None:
        """Count a failure; of each kind the smallest input is kept."""
        known = self.failures.get(failure.where)
        count = failure.count + (known.count if known else 0)
        smaller = known is None or failure.size < known.size
        self.failures[failure.where] = replace(failure if smaller else known, count=count)


def attempt(case: Case) -> tuple[str, str] | None:
    """Where and what an input raises that is not documented; None where all is well. Documented errors pass."""
    signal.setitimer(signal.ITIMER_PROF, SLOW_SECONDS)
    try:
        run(case)
    except InternalError as error:
        return signature(error.__cause__ or error)
    except DOCUMENTED:
        raise
    except Exception as error:
        return signature(error)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return None


def signature(error: BaseException) -> tuple[str, str]:
    """The innermost line of ours in a traceback with the exception, by which failures are told apart."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "/rlclinic/" in frame.filename] or frames
    if type(error).__name__ == "CaughtError":
        return f"caught {error}", ""
    return f"{_own(own[-1].filename)}:{own[-1].lineno} {type(error).__name__}", str(error)[:120]


def _own(file: str) -> str:
    return re.split(r"/rlclinic/|/site-packages/|/lib/", file)[-1]


def measured(case: Case, number: int, tally: Tally) -> None:
    """Run one input and write into the tally what came of it."""
    started, before, found = time.process_time(), _resident(), None
    try:
        found = attempt(case)
    except DOCUMENTED:
        tally.refused += 1
    seconds = time.process_time() - started
    # The question takes as long as many an input; so much memory is not filled in less.
    if seconds > FILL_SECONDS and (grown := _resident() - before) > MOST_BYTES:
        found = f"memory in {case.target}", f"{grown >> 20} MB"
    if found is not None:
        tally.fail(Failure(*found, case.target, number, case.files))
    tally.inputs += 1
    tally.slowest = max(tally.slowest, (seconds, case.target, number))


def shrunk(failure: Failure) -> Failure:
    """The same failure with as little input as a few seconds find."""
    files, until = dict(failure.files), time.monotonic() + SHRINK_SECONDS

    def still(candidate: Files) -> bool:
        if time.monotonic() > until:
            return False
        try:
            found = attempt(Case(failure.target, candidate))
        except DOCUMENTED:
            return False
        return found is not None and found[0] == failure.where

    for name in sorted(files, key=lambda item: -len(files[item])):
        without = {other: data for other, data in files.items() if other != name}
        if without and still(without):
            files = without
    for name in files:
        step = len(files[name]) // 2
        while step:
            at = 0
            while at < len(files[name]) and time.monotonic() < until:
                candidate = {**files, name: files[name][:at] + files[name][at + step :]}
                if still(candidate):
                    files = candidate
                else:
                    at += step
            step //= 2
    return replace(failure, files=files)


def slug(text: str) -> str:
    """A target or a place in the code as the name of a folder."""
    return re.sub(r"[^\w.]+", "-", text).strip("-")[:80]


def kept(folder: Path) -> Iterator[tuple[Path, Case]]:
    """The inputs that lie below a folder as FOLDER/target/name/files."""
    known = {slug(name): name for name in (*targets(), "read", "diagnose")}
    for place in sorted(folder.glob("*/*/")):
        files = {str(path.relative_to(place)): path.read_bytes() for path in place.rglob("*") if path.is_file()}
        yield place, Case(known[place.parent.name], files)


def keep(failure: Failure, folder: Path) -> Path:
    """Put a failing input where a test or a person can look at it."""
    place = folder / slug(failure.target) / slug(failure.where)
    shutil.rmtree(place, ignore_errors=True)
    write_files(place, failure.files)
    return place


def bound(room: int = ROOM_BYTES) -> None:
    """Limit the memory of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + room
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    faulthandler.enable()


def _too_slow(*_: object) -> None:
    raise TooSlowError(f"more than {SLOW_SECONDS:g} s")


signal.signal(signal.SIGPROF, _too_slow)


def _work(level: str, seed: int, numbers: range, until: float, at: Any, out: Any) -> None:
    neighbour()
    folders()
    tally, reported = Tally(), time.monotonic()
    warnings.simplefilter("default")
    warned: set[str] = set()
    warnings.showwarning = lambda _, kind, file, line, *__: warned.add(f"{_own(file)}:{line} {kind.__name__}")
    bound()
    before = _resident()
    for number in numbers:
        at.value = number
        measured(LEVELS[level](seed, number), number, tally)
        late = time.time() > until
        if time.monotonic() - reported > 2 or late:
            out.put(_report(tally, before, warned))
            tally, reported = Tally(), time.monotonic()
        if late:
            break
    at.value = -1
    out.put(_report(tally, before, warned))
    shutil.rmtree(scratch(), ignore_errors=True)


def _report(tally: Tally, before: int, warned: set[str]) -> Tally:
    tally.warned |= warned
    tally.peak = _resident()
    tally.grown = tally.peak - before
    return tally


def _resident() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def fuzz(level: str, seed: int, count: int, *, seconds: float, processes: int) -> Tally:
    """Run `count` inputs of a level, or as many as fit into the time."""
    context = multiprocessing.get_context("fork")
    whole, out, until = Tally(), context.Queue(), time.time() + seconds
    folders()
    jobs = [_Job(context, level, seed, range(first, count, processes), until, out) for first in range(processes)]
    begun = spoken = time.monotonic()
    going = True
    while going or not out.empty():
        # A worker reports before it ends, so what came before this look is complete.
        going = sum(job.watch(whole) for job in jobs) > 0
        while not out.empty():
            whole.add(out.get())
        if time.monotonic() - spoken > 30:
            spoken = time.monotonic()
            told = f"{whole.inputs:,} inputs, {len(whole.failures)} kinds of failure, {spoken - begun:.0f} s"
            print(f"  {told}", flush=True)
        time.sleep(0.1)
    return whole


class _Job:
    """A worker that is started again behind an input that ended it."""

    def __init__(self, context: Any, level: str, seed: int, numbers: range, until: float, out: Any) -> None:
        self._context, self._level, self._seed, self._until, self._out = context, level, seed, until, out
        self._start(numbers)

    def _start(self, numbers: range) -> None:
        self._numbers, self._at = numbers, self._context.Value("q", numbers.start)
        arguments = (self._level, self._seed, numbers, self._until, self._at, self._out)
        self._process = self._context.Process(target=_work, args=arguments, daemon=True)
        self._process.start()
        self._seen, self._since = numbers.start, time.monotonic()

    def watch(self, whole: Tally) -> bool:
        """Whether it goes on; a death or a silence counts as a failure of the input that it was at."""
        number = self._at.value
        if number != self._seen:
            self._seen, self._since = number, time.monotonic()
        silent = number >= 0 and time.monotonic() - self._since > SILENT_SECONDS
        if self._process.is_alive() and not silent:
            return True
        if not self._process.is_alive() and self._process.exitcode == 0:
            return False
        self._process.kill()
        self._process.join()
        case = LEVELS[self._level](self._seed, number)
        what = "silent" if silent else f"ended by signal {-(self._process.exitcode or 0)}"
        whole.fail(Failure(f"process {what} in {case.target}", what, case.target, number, case.files))
        self._start(range(number + self._numbers.step, self._numbers.stop, self._numbers.step))
        return True
