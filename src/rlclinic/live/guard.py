"""A monitor must never harm what it watches: whatever fails in it is switched off, with one warning."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")
LOGGER = logging.getLogger("rlclinic")


class Guard:
    """Calls parts of a monitor; a part that raises is never called again.

    A worker of a vector environment, forked off or started anew, has the monitor but must not use it: there all parts
    are off.
    """

    def __init__(self, process: int | None = None) -> None:
        self._process = os.getpid() if process is None else process
        self.off: dict[str, str] = {}
        """Parts that were switched off, and why."""

    def call(self, part: str, function: Callable[..., T], *arguments: Any, **keywords: Any) -> T | None:
        """What the function returns; None where it failed, now or before, or this is another process."""
        if part in self.off or os.getpid() != self._process:
            return None
        try:
            return function(*arguments, **keywords)
        except Exception as error:
            self.switch_off(part, error)
            return None

    def switch_off(self, part: str, error: Exception) -> None:
        """Do without a part from now on."""
        if part in self.off:
            return
        told = error.strerror if isinstance(error, OSError) and error.strerror else error
        self.off[part] = f"{type(error).__name__}: {told}"
        # A broken log handler must not reach the training either.
        with suppress(Exception):
            LOGGER.warning("rlclinic: %s is switched off, training goes on (%s)", part, self.off[part])
