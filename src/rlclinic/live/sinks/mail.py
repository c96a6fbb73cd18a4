"""E-mail over SMTP: one mail for all alerts that are due."""

from __future__ import annotations

import os
import smtplib
import socket
import ssl
from collections.abc import Mapping, Sequence
from email.message import EmailMessage
from typing import ClassVar

from rlclinic.live.alerts import Alert
from rlclinic.live.messages import digest, headline
from rlclinic.live.sinks.base import Sink, TryLater
from rlclinic.model.errors import UsageError
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.readers.redaction.redact import redact

TIMEOUT = 20.0
"""Seconds."""
SERVER, USER, PASSWORD, SENDER = (f"RLCLINIC_SMTP_{word}" for word in ("SERVER", "USER", "PASSWORD", "FROM"))
"""Variables of the environment: a password has no place on a command line."""


@dataclass(frozen=True, slots=True)
class MailServer:
    """Who sends."""

    host: str = "localhost"
    port: int = 25
    user: str = ""
    password: str = ""
    sender: str = ""

    @classmethod
    def of(cls, environment: Mapping[str, str] = os.environ) -> MailServer:
        """As the environment says: RLCLINIC_SMTP_SERVER=host:port and so on."""
        host, _, port = environment.get(SERVER, "").partition(":")
        if not host:
            raise UsageError(f"e-mail needs {SERVER}", hint=f"for example {SERVER}=smtp.example.org:587")
        if port and not port.isdigit():
            raise UsageError(f"{SERVER} has no port {port!r}", hint="host:port")
        user = environment.get(USER, "")
        return cls(host, int(port or 25), user, environment.get(PASSWORD, ""), environment.get(SENDER, user))


class MailSink(Sink):
    """Sends to one or more addresses; with STARTTLS where the server offers it, always before a password."""

    name: ClassVar[str] = "e-mail"
    waits: ClassVar[bool] = True

    def __init__(self, to: Sequence[str], server: MailServer | None = None) -> None:
        if not to or any("@" not in address or "\n" in address for address in to):
            raise UsageError("an e-mail needs an address", hint="mailto:you@example.org")
        self._to = tuple(to)
        self._server = server or MailServer.of()

    def send(self, alerts: Sequence[Alert]) -> None:
        message = EmailMessage()
        more = f" and {len(alerts) - 1} more" if len(alerts) > 1 else ""
        message["Subject"] = redact(f"rlclinic: {headline(alerts[0])}{more}")
        message["From"] = self._server.sender or self._to[0]
        message["To"] = ", ".join(self._to)
        message.set_content(redact(digest(alerts)))
        try:
            self._deliver(message)
        except (smtplib.SMTPResponseException, smtplib.SMTPRecipientsRefused) as error:
            answers = (
                error.recipients if isinstance(error, smtplib.SMTPRecipientsRefused) else {"": (error.smtp_code, b"")}
            )
            worst = max(code for code, _ in answers.values())
            # A server that does not know the sender yet asks for another try.
            if 400 <= worst < 500:
                raise TryLater from None
            raise OSError(f"the mail server answered {worst}") from None
        except (ConnectionError, TimeoutError, socket.gaierror, smtplib.SMTPServerDisconnected):
            raise TryLater from None

    def _deliver(self, message: EmailMessage) -> None:
        server = self._server
        with smtplib.SMTP(server.host, server.port, timeout=TIMEOUT) as connection:
            connection.ehlo()
            if connection.has_extn("starttls"):
                connection.starttls(context=ssl.create_default_context())
                connection.ehlo()
            elif server.password:
                raise OSError("the mail server offers no encryption, so no password is sent to it")
            if server.password:
                connection.login(server.user, server.password)
            connection.send_message(message)
