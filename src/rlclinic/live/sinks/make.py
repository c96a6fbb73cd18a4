"""From the name that a user writes to a sink."""

from __future__ import annotations

import os

from rlclinic.live.sinks.base import Sink
from rlclinic.live.sinks.local import BellSink, JsonLinesSink, LogSink, TerminalSink
from rlclinic.live.sinks.mail import MailSink
from rlclinic.live.sinks.trackers import TrackioSink, WandbSink
from rlclinic.live.sinks.webhook import WebhookSink
from rlclinic.model.errors import UsageError

_PLAIN = {kind.name: kind for kind in (LogSink, TerminalSink, BellSink, WandbSink, TrackioSink)}
NAMES = (*_PLAIN, "jsonl:FILE", "https://...", "webhook", "mailto:ADDRESS")
WEBHOOK = "RLCLINIC_WEBHOOK"
"""The address of the sink `webhook`: what stands in a command line is seen by every user of the machine."""


def make_sink(name: str | Sink) -> Sink:
    """A sink by its name, one of NAMES."""
    if isinstance(name, Sink):
        return name
    if name in _PLAIN:
        return _PLAIN[name]()
    if name == "webhook":
        return WebhookSink(os.environ.get(WEBHOOK, ""))
    kind, _, rest = name.partition(":")
    if kind in ("http", "https"):
        return WebhookSink(name)
    if kind == "jsonl" and rest:
        return JsonLinesSink(rest)
    if kind == "mailto" and rest:
        return MailSink(rest.split(","))
    raise UsageError(f"no sink is called {name!r}", hint=f"one of {', '.join(NAMES)}")
