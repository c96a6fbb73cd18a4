"""What a sink is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rlclinic.live.alerts import Alert


class TryLater(Exception):  # noqa: N818 - reads as what it is
    """The receiver cannot take it now."""

    def __init__(self, seconds: float | None = None) -> None:
        super().__init__("the receiver cannot be reached, or asks to wait")
        self.seconds = seconds
        """How long it asks to wait, where it says so."""


class Sink:
    """A receiver of alerts. `send` may raise: whoever calls it knows what to do."""

    name: ClassVar[str] = ""
    waits: ClassVar[bool] = False
    """Whether sending may take long, so that it must not happen in the training's own thread."""

    def send(self, alerts: Sequence[Alert]) -> None:
        """Deliver one or more alerts as one message where that is possible."""
        raise NotImplementedError

    def close(self) -> None:
        """Release what is held."""
