"""Brings alerts to their sinks: fast ones at once; those that may wait in a thread, batched and with back-off."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Sequence

from rlclinic.live.alerts import Alert
from rlclinic.live.guard import Guard
from rlclinic.live.sinks.base import Sink, TryLater

# Alerts that wait for a sink that is down; the oldest go first.
MOST_WAITING = 200
# Seconds that are waited for more alerts before the first is sent, so that a burst is one message.
BATCH_SECONDS = 1.0
# Seconds after the first failure; doubled after each further one, up to the longest.
FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0
# Failures in a row after which a sink is given up: about six minutes.
MOST_FAILURES = 10


class Delivery:
    """The sinks of one monitor."""

    def __init__(self, sinks: Sequence[Sink], guard: Guard, *, batch_seconds: float = BATCH_SECONDS) -> None:
        self._guard = guard
        parts = list(zip(sinks, _parts(sinks), strict=True))
        self._direct = [(sink, part) for sink, part in parts if not sink.waits]
        self._mail = [_Postman(sink, part, guard, batch_seconds) for sink, part in parts if sink.waits]

    def send(self, alerts: Sequence[Alert]) -> None:
        """Deliver; never raises, never waits for a network."""
        if not alerts:
            return
        for sink, part in self._direct:
            self._guard.call(part, sink.send, alerts)
        for postman in self._mail:
            postman.add(alerts)

    def close(self, seconds: float = 5.0) -> None:
        """Give what is waiting a last chance of so many seconds."""
        for postman in self._mail:
            postman.close(seconds)
        for sink, part in self._direct:
            self._guard.call(part, sink.close)


def _parts(sinks: Sequence[Sink]) -> list[str]:
    """What a guard calls them: the second of a kind by its number, so that one that fails takes no other with it."""
    names = [sink.name for sink in sinks]
    numbers = [names[: at + 1].count(name) for at, name in enumerate(names)]
    return [f"sink {name}" + (f" {number}" if number > 1 else "") for name, number in zip(names, numbers, strict=True)]


class _Postman:
    """One sink that may take long, with its thread, which starts with the first alert."""

    def __init__(self, sink: Sink, part: str, guard: Guard, batch_seconds: float) -> None:
        self._sink = sink
        self._guard = guard
        self._part = part
        self._batch_seconds = batch_seconds
        self._waiting: deque[Alert] = deque(maxlen=MOST_WAITING)
        self._wake = threading.Condition()
        self._closing = False
        self._thread: threading.Thread | None = None

    def add(self, alerts: Sequence[Alert]) -> None:
        if self._part in self._guard.off:
            return
        with self._wake:
            self._waiting.extend(alerts)
            # A training may go on after its monitor was closed: `learn` is called twice.
            self._closing = False
            self._wake.notify()
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name=f"rlclinic {self._part}", daemon=True)
                self._guard.call(self._part, self._thread.start)

    def close(self, seconds: float) -> None:
        with self._wake:
            self._closing = True
            self._wake.notify()
            thread = self._thread
        if thread is not None and thread.is_alive():
            thread.join(seconds)

    def _work(self) -> None:
        failures = 0
        while self._part not in self._guard.off:
            with self._wake:
                while not self._waiting and not self._closing:
                    self._wake.wait()
                if not self._waiting:
                    self._thread = None
                    return
                if not self._closing:
                    # A burst becomes one message.
                    self._wake.wait_for(lambda: self._closing, self._batch_seconds)
                batch = list(self._waiting)
            try:
                self._sink.send(batch)
            except TryLater as later:
                failures += 1
                if failures >= MOST_FAILURES:
                    self._guard.switch_off(self._part, later)
                    return
                self._pause(later.seconds if later.seconds is not None else FIRST_WAIT * 2 ** (failures - 1))
                continue
            except Exception as error:
                self._guard.switch_off(self._part, error)
                return
            failures = 0
            with self._wake:
                # What came meanwhile stays; a full queue may have lost some of the batch already.
                for alert in batch:
                    if self._waiting and self._waiting[0] is alert:
                        self._waiting.popleft()

    def _pause(self, seconds: float) -> None:
        end = time.monotonic() + min(seconds, LONGEST_WAIT)
        with self._wake:
            while not self._closing and (left := end - time.monotonic()) > 0:
                self._wake.wait(left)
            if self._closing:
                # One more try is enough at the end; waiting on would hold up the training's own end.
                time.sleep(0.05)
