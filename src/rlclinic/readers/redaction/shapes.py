"""Secrets that show themselves by their own form: issuer prefixes, JWTs, URLs with a password, PEM keys."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from rlclinic.readers.redaction.values import is_login, is_masked
from rlclinic.reference.table_file import load_table

# A private key of 16384 bits has about 13 kB of base64; without an end line nothing further is taken.
_PEM_LIMIT = 16_384
# Characters of a key before the part by which it is known.
_BEFORE = 40


class Span(NamedTuple):
    """The characters to replace: text[start:end]."""

    start: int
    end: int


def _issued() -> dict[str, tuple[str, str, bool]]:
    """By prefix the form of a key, what may stand before the prefix, and whether the key must look random besides.

    Inside a word a prefix is none.
    """
    return {
        prefix: (f"{before}{re.escape(prefix)}(?:{_tail(row)})", row.get("before", ""), bool(row.get("random")))
        for row in load_table(Path(__file__).with_name("issuers.toml")).values()
        for before in [rf"(?<![A-Za-z0-9]){row.get('before', '')}"]
        for prefix in row["prefixes"]
    }


def _tail(row: dict[str, Any]) -> str:
    if "tail" in row:
        return str(row["tail"])
    run = f"[{row['alphabet']}]{{{row['length']}"
    return run + ("}(?![A-Za-z0-9])" if row.get("exact") else ",512}")


_ISSUED = _issued()
_URL_LOGIN = re.compile(r"://([^\s/@:\"'<>]{0,128}):([^\s/@\"'<>]{1,512})@")
_URL_TOKEN = re.compile(r"://([A-Za-z0-9_\-.~%]{20,512})@")
_BEARER = re.compile(r"[Bb](?:earer|EARER) {1,4}([A-Za-z0-9_\-.~+/=]{12,512})")
_BASIC = re.compile(r"Basic {1,4}([A-Za-z0-9+/]{8,512}={0,2})")
_PEM_HEAD = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_PEM_TAIL = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_PEM_BODY = re.compile(r"(?:\\n|\\r|[A-Za-z0-9+/=\s])*")
_CONNECTION = re.compile(r"(?:AccountKey|SharedAccessKey|SharedAccessSignature)=([^;\s\"']{8,512})")
_HOOK = re.compile(
    r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9_/\-]{8,512})"
    r"|hooks\.zapier\.com/hooks/catch/([A-Za-z0-9/]{8,512})"
    r"|\.office\.com/webhookb2/([A-Za-z0-9@/\-]{8,512})"
    r"|/bot/v2/hook/([A-Za-z0-9\-]{8,512})"
    r"|qyapi\.weixin\.qq\.com/cgi-bin/webhook/send\?key=([A-Za-z0-9\-]{8,512})"
    r"|discord(?:app)?\.com/api/webhooks/\d{1,24}/([A-Za-z0-9_\-]{8,512})"
    r"|api\.telegram\.org/(?:file/)?bot(\d{1,16}:[A-Za-z0-9_\-]{8,512})"
)
_SIGNED = re.compile(r"(?<![A-Za-z0-9])(?:sig|Signature|X-Amz-Signature)=([A-Za-z0-9%+/=_\-]{16,512})")
_LOGIN = re.compile(
    r"wandb(?:\.login\(|[ ]login)[^\n]{0,80}?(?<![A-Za-z0-9])([0-9a-f]{40}|[A-Za-z0-9_]{60,512})(?![A-Za-z0-9])"
)
# A key is pasted behind W&B's prompt, or on one of the lines below it.
_PROMPT = re.compile(
    r"API key from your profile[^\n]{0,80}?(?:\n[^\n]{0,24}?){0,3}(?<![A-Za-z0-9])"
    r"([0-9a-f]{40}|[A-Za-z0-9_]{60,512})(?![A-Za-z0-9])"
)
_CURL_USER = re.compile(r"curl\b[^\n]{0,120}?\s(?:-u|--user)[ =]['\"]?[^\s:'\"]{1,64}:([^\s'\"]{1,256})")
_SSHPASS = re.compile(r"sshpass\s{1,4}-p\s{0,4}['\"]?([^\s'\"]{1,256})")


# When a prefix is first met: most runs meet none.
_compiled = cache(re.compile)


def find_shape(text: str, start: int, trigger: str) -> Span | None:
    """The secret that `trigger`, found at `start`, announces; None where it only looks like one."""
    if trigger in _ISSUED:
        form, before, is_random = _ISSUED[trigger]
        lead = _compiled(rf"{before}\Z").search(text, max(0, start - _BEFORE), start) if before else None
        found = _compiled(form).match(text, start if lead is None else lead.start())
        return None if found is None or (is_random and not _random_enough(found.group())) else Span(*found.span())
    return _FINDERS[trigger](text, start)


def _random_enough(key: str) -> bool:
    """`sk-learn-contrib-examples` has the form of a key but none of its digits."""
    key = key[:128]
    digits = sum(c.isdigit() for c in key)
    mixed = any(c.islower() for c in key) and any(c.isupper() for c in key)
    return digits >= 4 or (mixed and len(key) >= 24) or (digits >= 1 and mixed)


def _group(pattern: re.Pattern[str]) -> Callable[[str, int], Span | None]:
    """A finder that hides the first group of `pattern` that took part in the match."""

    def find(text: str, start: int) -> Span | None:
        found = pattern.match(text, start)
        if found is None or found.lastindex is None or is_masked(found.group(found.lastindex)):
            return None
        return Span(*found.span(found.lastindex))

    return find


def _url(text: str, start: int) -> Span | None:
    login = _URL_LOGIN.match(text, start)
    if login is not None:
        return None if is_masked(login.group(2)) else Span(*login.span(2))
    bare = _URL_TOKEN.match(text, start)
    if bare is None or not _random_enough(bare.group(1)):
        return None
    return Span(*bare.span(1))


def _bearer(text: str, start: int) -> Span | None:
    found = _BEARER.match(text, start)
    if found is None or is_masked(found.group(1)) or not any(c.isdigit() for c in found.group(1)):
        return None
    return Span(*found.span(1))


def _basic(text: str, start: int) -> Span | None:
    found = _BASIC.match(text, start)
    return Span(*found.span(1)) if found is not None and is_login(found.group(1)) else None


def _pem(text: str, start: int) -> Span | None:
    head = _PEM_HEAD.match(text, start)
    if head is None:
        return None
    tail = _PEM_TAIL.search(text, head.end(), head.end() + _PEM_LIMIT)
    if tail is not None:
        return Span(head.end(), tail.start())
    body = _PEM_BODY.match(text, head.end(), head.end() + _PEM_LIMIT)
    return Span(head.end(), body.end()) if body is not None and body.group().strip() else None


_FINDERS: dict[str, Callable[[str, int], Span | None]] = {
    "://": _url,
    **dict.fromkeys(("Bearer", "bearer", "BEARER"), _bearer),
    "Basic": _basic,
    "-----BEGIN": _pem,
    "AccountKey=": _group(_CONNECTION),
    "SharedAccess": _group(_CONNECTION),
    **dict.fromkeys(
        (
            "hooks.slack.com",
            "hooks.zapier.com",
            ".office.com",
            "/bot/v2/hook/",
            "qyapi.weixin",
            "discord",
            "api.telegram.org",
        ),
        _group(_HOOK),
    ),
    **dict.fromkeys(("sig=", "Signature=", "X-Amz-Signature="), _group(_SIGNED)),
    **dict.fromkeys(("wandb login", "wandb.login"), _group(_LOGIN)),
    "API key from your profile": _group(_PROMPT),
    "curl": _group(_CURL_USER),
    "sshpass": _group(_SSHPASS),
}

SHAPE_TRIGGERS: tuple[str, ...] = (*_ISSUED, *_FINDERS)
