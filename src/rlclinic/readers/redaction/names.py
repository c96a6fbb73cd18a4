"""Secrets that show themselves by the name before them: `password: …`, `--api-key …`, `"hf_token": "…"`.

A name alone proves little (`eos_token`, `reward_fn_key`): `words` says what the name is worth,
`values` what the value is. Here is the grammar between the two, as environments, JSON, YAML, command
lines, Python reprs, tables and prose write it.
"""

from __future__ import annotations

import re

from rlclinic.readers.redaction.shapes import Span
from rlclinic.readers.redaction.values import convinces, is_harmless, is_path, is_strong
from rlclinic.readers.redaction.words import REACH, Family, Name, family_of, name_at

# Every run is bounded, so that a hostile line costs linear time.
_ASSIGN = re.compile(r"\\{0,3}[\"'`]?\]?[ \t]{0,8}(?::=|=>|={1,2}|:)[ \t]{0,40}")
# W&B writes `api_key:`, `desc: null`, `value: …` on three lines, pprint breaks long dicts before a value, and
# YAML has block scalars.
_NEXT_LINE = re.compile(
    r"\r?\n[ \t]{0,80}(?:desc:[^\n]{0,80}\n[ \t]{0,80})?(?:value:[ \t]{0,8}|(?=\\{0,3}[\"']))"
    r"|[|>][-+]?[ \t]{0,8}\r?\n[ \t]{1,80}"
)
_PAIR = re.compile(r"\\{0,3}[\"']\s{0,8},\s{0,80}(?=\\{0,3}[\"'])")
_BRACKET_PAIR = re.compile(r",[ \t]{1,8}")
_TABLE_CELL = re.compile(r"[ \t]{0,40}\|[ \t]{0,40}")
_ELEMENT = re.compile(r">")
_SPACE = re.compile(r"[\"']?[ \t]{1,8}(?:is[ \t]{1,4})?(?=[^\s\-])")

_QUOTE = re.compile(r"[bBrRuU]?(?P<quote>\\{0,3}[\"'])")
_INSIDE = {
    '"': re.compile(r"(?:[^\"\\\n]|\\.){0,4096}"),
    "'": re.compile(r"(?:[^'\\\n]|\\.){0,4096}"),
}
_INSIDE_ESCAPED = re.compile(r"[^\"'\\\n]{0,4096}")
_BARE = re.compile(r"[^\s\"'`,;)}\]&<|]{1,512}")
# Punctuation belongs to a password unless something new begins behind it.
_BARE_PASSWORD = re.compile(r"(?:[^\s\"'`,;)}\]&<|]|[,;)}\]&<|](?![\s\"'`,;)}\]&<|]|/?[\w.\-]{1,32}[=:>]|\Z)){1,512}")
_REST_OF_LINE = re.compile(r"[^\n]{1,256}?(?=[ \t]+#|[ \t]*\r?(?:\n|\Z))")
# Mail providers hand out app passwords as four groups of four letters.
_MAIL_PASSWORD = re.compile(r"[a-z]{4}(?: [a-z]{4}){3}(?![A-Za-z])")
_HEADER_VALUE = re.compile(r"(?:[A-Za-z0-9\-]{2,20} {1,4})?(?P<value>[^\s\"'\\,;]{6,512})")
_COOKIE_VALUE = re.compile(r"(?P<value>[^\n\"'=]{1,128}=[^\n\"']{0,4096})")
# `passwords: [a, b]`, `api_keys: {openai: a}` and the lists of YAML.
_MANY = re.compile(r"[\[{(](?P<inside>[^\]})]{1,4096})|(?P<items>(?:\r?\n[ \t]{0,80}-[ \t][^\n]{1,512}){1,64})")
_BETWEEN = re.compile(r"[\s\"'`,:\-]+")
# requests takes auth=('user', 'password').
_LOGIN_PAIR = re.compile(r"[(\[][\"'][^\"'\n]{1,64}[\"'],[ \t]{0,4}[\"'](?P<value>[^\"'\n]{1,256})")
_LINE_START = re.compile(r"[ \t\-]*\Z")


