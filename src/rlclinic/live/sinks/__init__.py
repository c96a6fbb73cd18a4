"""Where alerts go. One file per kind; `make_sink` takes the name that a user writes."""

from __future__ import annotations

from rlclinic.live.sinks.base import Sink
from rlclinic.live.sinks.make import make_sink

__all__ = ["Sink", "make_sink"]
