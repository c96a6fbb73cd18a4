"""Alerts reach real receivers: an HTTP and an SMTP server on loopback, a file, a log, a terminal."""

from __future__ import annotations

import http.server
import io
import json
import logging
import os
import socket
import socketserver
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rlclinic.live import delivery as module
from rlclinic.live.alerts import Alert, Change
from rlclinic.live.delivery import Delivery
from rlclinic.live.guard import Guard
from rlclinic.live.sinks import make_sink
from rlclinic.live.sinks.base import TryLater
from rlclinic.live.sinks.local import BellSink, TerminalSink
from rlclinic.live.sinks.mail import MailServer, MailSink
from rlclinic.model.errors import UsageError
from rlclinic.model.finding import Evidence, Severity


def alert(key: str = "gradient-explosion", change: Change = Change.RAISED) -> Alert:
    return Alert(
        change, key, Severity.ERROR, "Gradient explosion", "grad_norm grew 1e6 times", 5_000.0, "run\x1b[31m-7",
        (Evidence("grad_norm", "train/grad_norm", float("inf"), 30.0, (1.0, 2.0), 9),), 4_000.0,
        "learning-rate-too-high (91%)", "Lower learning_rate.", "learning_rate: 1e-4", "", "rlclinic diagnose runs/7",
        "OPT01",
    )  # fmt: skip


