"""Fixtures shared by all tests: the recorded runs, and an index that is not the user's. A test may not take long."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Generator
from functools import cache
from pathlib import Path

import pytest
from hypothesis import settings

from rlclinic.engine import diagnose
from rlclinic.model.diagnosis import Diagnosis

try:
    import resource
except ModuleNotFoundError:  # Windows does not tell what children took
    resource = None  # type: ignore[assignment]

# Processor time is limited below; the time of a wall clock says how busy the machine is.
settings.register_profile("rlclinic", deadline=None)
settings.load_profile("rlclinic")

RUNS = Path(__file__).parent / "fixtures" / "runs"
MOST_CPU_SECONDS = 5.0
"""On a core at reference speed, of a test without one of the marks below, its children included."""
YARDSTICK_SECONDS = 0.013
"""What `_yardstick` takes on an idle core of the machine on which the limit was chosen."""
WORTH_MEASURING = 1.0
"""CPU seconds of a test after which the speed of the machine is measured."""
CPU_SECONDS = "CPU seconds"
MAY_TAKE_LONGER = ("slow", "end_to_end", "foreign", "browser")
FIRST_IMPORT_SECONDS = {"torch": 3.0, "stable_baselines3": 2.0, "torchrl": 3.0, "ray": 3.0}
"""Allowed once to the test that happens to be the first of its worker to load one of these."""
slowness = [1.0]
"""How many times slower than the reference this core was: a busy sibling core alone doubles CPU time."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Fail a test that takes longer than it may, once it has passed."""
    before, loaded = _cpu_seconds(), set(sys.modules)
    result = yield
    spent = _cpu_seconds() - before
    item.user_properties.append((CPU_SECONDS, spent))
    if spent > WORTH_MEASURING:
        slowness.append(statistics.median(_yardstick() for _ in range(3)) / YARDSTICK_SECONDS)
    if spent < MOST_CPU_SECONDS or any(item.get_closest_marker(name) for name in MAY_TAKE_LONGER):
        return result
    first = FIRST_IMPORT_SECONDS.keys() & (sys.modules.keys() - loaded)
    most = (MOST_CPU_SECONDS + sum(FIRST_IMPORT_SECONDS[name] for name in first)) * max(slowness)
    if spent > most:
        pytest.fail(f"took {spent:.1f} CPU seconds, more than {most:.1f}: make it smaller, or mark it slow")
    return result


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """What the tests took together, and with `--durations=N` the dearest of them."""
    reports = [report for kind in ("passed", "failed") for report in terminalreporter.stats.get(kind, ())]
    spent = {report.nodeid: dict(report.user_properties).get(CPU_SECONDS, 0.0) for report in reports}
    for test in sorted(spent, key=lambda test: -spent[test])[: config.getoption("durations") or 0]:
        terminalreporter.write_line(f"{spent[test]:6.1f} {CPU_SECONDS} {test}")
    terminalreporter.write_line(f"{sum(spent.values()):.0f} {CPU_SECONDS} in all tests")


def _cpu_seconds() -> float:
    if resource is None:
        return time.process_time()
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def _yardstick() -> float:
    """CPU seconds of a fixed piece of work."""
    start, texts = time.process_time(), {}
    for number in range(100_000):
        texts[number % 97] = str(number)
    return time.process_time() - start


@cache
def diagnosis_of(name: str) -> Diagnosis:
    """The diagnosis of a recorded run, made once in each worker."""
    return diagnose(RUNS / name)


@pytest.fixture
def runs() -> Path:
    """The folder of recorded runs."""
    return RUNS


@pytest.fixture(autouse=True)
def _own_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RLCLINIC_INDEX", str(tmp_path / "index" / "runs.sqlite"))
    monkeypatch.setenv("RLCLINIC_LEDGER", str(tmp_path / "ledger" / "trials.sqlite"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def errors_are_contained() -> None:
    """For tests of what becomes of an error that rlclinic did not foresee."""


@pytest.fixture(autouse=True)
def _unforeseen_errors_surface(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Elsewhere such an error fails the test as what it is: contained, it would look like any other unreadable run."""
    if "errors_are_contained" not in request.fixturenames:
        monkeypatch.setattr("rlclinic.model.errors._place", _raise)


def _raise(error: Exception) -> str:
    raise error
