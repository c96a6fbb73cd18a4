"""A monitor sees what goes wrong, says it once, and never harms the loop that it follows."""

from __future__ import annotations

import logging
import math
import multiprocessing
import os
import pickle
import resource
import threading
import tracemalloc
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import rlclinic
from rlclinic.live.alerts import Alert, Change
from rlclinic.live.examination import Look
from rlclinic.live.monitor import Monitor
from rlclinic.live.record import MOST_METRICS, scalar
from rlclinic.live.sinks.base import Sink
from rlclinic.model.errors import UsageError
from rlclinic.model.finding import Severity
from rlclinic.model.outlook import Advice
from rlclinic.model.run import Run
from tests.live.conftest import BUDGET, Remembers, rows


def made(*sinks: Any, **options: Any) -> Monitor:
    return rlclinic.monitor(
        **{"framework": "sb3", "algorithm": "PPO", "budget": BUDGET, "sinks": sinks, "share": 1.0, **options}
    )


def _resident() -> int:
    """Bytes of this process."""
    return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * resource.getpagesize()


def test_a_healthy_run_is_left_in_peace(remembers: Remembers) -> None:
    with made(remembers) as monitor:
        for row, step in rows():
            monitor.log(row, step)
    assert remembers.alerts == []
    assert monitor.diagnosis is not None
    assert monitor.advice[0] is Advice.CONTINUE
    assert monitor.guard.off == {}


def test_exploding_gradients_are_told_once_with_evidence_cause_and_command(remembers: Remembers) -> None:
    with made(remembers) as monitor:
        for row, step in rows(explodes_from=20):
            monitor.log(row, step)
    raised = [alert for alert in remembers.alerts if alert.key == "gradient-explosion"]
    assert [alert.change for alert in raised] == [Change.RAISED]
    alert = raised[0]
    assert alert.level is Severity.ERROR
    assert 50_000 < alert.step <= 75_000, "within a quarter of the budget after it began"
    assert alert.evidence[0].metric == "grad_norm"
    assert alert.cause
    assert alert.prescription
    assert alert.command == "rlclinic explain OPT01"


def test_a_number_that_is_not_finite_is_told_in_the_row_in_which_it_comes(remembers: Remembers) -> None:
    monitor = made(remembers, share=1e-6)
    for row, step in rows(40):
        monitor.log({**row, "train/value_loss": math.nan, "grad_norm": math.nan} if step > 60_000 else row, step)
        if step > 60_000:
            break
    assert [(alert.key, alert.step) for alert in remembers.alerts] == [("not-finite", step)]


def test_stop_is_asked_for_only_on_request_and_only_while_an_error_holds() -> None:
    follows, stops = made(), made(on_error="stop")
    for row, step in rows(explodes_from=20):
        follows.log(row, step)
        stops.log(row, step)
    assert not follows.should_stop
    assert stops.should_stop
    assert "Gradient explosion" in stops.stop_reason


def test_literal_thresholds_are_a_preset(remembers: Remembers) -> None:
    with made(remembers, alerts=["thresholds"]) as monitor:
        for row, step in rows():
            monitor.log({**row, "train/clip_fraction": 0.6}, step)
    assert [(alert.key, alert.evidence[0].threshold) for alert in remembers.alerts] == [("excessive-clipping", 0.5)]


class Broken(Sink):
    """Raises whatever it is told."""

    name = "broken"

    def __init__(self, error: Exception) -> None:
        self.error = error
        self.calls = 0

    def send(self, alerts: Sequence[Alert]) -> None:
        self.calls += 1
        raise self.error


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), ValueError("bad"), RuntimeError("gone")])
def test_a_broken_sink_is_switched_off_with_one_warning(
    error: Exception, remembers: Remembers, caplog: pytest.LogCaptureFixture
) -> None:
    broken = Broken(error)
    monitor = made(broken, remembers)
    with caplog.at_level(logging.WARNING, "rlclinic"):
        for row, step in rows(explodes_from=12):
            monitor.log({**row, "train/value_loss": math.nan, "train/loss": math.nan} if step > 80_000 else row, step)
    assert broken.calls == 1
    assert len(remembers.alerts) > 1
    assert [record.message for record in caplog.records if "switched off" in record.message] == [
        f"rlclinic: sink broken is switched off, training goes on ({type(error).__name__}: {error.args[-1]})"
    ]


