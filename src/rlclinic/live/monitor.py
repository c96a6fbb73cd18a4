"""`rlclinic.monitor`: follow any training loop from the inside.

    monitor = rlclinic.monitor(algorithm="PPO", environment="CartPole-v1", budget=100_000)
    for step in ...:
        monitor.log({"return": ..., "approx_kl": ...}, step)
        if monitor.should_stop:
            break

It never raises into the loop, touches no random numbers and costs a bounded share of the time.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal

from rlclinic.live.alerts import Alert, Patience
from rlclinic.live.allowance import Allowance
from rlclinic.live.conditions import RULES, checked_presets
from rlclinic.live.delivery import Delivery
from rlclinic.live.examination import STRIDE, Examiner, Look, warm_up
from rlclinic.live.guard import LOGGER, Guard
from rlclinic.live.phases import Phases, system_metrics
from rlclinic.live.record import About, LiveRecord
from rlclinic.live.sinks import Sink, make_sink
from rlclinic.model.diagnosis import Diagnosis
from rlclinic.model.errors import UsageError
from rlclinic.model.outlook import Advice
from rlclinic.model.vocabulary import families_of

# Share of the time that looks at the run may take; logging itself costs microseconds.
SHARE = 0.004
# Looks out of turn when a number is not finite; a run that goes on with NaN must not pay for each.
MOST_URGENT = 3
# Alerts that are kept to be asked for.
MOST_KEPT = 200

OnError = Literal["continue", "stop"]


class Monitor:
    """Follows one run. Made by `monitor`."""

    def __init__(
        self,
        about: About,
        sinks: Sequence[Sink],
        presets: Sequence[str],
        patience: Patience | None,
        on_error: OnError,
        share: float,
    ) -> None:
        self.guard = Guard()
        self.record = LiveRecord(about)
        self.phases = Phases()
        self.on_error = on_error
        self.alerts: deque[Alert] = deque(maxlen=MOST_KEPT)
        """The messages so far, the newest last."""
        self._examiner = Examiner(presets, patience)
        self._delivery = Delivery(sinks, self.guard)
        self._allowance = Allowance(share)
        self._look: Look | None = None
        self._looked_at = -1.0
        self._urgent = 0
        # Loops with a thread per actor log from all of them.
        self._lock = threading.RLock()

    def __reduce__(self) -> tuple[Any, ...]:
        """In a process that it is sent to it does nothing, and passwords of sinks stay where they are."""
        return _elsewhere, (self.record.about, self.on_error)

    def log(self, metrics: Mapping[str, Any], step: float) -> None:
        """One row: numbers by name, and the env steps that all environments together have taken."""
        self.guard.call("the monitor", self._log, metrics, step)

    def describe(self, about: About) -> None:
        """Say what the run is, where that was not known at first."""
        self.record.about = about

    def expect(self, seconds: float) -> None:
        """Count on a look to take so long: none is taken before that is a small share of the time."""
        self._allowance.longest = seconds

    def reckon_by(self, clock: Callable[[], float]) -> None:
        """Take the share of the time that this clock shows from now on: of the processor's, where it is what counts."""
        self._allowance = Allowance(self._allowance.share, clock, self._allowance.longest)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Time that the loop spends in the environment, in inference, in learning: `with monitor.phase("learning")`."""
        with self.phases.measure(name):
            yield

    @property
    def diagnosis(self) -> Diagnosis | None:
        """Of the last look; None before the first."""
        return self._look.diagnosis if self._look is not None else None

    @property
    def advice(self) -> tuple[Advice, str]:
        """Continue, stop or restart, and why."""
        return self._look.advice if self._look is not None else (Advice.CONTINUE, "nothing has been looked at so far")

    @property
    def should_stop(self) -> bool:
        """With `on_error="stop"`: whether an error holds now. It is derived anew at every look, so it can pass."""
        return bool(self.on_error == "stop" and self._look is not None and self._look.errors)

    @property
    def stop_reason(self) -> str:
        """The errors that hold."""
        return "; ".join(self._look.errors) if self._look is not None else ""

    @property
    def bottleneck(self) -> str:
        """Whether the environment, inference or the learner holds the run up, and what to change; empty where none."""
        replays = bool(families_of(self.record.about.algorithm) & {"continuous-q", "q-learning"})
        return self.phases.advice(gpu=system_metrics().get("system/gpu_use"), replays=replays)

    @property
    def spent(self) -> float:
        """Seconds that looks have taken so far."""
        return self._allowance.spent

    def look(self) -> Look | None:
        """Look at the run now, whatever it costs; None where there is nothing to look at or looking fails."""
        return self.guard.call("the diagnosis", self._examine)

    def close(self) -> None:
        """A last look, and a last chance for messages that are under way."""
        if self.record.step > self._looked_at:
            self.look()
        if told := self.guard.call("the phases", lambda: self.bottleneck):
            LOGGER.info("the run was %s", told)
        self.guard.call("the delivery", self._delivery.close)

    def __enter__(self) -> Monitor:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _log(self, metrics: Mapping[str, Any], step: float) -> None:
        with self._lock:
            broken = self.record.log(metrics, step)
            urgent = broken and self._urgent < MOST_URGENT
            if urgent or self._is_due():
                self._urgent += urgent
                self.look()

    def _is_due(self) -> bool:
        about = self.record.about
        stride = STRIDE * about.budget if about.budget else 0.0
        if abs(self.record.step - self._looked_at) < max(stride, 1.0):
            return False
        return self._allowance.share == 1 or self._allowance.left

    def _examine(self) -> Look | None:
        if not self.record.points:
            return None
        with self._lock, self._allowance.work():
            self._looked_at = self.record.step
            self._look = self._examiner.look(self.record.run())
            self.alerts.extend(self._look.alerts)
            self._delivery.send(self._look.alerts)
            return self._look


def _elsewhere(about: About, on_error: OnError) -> Monitor:
    """A monitor in a process that is not its own."""
    made = Monitor(about, (), (RULES,), None, on_error, SHARE)
    made.guard = Guard(process=0)
    return made


def monitor(
    *,
    name: str = "live",
    framework: str = "",
    algorithm: str = "",
    environment: str = "",
    budget: float | None = None,
    goal: float | None = None,
    config: Mapping[str, Any] | None = None,
    sinks: Sequence[str | Sink] = ("log",),
    alerts: Sequence[str] = (RULES,),
    patience: Patience | None = None,
    on_error: OnError = "continue",
    share: float = SHARE,
) -> Monitor:
    """A monitor for a training loop.

    Args:
        name: How messages call the run.
        framework: Whose metric names are logged (`sb3`, `cleanrl`, ...); guessed from the names where it is not said.
        algorithm: Such as `PPO`; some rules are only about some algorithms.
        environment: Such as `CartPole-v1`: the goals of well-known tasks are known.
        budget: Env steps that the run is meant to take, over all environments.
        goal: The return that you are after.
        config: Hyperparameters, under the names of the framework or canonical ones.
        sinks: Where alerts go: `log`, `terminal`, `bell`, `wandb`, `trackio`, `jsonl:FILE`, a webhook's address,
            `mailto:ADDRESS`, or an object of a class of yours.
        alerts: `rules`, which judge on the run's own scale, or `thresholds`, the literal ones of dashboards; or both.
        patience: How long is waited before and after an alert, in shares of the budget.
        on_error: `stop` makes `should_stop` true while an error holds. Nothing else is ever done to the training.
        share: Share of the time that looks at the run may take; with 1 every row that is new enough is looked at.
    """
    if on_error not in ("continue", "stop"):
        raise UsageError(f"on_error = {on_error!r}", hint="continue or stop")
    if not 0 < share <= 1:
        raise UsageError(f"share = {share}", hint="a share of the time, such as 0.004")
    about = About(name, framework, algorithm, environment, budget, goal, dict(config or {}))
    made = [make_sink(sink) for sink in sinks]
    following = Monitor(about, made, checked_presets(alerts), patience, on_error, share)
    following.expect(following.guard.call("the diagnosis", warm_up) or 0.0)
    return following
