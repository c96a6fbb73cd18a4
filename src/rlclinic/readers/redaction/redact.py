"""Removes secrets from text and config values before they leave a reader.

What a secret looks like is known elsewhere: `shapes` (it has a telling form of its own) and
`names` (the name before it tells). Here is the scan that asks both. Line breaks are kept, so that line
numbers stay true.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterable, Iterator

from rlclinic.readers.redaction.literal_scan import Hit, LiteralScan
from rlclinic.readers.redaction.names import find_named, is_secret
from rlclinic.readers.redaction.shapes import SHAPE_TRIGGERS, Span, find_shape
from rlclinic.readers.redaction.values import is_harmless, is_strong
from rlclinic.readers.redaction.words import NAME_TRIGGERS, Family, family_of

REDACTED = "[redacted]"

# Configs nest a handful of levels; below this a value is dropped rather than walked.
_MAX_DEPTH = 100

# The shape and name patterns look at no more than this many characters; a longer secret is followed to its end.
_LONG_SECRET = 512

# Characters of a secret that is looked for inside other values; a shorter one may be part of a word.
_TELLING = 6

_SHAPES = frozenset(SHAPE_TRIGGERS)
_NAMES = frozenset(NAME_TRIGGERS)
_TRIGGERS = LiteralScan([*SHAPE_TRIGGERS, *NAME_TRIGGERS])
_SECRET_RUN = re.compile(r"(?!-----)[A-Za-z0-9_\-+/=.~%]*")
# W&B stores `api_key: {desc: null, value: …}`: the inner name says nothing.
_WRAPPERS = frozenset({"value", "default", "current"})


def redact(text: str) -> str:
    """The text with every secret replaced by `[redacted]`; all else stays as it is."""
    kept: list[str] = []
    done = 0
    for span in _secrets(text):
        kept += (text[done : span.start], REDACTED, "\n" * text.count("\n", span.start, span.end))
        done = span.end
    return "".join([*kept, text[done:]]) if kept else text


def secrets_in(text: str) -> frozenset[str]:
    """What `redact` takes out of the text."""
    return frozenset(text[span.start : span.end] for span in _secrets(text))


def redact_value(key: str, value: object, known: Collection[str] = ()) -> object:
    """The config value kept under `key` without secrets; dicts and lists are copied and searched as well.

    `known` are secrets of the text that the value was read from: what a whole line gives away, its value alone may not.
    """
    return _redacted(key, value, known, 0)


def redact_names(names: Iterable[str]) -> list[str]:
    """The names without secrets; those that would then be the same are numbered, so that none replaces another."""
    seen: dict[str, int] = {}
    result: list[str] = []
    for name in names:
        clean = redact(name)
        count = seen[clean] = seen.get(clean, 0) + 1
        result.append(clean if count == 1 else f"{clean} ({count})")
    return result


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
        names = redact_names(str(k) for k in value)
        items = zip(names, value.items(), strict=True)
        return {
            name if isinstance(k, str) else k: _redacted(_child_key(key, k), v, known, depth + 1)
            for name, (k, v) in items
        }
    if isinstance(value, list | tuple):
        items_left = [_redacted(key, v, known, depth + 1) for v in _without_named(key, list(value))]
        return items_left if isinstance(value, list) else tuple(items_left)
    if isinstance(value, int) and not isinstance(value, bool) and family_of(key) is Family.PASSWORD:
        return REDACTED if is_secret(key, str(value)) else value
    return value


def _child_key(key: str, child: object) -> str:
    name = str(child)
    return key if name.lower() in _WRAPPERS else f"{key}.{name}" if key else name


def _without_named(key: str, items: list[object]) -> list[object]:
    """In a list of arguments a flag names the item behind it: `["--api-key", "…"]`; in a pair the first the second."""
    result = list(items)
    is_pair = len(items) == 2
    for i, (name, item) in enumerate(itertools.pairwise(items)):
        if not isinstance(name, str) or not isinstance(item, str):
            continue
        named = name.startswith("-") or (is_pair and is_strong(item))
        is_login = is_pair and not is_harmless(item) and family_of(key) is Family.LOGIN
        if (named and is_secret(name, item)) or is_login:
            result[i + 1] = REDACTED
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