def test_a_diagnosis_that_fails_is_switched_off_and_logging_goes_on(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monitor = made()
    monkeypatch.setattr(monitor._examiner, "look", lambda _: 1 / 0)
    for row, step in rows():
        monitor.log(row, step)
    assert list(monitor.guard.off) == ["the diagnosis"]
    assert monitor.record.step == BUDGET
    assert len([record for record in caplog.records if "switched off" in record.message]) == 1


def test_odd_rows_are_taken_as_far_as_they_hold_numbers() -> None:
    monitor = made()
    for step in range(1, 50):
        monitor.log({f"changing/{step}": step, "text": "x", "none": None, "flag": True, "array": np.zeros(3)}, step)
        monitor.log({"scalar": np.float32(step), "one": np.ones(1), 7: 1.0}, step)  # type: ignore[dict-item]
        monitor.log({}, step)
        monitor.log(None, step) if step == 49 else None  # type: ignore[arg-type]
    assert monitor.record.run()["scalar"].last == 49
    assert list(monitor.guard.off) == ["the monitor"], "a row that is no mapping is the end of it, not of the training"


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (1, 1.0),
        (True, None),
        (np.float32(2), 2.0),
        (np.zeros(()), 0.0),
        (np.zeros(2), None),
        ("3", None),
        (np.zeros(0), None),
        (-(10**400), -math.inf),
        (SimpleNamespace(item=lambda: 1 / 0), None),
    ],
)
def test_a_scalar_is_what_holds_one_number(value: object, number: float | None) -> None:
    assert scalar(value) == number


def test_more_names_than_a_run_has_do_not_fill_the_memory() -> None:
    monitor = made()
    for number in range(2 * MOST_METRICS):
        monitor.log({f"metric/{number}": 1.0}, 1)
    assert monitor.record.left_out == MOST_METRICS


def _log_in_a_child(monitor: Monitor, answer: Any) -> None:
    monitor.log({"rollout/ep_rew_mean": 1e9}, 99)
    answer.put((os.getpid(), monitor.record.step))


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_worker_cannot_use_the_monitor(method: str) -> None:
    monitor = made(sinks=["log", "https://hooks.example.org/secret"])
    monitor.log({"rollout/ep_rew_mean": 1.0}, 1)
    context = multiprocessing.get_context(method)
    answer = context.Queue()
    worker = context.Process(target=_log_in_a_child, args=(monitor, answer))
    worker.start()
    pid, step = answer.get(timeout=60)
    worker.join()
    assert pid != os.getpid()
    assert step == (1.0 if method == "fork" else 0.0)


def test_passwords_of_sinks_do_not_leave_the_process() -> None:
    assert b"secret" not in pickle.dumps(made(sinks=["https://hooks.example.org/secret"]))


def test_a_row_of_another_thread_waits_for_the_look_to_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monitor = made(share=1.0)
    examine = monitor._examiner.look
    other = threading.Thread(target=monitor.log, args=({"other": 1.0}, 2))
    names: list[set[str]] = []

    def look(run: Run) -> Look:
        if not names:
            other.start()
            other.join(0.2)
            names.append(set(monitor.record.run().series))
        return examine(run)

    monkeypatch.setattr(monitor._examiner, "look", look)
    monitor.log({"rollout/ep_rew_mean": 1.0}, 1)
    monitor.look()
    other.join()
    assert names == [{"return/train"}]
    assert "other" in monitor.record.run().series
    assert monitor.guard.off == {}


def test_memory_stays_flat_over_many_points() -> None:
    monitor = made(share=1e-9)
    names = [f"metric/{number}" for number in range(20)]

    def feed(start: int, stop: int) -> None:
        for step in range(start, stop):
            monitor.log(dict.fromkeys(names, float(step % 7)), step)

    feed(0, 4_000)
    tracemalloc.start()
    feed(4_000, 14_000)
    grown = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert grown < 20 * 3 * 8 * 2_000, "no more than the bounded series themselves can take"


@pytest.mark.slow
def test_ten_million_points_take_no_more_memory_than_the_first() -> None:
    monitor = made(share=1e-9)
    names = [f"metric/{number}" for number in range(20)]
    for step in range(500_000):
        if step == 10_000:
            before = _resident()
        monitor.log(dict.fromkeys(names, float(step % 7)), step)
    assert _resident() - before < 3e6


def test_looks_take_no_more_than_their_share_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monitor = made(share=0.01)
    monitor.reckon_by(lambda: clock[0])

    def look(_: object) -> Any:
        clock[0] += 0.05
        raise AssertionError if clock[0] < 0 else StopIteration

    monkeypatch.setattr(monitor._examiner, "look", look)
    monitor.guard.switch_off = lambda *_: None  # type: ignore[method-assign]
    for row, step in rows(1_000):
        clock[0] += 0.1
        monitor.log(row, step)
    assert 0.2 < monitor.spent <= 0.01 * clock[0] + 0.05


def test_what_holds_the_loop_up_is_told_at_the_end(caplog: pytest.LogCaptureFixture) -> None:
    monitor = made()
    with monitor.phase("environment"):
        pass
    monitor.phases.add("environment", 9.0)
    monitor.phases.add("learning", 1.0)
    with caplog.at_level(logging.INFO, "rlclinic"):
        monitor.close()
    assert "bound by its environment (90% of the time)" in caplog.text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sinks": ["pigeon"]}, "no sink"),
        ({"alerts": ["all"]}, "no alerts"),
        ({"on_error": "die"}, "on_error"),
        ({"share": 0}, "share"),
    ],
)
def test_a_wrong_option_is_refused_before_training(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        rlclinic.monitor(**options)
