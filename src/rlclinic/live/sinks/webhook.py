"""A webhook: one POST for all alerts that are due, in the shape that Slack and Mattermost take."""

from __future__ import annotations

import email.utils
import html
import http.client
import re
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from typing import ClassVar

from rlclinic.live.alerts import Alert
from rlclinic.live.messages import digest, to_object
from rlclinic.live.sinks.base import Sink, TryLater
from rlclinic.model.errors import UsageError
from rlclinic.readers.redaction.redact import redact, redact_value
from rlclinic.reports.run_json import dumps

TIMEOUT = 10.0
"""Seconds."""
# Characters of the text; Slack cuts at 40,000 and shows no more than 4,000 at once.
LONGEST = 3_500
# What says "later" rather than "no": too many requests, and trouble of the server itself.
LATER = frozenset({408, 425, 429, 500, 502, 503, 504})
# Mattermost calls a whole channel by plain words, Slack in angle brackets.
CALLS = re.compile(r"@(?=channel|here|all|everyone)", re.IGNORECASE)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """An address that was given is the only one that is told anything."""

    def redirect_request(self, *_: object) -> None:
        return None


class WebhookSink(Sink):
    """Posts `{"text": ..., "alerts": [...]}`."""

    name: ClassVar[str] = "webhook"
    waits: ClassVar[bool] = True

    def __init__(self, url: str, timeout: float = TIMEOUT) -> None:
        if not url.startswith(("http://", "https://")):
            raise UsageError("a webhook needs an http or https address", hint="for example https://hooks.slack.com/...")
        self._url = url
        self._timeout = timeout
        self._opener = urllib.request.build_opener(_NoRedirect())

    def send(self, alerts: Sequence[Alert]) -> None:
        # What a run wrote is shown as it is: no links and no calls to everybody.
        text = CALLS.sub("@\u200b", html.escape(redact(digest(alerts)), quote=False))
        text = text if len(text) <= LONGEST else text[: LONGEST - 2] + " …"
        data = dumps({"text": text, "alerts": redact_value("", [to_object(alert) for alert in alerts])}, indent=None)
        request = urllib.request.Request(
            self._url, data.encode(), {"Content-Type": "application/json", "User-Agent": "rlclinic"}, method="POST"
        )
        try:
            with self._opener.open(request, timeout=self._timeout):
                pass
        except urllib.error.HTTPError as error:
            error.close()
            if error.code in LATER:
                raise TryLater(_seconds(error.headers.get("Retry-After"))) from None
            # The address holds a secret, so the library's own message is not passed on.
            raise OSError(f"the webhook answered {error.code}") from None
        except (urllib.error.URLError, TimeoutError, ConnectionError):
            raise TryLater from None
        except (http.client.HTTPException, ValueError) as error:
            raise OSError(f"the webhook's address or its answer is not HTTP ({type(error).__name__})") from None


def _seconds(header: str | None) -> float | None:
    """`Retry-After`, which is a number of seconds or a date."""
    if not header:
        return None
    if header.strip().isdigit():
        return float(header)
    try:
        return max(email.utils.parsedate_to_datetime(header).timestamp() - time.time(), 0.0)
    except (TypeError, ValueError):
        return None
