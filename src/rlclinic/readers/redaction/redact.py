"""Removes secrets from text and config values before they leave a reader.

What a secret looks like is known elsewhere: `secret_shapes` (it has a telling form of its own) and
`secret_names` (the name before it tells). Here is the scan that asks both. Line breaks are kept, so that line
numbers stay true.
"""

from __future__ import annotations

import itertools
import re

from rlclinic.readers.redaction.literal_scan import Hit, LiteralScan
from rlclinic.readers.redaction.names import find_named, is_secret
from rlclinic.readers.redaction.shapes import SHAPE_TRIGGERS, Span, find_shape
from rlclinic.readers.redaction.values import is_harmless
from rlclinic.readers.redaction.words import NAME_TRIGGERS, Family, family_of

REDACTED = "[redacted]"

# Configs nest a handful of levels; below this a value is dropped rather than walked.
_MAX_DEPTH = 100

# The shape and name patterns look at no more than this many characters; a longer secret is followed to its end.
_LONG_SECRET = 512

_SHAPES = frozenset(SHAPE_TRIGGERS)
_TRIGGERS = LiteralScan([*SHAPE_TRIGGERS, *NAME_TRIGGERS])
_SECRET_RUN = re.compile(r"(?!-----)[A-Za-z0-9_\-+/=.~%]*")
# W&B stores `api_key: {desc: null, value: …}`: the inner name says nothing.
_WRAPPERS = frozenset({"value", "default", "current"})


def redact(text: str) -> str:
    """The text with every secret replaced by `[redacted]`; all else stays as it is."""
    kept: list[str] = []
    done = 0
    hit = _TRIGGERS.search(text)
    while hit is not None:
        span = _secret_at(text, hit) if hit.start >= done else None
        if span is not None and span.start >= done:
            kept += (text[done : span.start], REDACTED, "\n" * text.count("\n", span.start, span.end))
            done = span.end
        hit = _TRIGGERS.search(text, max(hit.end, done))
    if not kept:
        return text
    return "".join([*kept, text[done:]])


def redact_value(key: str, value: object) -> object:
    """The config value kept under `key` without secrets; dicts and lists are copied and searched as well."""
    return _redacted(key, value, 0)


def _redacted(key: str, value: object, depth: int) -> object:
    if depth > _MAX_DEPTH:
        return REDACTED
    if isinstance(value, str):
        return REDACTED if is_secret(key, value) else redact(value)
    if isinstance(value, dict):
        return {
            redact(k) if isinstance(k, str) else k: _redacted(_child_key(key, k), v, depth + 1)
            for k, v in value.items()
        }
    if isinstance(value, list):
        return [_redacted(key, v, depth + 1) for v in _without_flag_values(value)]
    if isinstance(value, tuple):
        return tuple(_redacted(key, v, depth + 1) for v in _without_flag_values(list(value)))
    if isinstance(value, int) and not isinstance(value, bool) and family_of(key) is Family.PASSWORD:
        return REDACTED if is_secret(key, str(value)) else value
    return value


def _child_key(key: str, child: object) -> str:
    name = child if isinstance(child, str) else ""
    return key if name.lower() in _WRAPPERS else name


def _without_flag_values(items: list[object]) -> list[object]:
    """`["--api-key", "…"]`: in a list of arguments the flag names the item behind it."""
    result = list(items)
    for i, (flag, item) in enumerate(itertools.pairwise(items)):
        if isinstance(flag, str) and isinstance(item, str) and flag.startswith("-") and is_secret(flag, item):
            result[i + 1] = REDACTED
    return result


def _secret_at(text: str, hit: Hit) -> Span | None:
    finder = find_shape if hit.word in _SHAPES else find_named
    span = finder(text, hit.start, hit.word)
    if span is None or span.end <= span.start or is_harmless(text[span.start : span.end]):
        return None
    if span.end - span.start < _LONG_SECRET:
        return span
    run = _SECRET_RUN.match(text, span.end)
    return span if run is None else Span(span.start, run.end())