def find_named(text: str, start: int, word: str) -> Span | None:
    """The secret value behind the name whose trigger `word` stands at `start`, if there is one."""
    name = name_at(text, start, word)
    if name is None:
        return None
    if name.family in {Family.HEADER, Family.COOKIE}:
        found = _header(text, name)
        if found is not None or name.family is Family.HEADER:
            return found
    at = _value_start(text, name)
    if at is None:
        return None
    if name.is_plural and (many := _MANY.match(text, at)):
        parts = _BETWEEN.split(many.group(many.lastgroup or 0))
        is_any = any(convinces(name.family, part, is_quoted=True) for part in parts)
        return Span(*many.span(many.lastgroup or 0)) if is_any else None
    if name.family is Family.LOGIN and (pair := _LOGIN_PAIR.match(text, at)):
        return Span(*pair.span("value"))
    quote = _QUOTE.match(text, at)
    if quote is not None:
        inside = _INSIDE.get(quote["quote"], _INSIDE_ESCAPED)
        return _judged(text, Span(quote.end(), _run_end(inside, text, quote.end())), name, is_quoted=True)
    end = _password_end(text, name, at) if name.family is Family.PASSWORD else _run_end(_BARE, text, at)
    return _judged(text, Span(at, end), name, is_quoted=False)


def is_secret(name: str, value: str) -> bool:
    """Whether `value`, kept under `name` in a config, is a secret."""
    family = family_of(name)
    if family is Family.HEADER:
        return len(value) >= 6 and not is_harmless(value) and is_strong(value)
    if family is Family.COOKIE and "=" in value:
        return True
    return family is not None and convinces(family, value, is_quoted=True)


def _run_end(pattern: re.Pattern[str], text: str, start: int) -> int:
    found = pattern.match(text, start)
    return start if found is None else found.end()


def _value_start(text: str, name: Name) -> int | None:
    """Where the value begins; None when nothing assigns one to the name."""
    assign = _ASSIGN.match(text, name.end)
    if assign is not None:
        below = _NEXT_LINE.match(text, assign.end())
        return assign.end() if below is None else below.end()
    previous = text[name.start - 1 : name.start]
    if previous in {"'", '"'} and (pair := _PAIR.match(text, name.end)):
        return pair.end() if _is_pair(text, name, pair.end()) else None
    if previous == "[" and (pair := _BRACKET_PAIR.match(text, name.end)):
        return pair.end()
    if previous == "<" and (element := _ELEMENT.match(text, name.end)):
        return element.end()
    if text[max(0, name.start - 2) : name.start].rstrip(" ").endswith("|") and (
        cell := _TABLE_CELL.match(text, name.end)
    ):
        return cell.end()
    return _spaced_value_start(text, name)


def _is_pair(text: str, name: Name, at: int) -> bool:
    """`'password', 'host'` is a list of names; behind a flag, or with digits, the second is a value."""
    return text.startswith("-", name.start) or is_strong(text[at : at + 64].split(text[at], 2)[1])


def _spaced_value_start(text: str, name: Name) -> int | None:
    """Only a blank between name and value: `--api-key …`, netrc's `password …`, "the token is …"."""
    space = _SPACE.match(text, name.end)
    if space is None or text.startswith("--", name.start):
        return None if space is None else space.end()
    if name.family is not Family.PASSWORD and not text.startswith(" is ", name.end):
        return None
    # Prose writes `password required`; what a netrc file has in this place looks random.
    value = _BARE.match(text, space.end())
    return space.end() if value is not None and convinces(Family.TOKEN, value.group(), is_quoted=False) else None


def _password_end(text: str, name: Name, at: int) -> int:
    mail = _MAIL_PASSWORD.match(text, at)
    if mail is not None:
        return mail.end()
    line_start = text.rfind("\n", max(0, name.start - REACH), name.start) + 1
    if ":" in text[name.end : at] and _LINE_START.match(text, line_start, name.start):
        return _run_end(_REST_OF_LINE, text, at)
    return _run_end(_BARE_PASSWORD, text, at)


def _judged(text: str, span: Span, name: Name, *, is_quoted: bool) -> Span | None:
    value = text[span.start : span.end]
    shown = text[name.start : name.end].lstrip("-").rpartition(".")[2].lower()
    if shown.endswith("pwd") and is_path(value):
        return None
    if not is_quoted and value.lower() == shown:  # Client(api_key=api_key)
        return None
    return span if convinces(name.family, value, is_quoted=is_quoted) else None


def _header(text: str, name: Name) -> Span | None:
    """`Authorization: Bearer …` keeps its scheme; `Cookie: a=b; c=d` goes to the end of the line or quote."""
    assign = _ASSIGN.match(text, name.end)
    if assign is None:
        return None
    quote = _QUOTE.match(text, assign.end())
    pattern = _COOKIE_VALUE if name.family is Family.COOKIE else _HEADER_VALUE
    found = pattern.match(text, assign.end() if quote is None else quote.end())
    if found is None or is_harmless(found["value"]):
        return None
    return Span(*found.span("value")) if name.family is Family.COOKIE or is_strong(found["value"]) else None