class Receiver(http.server.BaseHTTPRequestHandler):
    """Remembers what is posted; answers what it is told to."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        server: Any = self.server
        status = server.answers.pop(0) if server.answers else 200
        if status == 200:
            server.received.append(json.loads(body))
        self.send_response(status)
        if status == 429:
            self.send_header("Retry-After", "0")
        if status == 302:
            self.send_header("Location", "http://127.0.0.1:1/elsewhere")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def receiver() -> Iterator[Any]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver) as server:
        server.received, server.answers = [], []  # type: ignore[attr-defined]
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()


def sent(sink: Any, *batches: list[Alert], batch_seconds: float = 0.05) -> Guard:
    guard = Guard()
    delivery = Delivery([sink], guard, batch_seconds=batch_seconds)
    for batch in batches:
        delivery.send(batch)
    delivery.close(20.0)
    return guard


def url(server: Any) -> str:
    return f"http://127.0.0.1:{server.server_address[1]}/services/T0/B0/secret"


def test_a_burst_is_one_post_in_the_shape_of_slack(receiver: Any) -> None:
    guard = sent(make_sink(url(receiver)), [alert()], [alert("not-finite")], batch_seconds=0.5)
    assert guard.off == {}
    assert len(receiver.received) == 1
    message = receiver.received[0]
    assert message["text"].startswith("[error] Gradient explosion at step 5,000")
    assert "leading cause: learning-rate-too-high (91%)" in message["text"]
    assert [item["key"] for item in message["alerts"]] == ["gradient-explosion", "not-finite"]
    assert message["alerts"][0]["evidence"][0]["value"] == "inf"
    assert "\x1b" not in message["text"]


def test_what_a_run_wrote_is_no_markup_and_calls_nobody(receiver: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RLCLINIC_WEBHOOK", url(receiver))
    sent(make_sink("webhook"), [replace(alert(), title="<!channel> @here <https://evil.example|log>", run="@all")])
    text = receiver.received[0]["text"]
    assert "&lt;!channel&gt;" in text
    assert not [part for part in ("<", "@here", "@all") if part in text]


def test_a_webhook_without_its_address_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RLCLINIC_WEBHOOK", raising=False)
    with pytest.raises(UsageError, match="needs an http or https address"):
        make_sink("webhook")


def test_what_comes_after_a_close_is_sent_too(receiver: Any) -> None:
    delivery = Delivery([make_sink(url(receiver))], Guard(), batch_seconds=0.0)
    for number in (1, 2):
        delivery.send([alert()])
        delivery.close(20.0)
        assert len(receiver.received) == number


@pytest.mark.parametrize("address", ["http://127.0.0.1:9/secret token", "http://127.0.0.1:secret/"])
def test_an_address_that_is_none_is_not_told(address: str, caplog: pytest.LogCaptureFixture) -> None:
    guard = sent(make_sink(address), [alert()])
    assert guard.off == {"sink webhook": "OSError: the webhook's address or its answer is not HTTP (InvalidURL)"}
    assert "secret" not in caplog.text


@pytest.mark.parametrize("answers", [[429, 429], [503], [500, 429, 503]])
def test_a_receiver_that_is_busy_is_tried_again(
    receiver: Any, answers: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FIRST_WAIT", 0.01)
    receiver.answers = list(answers)
    guard = sent(make_sink(url(receiver)), [alert()])
    assert len(receiver.received) == 1
    assert guard.off == {}


@pytest.mark.parametrize("status", [404, 302])
def test_a_receiver_that_refuses_is_switched_off_without_telling_its_address(
    receiver: Any, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    receiver.answers = [status] * 5
    guard = sent(make_sink(url(receiver)), [alert()])
    assert guard.off == {"sink webhook": f"OSError: the webhook answered {status}"}
    assert "secret" not in caplog.text


def test_a_dead_receiver_holds_nobody_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FIRST_WAIT", 0.01)
    monkeypatch.setattr(module, "MOST_FAILURES", 3)
    guard = Guard()
    delivery = Delivery([make_sink("http://127.0.0.1:9/nobody")], guard, batch_seconds=0.0)
    began = time.perf_counter()
    for _ in range(1_000):
        delivery.send([alert()])
    assert time.perf_counter() - began < 2.0
    delivery.close(10.0)
    assert list(guard.off) == ["sink webhook"]


class Mailbox(socketserver.StreamRequestHandler):
    """Enough of SMTP to take a mail."""

    def handle(self) -> None:
        server: Any = self.server
        self.wfile.write(b"220 here\r\n")
        lines: list[str] = []
        while line := self.rfile.readline():
            word = line[:4].upper()
            if word == b"DATA":
                self.wfile.write(b"354 go on\r\n")
                while (text := self.rfile.readline()) != b".\r\n":
                    lines.append(text.decode())
                server.mails.append("".join(lines))
                self.wfile.write(b"250 taken\r\n")
            elif word == b"QUIT":
                self.wfile.write(b"221 bye\r\n")
                return
            else:
                busy = word == server.refuses and server.busy > 0
                server.busy -= busy
                self.wfile.write(b"451 later\r\n" if busy else b"250 fine\r\n")


@pytest.fixture
def mailbox() -> Iterator[Any]:
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Mailbox) as server:
        server.mails, server.busy, server.refuses = [], 0, b"MAIL"  # type: ignore[attr-defined]
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.mark.parametrize(("busy", "refuses"), [(0, b""), (2, b"MAIL"), (2, b"RCPT")])
def test_a_mail_arrives_also_where_the_server_is_busy_at_first(
    mailbox: Any, busy: int, refuses: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FIRST_WAIT", 0.01)
    mailbox.busy, mailbox.refuses = busy, refuses
    server = MailServer("127.0.0.1", mailbox.server_address[1], sender="lab@example.org")
    guard = sent(MailSink(["you@example.org"], server), [alert(), alert("not-finite")], batch_seconds=0.2)
    assert guard.off == {}
    assert len(mailbox.mails) == 1
    assert "Subject: rlclinic: [error] Gradient explosion at step 5,000" in mailbox.mails[0]
    assert "To: you@example.org" in mailbox.mails[0]
    assert "rlclinic diagnose runs/7" in mailbox.mails[0]


def test_a_mail_waits_for_a_name_server_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(TryLater):
        MailSink(["you@example.org"], MailServer("mail.example.org")).send([alert()])


def test_a_password_is_not_sent_without_encryption(mailbox: Any) -> None:
    server = MailServer("127.0.0.1", mailbox.server_address[1], "user", "hunter2", "lab@example.org")
    guard = sent(MailSink(["you@example.org"], server), [alert()])
    assert mailbox.mails == []
    assert "no encryption" in guard.off["sink e-mail"]


def test_a_file_gets_one_object_per_alert(tmp_path: Path) -> None:
    path = tmp_path / "alerts.jsonl"
    sent(make_sink(f"jsonl:{path}"), [alert()], [alert(change=Change.CLEARED)])
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [(line["change"], line["schema"]) for line in lines] == [
        ("raised", "rlclinic.alert/1"),
        ("cleared", "rlclinic.alert/1"),
    ]


def test_a_file_is_not_written_through_a_link(tmp_path: Path) -> None:
    target = tmp_path / "precious"
    target.write_text("")
    (tmp_path / "alerts.jsonl").symlink_to(target)
    guard = sent(make_sink(f"jsonl:{tmp_path / 'alerts.jsonl'}"), [alert()])
    assert target.read_text() == ""
    assert list(guard.off) == ["sink jsonl"]


def test_a_full_disk_switches_the_file_off(caplog: pytest.LogCaptureFixture) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    guard = sent(make_sink("jsonl:/dev/full"), [alert()], [alert()])
    assert "No space left" in guard.off["sink jsonl"]
    assert caplog.text.count("switched off") == 1


def test_a_sink_that_fails_takes_no_other_of_its_kind_with_it(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    path, guard = tmp_path / "alerts.jsonl", Guard()
    files = [make_sink(f"jsonl:{where}") for where in ("/dev/full", path, "/dev/full")]
    delivery = Delivery(files, guard)
    delivery.send([alert()])
    delivery.send([alert()])
    assert list(guard.off) == ["sink jsonl", "sink jsonl 3"]
    assert len(path.read_text().splitlines()) == 2


def test_half_a_line_on_a_disk_that_gets_full_switches_the_file_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda handle, data: write(handle, data[:20]))
    guard = sent(make_sink(f"jsonl:{tmp_path / 'alerts.jsonl'}"), [alert()], [alert()])
    assert "No space left" in guard.off["sink jsonl"]
    assert (tmp_path / "alerts.jsonl").stat().st_size == 20


def test_the_log_gets_errors_as_errors(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "rlclinic"):
        sent(make_sink("log"), [alert(), alert(change=Change.CLEARED)])
    assert [record.levelname for record in caplog.records] == ["ERROR", "WARNING"]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_bell_rings_for_news_that_are_bad_and_the_terminal_shows_no_control_characters() -> None:
    bell, screen = Terminal(), Terminal()
    sent(BellSink(bell), [alert()], [alert(change=Change.CLEARED)])
    sent(TerminalSink(screen), [alert()])
    assert bell.getvalue() == "\a"
    assert "\x1b" not in screen.getvalue()
    assert "to do: Lower learning_rate." in screen.getvalue()


@pytest.mark.parametrize("name", ["wandb", "trackio"])
def test_a_tracker_without_a_run_is_switched_off(name: str) -> None:
    assert "no active run" in sent(make_sink(name), [alert()]).off[f"sink {name}"]


@pytest.mark.parametrize("name", ["pigeon", "jsonl:", "mailto:", "mailto:nobody", "ftp://host/x"])
def test_a_name_that_is_no_sink_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RLCLINIC_SMTP_SERVER", "localhost:25")
    with pytest.raises(UsageError):
        make_sink(name)


def test_mail_says_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RLCLINIC_SMTP_SERVER", raising=False)
    with pytest.raises(UsageError, match="RLCLINIC_SMTP_SERVER"):
        make_sink("mailto:you@example.org")
