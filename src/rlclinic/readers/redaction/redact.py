"""Removes secrets from text and config values before they leave a reader.

What a secret looks like is known elsewhere: `shapes` (it has a telling form of its own) and
`names` (the name before it tells). Here is the scan that asks both. Line breaks are kept, so that line
numbers stay true.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from rlclinic.readers.redaction.literal_scan import Hit, LiteralScan
from rlclinic.readers.redaction.names import find_named, is_secret
from rlclinic.readers.redaction.shapes import SHAPE_TRIGGERS, Span, find_shape
from rlclinic.readers.redaction.values import is_harmless, is_random, is_strong
from rlclinic.readers.redaction.words import NAME_TRIGGERS, Family, family_of

REDACTED = "[redacted]"

# Configs nest a handful of levels; below this a value is dropped rather than walked.
_MAX_DEPTH = 100

# The shape and name patterns look at no more than this many characters; a longer secret is followed to its end.
_LONG_SECRET = 512

# Characters of a secret that is looked for inside other values; a shorter one may be part of a word.
_TELLING = 6

# Secrets of one text whose further mentions are looked for: each is a search of its own.
_MOST_MENTIONED = 200

_SHAPES = frozenset(SHAPE_TRIGGERS)
_NAMES = frozenset(NAME_TRIGGERS)
_TRIGGERS = LiteralScan([*SHAPE_TRIGGERS, *NAME_TRIGGERS])
_SECRET_RUN = re.compile(r"(?!-----)[A-Za-z0-9_\-+/=.~%]*")
# W&B stores `api_key: {desc: null, value: …}`: the inner name says nothing.
_WRAPPERS = frozenset({"value", "default", "current"})


def redact(text: str, known: Collection[str] = ()) -> str:
    """The text with every secret replaced by `[redacted]`; all else stays as it is.

    What was given away once, here or elsewhere (`known`), is a secret wherever it is mentioned.
    """
    kept: list[str] = []
    done = 0
    found = dict.fromkeys(known)
    for span in _secrets(text):
        kept += (text[done : span.start], REDACTED, "\n" * text.count("\n", span.start, span.end))
        found |= dict.fromkeys(mentionable(text[span.start : span.end]))
        done = span.end
    clean = "".join([*kept, text[done:]]) if kept else text
    for secret in itertools.islice(found, _MOST_MENTIONED):
        clean = clean.replace(secret, REDACTED)
    return clean


def may_hold_secrets(text: str) -> bool:
    """Whether anything in the text could begin a secret, or name one."""
    return _TRIGGERS.search(text) is not None


def mentionable(secret: object) -> tuple[str, ...]:
    """The secret, if it is one that no text holds by chance."""
    return (secret,) if isinstance(secret, str) and is_random(secret) and "\n" not in secret else ()


def redacted_head(text: str, length: int) -> str:
    """The beginning of a text, to be quoted. It is cut afterwards: half a secret would not be known as one."""
    return redact(text[: length + _LONG_SECRET])[:length]


def secrets_in(text: str) -> frozenset[str]:
    """What `redact` takes out of the text."""
    return frozenset(text[span.start : span.end] for span in _secrets(text))


def redact_value(key: str, value: object, known: Collection[str] = ()) -> object:
    """The config value kept under `key` without secrets, `known` ones included; dicts and lists are copied."""
    return _redacted(key, value, known, 0)


def redact_names(names: Iterable[str]) -> list[str]:
    """The names without secrets; those that would then be the same are numbered, so that none replaces another."""
    taken: dict[str, int] = {}
    for name in names:
        clean = shown = redact(name)
        while shown in taken:
            taken[clean] += 1
            shown = f"{clean} ({taken[clean]})"
        taken[shown] = 1
    return list(taken)


def _secrets(text: str) -> Iterator[Span]:
    """The secrets of a text in their order, none overlapping."""
    done = 0
    hit = _TRIGGERS.search(text)
    while hit is not None:
        span = _secret_at(text, hit) if hit.start >= done else None
        if span is not None and span.start >= done:
            yield span
            done = span.end
        hit = _TRIGGERS.search(text, max(hit.end, done))


def _redacted(key: str, value: object, known: Collection[str], depth: int) -> object:
    if depth > _MAX_DEPTH:
        return REDACTED
    if isinstance(value, str):
        if value in known or is_secret(key, value):
            return REDACTED
        for secret in known:
            value = value.replace(secret, REDACTED) if len(secret) >= _TELLING else value
        return redact(value)
    if isinstance(value, dict):
        return {
            name if isinstance(k, str) else k: _redacted(_child_key(key, k), v, known, depth + 1)
            for name, (k, v) in zip(
                redact_names(k if isinstance(k, str) else "" for k in value), value.items(), strict=True
            )
        }
    if isinstance(value, list | tuple):
        return type(value)([_redacted(key, v, known, depth + 1) for v in _without_named(key, value)])
    if isinstance(value, int) and not isinstance(value, bool) and family_of(key) is Family.PASSWORD:
        return REDACTED if is_secret(key, str(value)) else value
    return value


def _child_key(key: str, child: object) -> str:
    if not isinstance(child, str) or child.lower() in _WRAPPERS:
        return key
    return f"{key}.{child}" if key else child


def _without_named(key: str, items: Sequence[object]) -> list[object]:
    """In a list of arguments a flag names the item behind it: `["--api-key", "…"]`; in a pair the first the second."""
    result = list(items)
    is_pair = len(items) == 2
    for i, (name, item) in enumerate(itertools.pairwise(items)):
        if isinstance(name, str) and isinstance(item, str):
            is_named = (name.startswith("-") or (is_pair and is_strong(item))) and is_secret(name, item)
            is_login = is_pair and not is_harmless(item) and family_of(key) is Family.LOGIN
            result[i + 1] = REDACTED if is_named or is_login else item
    return result


def _secret_at(text: str, hit: Hit) -> Span | None:
    span = find_shape(text, hit.start, hit.word) if hit.word in _SHAPES else None
    if span is None and hit.word in _NAMES:
        span = find_named(text, hit.start, hit.word)
    if span is None or span.end <= span.start or is_harmless(text[span.start : span.end]):
        return None
    if span.end - span.start < _LONG_SECRET:
        return span
    run = _SECRET_RUN.match(text, span.end)
    return span if run is None else Span(span.start, run.end())
