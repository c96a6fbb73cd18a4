"""The alerts of experiment trackers: `wandb.alert` and `trackio.alert`, of the run that is active in this process."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, ClassVar

from rlclinic.live.alerts import Alert, Change
from rlclinic.live.messages import body, headline
from rlclinic.live.sinks.base import Sink
from rlclinic.readers.redaction.redact import redact


class WandbSink(Sink):
    """`run.alert`; the wait of W&B is off, because every message here is a change of state."""

    name: ClassVar[str] = "wandb"

    def send(self, alerts: Sequence[Alert]) -> None:
        run = _active("wandb")
        levels = {"info": "INFO", "warning": "WARN", "error": "ERROR"}
        for alert in alerts:
            level = "INFO" if alert.change is Change.CLEARED else levels[alert.level.value]
            run.alert(title=redact(headline(alert)), text=redact("\n".join(body(alert))), level=level, wait_duration=0)


class TrackioSink(Sink):
    """`trackio.alert`."""

    name: ClassVar[str] = "trackio"

    def send(self, alerts: Sequence[Alert]) -> None:
        library = sys.modules.get("trackio")
        if library is None:
            raise RuntimeError("trackio has no active run in this process")
        levels = library.AlertLevel
        known = {"info": levels.INFO, "warning": levels.WARN, "error": levels.ERROR}
        for alert in alerts:
            level = levels.INFO if alert.change is Change.CLEARED else known[alert.level.value]
            library.alert(title=redact(headline(alert)), text=redact("\n".join(body(alert))), level=level)


def _active(module: str) -> Any:
    """The run that the user started; the library is never imported or started for him."""
    run = getattr(sys.modules.get(module), "run", None)
    if run is None:
        raise RuntimeError(f"{module} has no active run in this process")
    return run
