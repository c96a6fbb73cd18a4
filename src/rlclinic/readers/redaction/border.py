"""The border of the readers: a Run leaves them without a secret in any of its names and texts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache
from itertools import chain
from operator import attrgetter
from typing import Any, TypeVar, cast

import numpy as np

from rlclinic.readers.redaction.redact import may_hold_secrets, redact, redact_names

T = TypeVar("T")

PLAIN = frozenset({bool, int, float, type(None), np.ndarray})
"""Types that hold no text. An array of a run holds numbers."""


def without_secrets(value: T, known: Collection[str] = ()) -> T:
    """A frozen value with every text in it redacted, `known` secrets included; what holds none is the same object.

    A text is told, a Path is opened: paths stay.
    """
    texts = _texts(value)
    # One look at all of them: hardly any run has a text that could hold one.
    if not known and not may_hold_secrets("\n".join(texts)):
        return value
    found = {text: clean for text in texts if (clean := redact(text, known)) != text}
    return cast(T, _clean(value, found)) if found else value


def _texts(value: object) -> set[str]:
    """Every text in a value. Most hold no secret, and nothing is built anew then."""
    found: set[str] = set()
    pending: list[Any] = [(value,)]
    while pending:
        item = pending.pop()
        kind: type = type(item)
        for part in _parts_of(kind)(item):
            if type(part) is str:
                found.add(part)
            elif type(part) not in PLAIN:
                pending.append(part)
    return found


def _clean(value: Any, known: Mapping[str, str]) -> Any:
    if type(value) in PLAIN:
        return value
    if type(value) is str:  # the members of a StrEnum stay what they are
        return known.get(value, value)
    if isinstance(value, Mapping):
        return _mapping(value, known)
    if isinstance(value, list | tuple):
        items = [_clean(item, known) for item in value]
        same = all(new is old for new, old in zip(items, value, strict=True))
        return value if same else type(value)(items)
    parts = [(name, getattr(value, name)) for name in _fields(value.__class__)]
    changed = {name: clean for name, part in parts if (clean := _clean(part, known)) is not part}
    return replace(value, **changed) if changed else value


@cache
def _fields(kind: type) -> tuple[str, ...]:
    """The fields of a dataclass; none of anything else."""
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else ()


@cache
def _parts_of(kind: type) -> Callable[[Any], Iterable[Any]]:
    """How a value of this type is taken apart."""
    if names := _fields(kind):
        # The first one twice, so that one alone comes as a tuple as well.
        return attrgetter(names[0], *names)
    if issubclass(kind, Mapping):
        return lambda item: chain(item.keys(), item.values())
    return iter if issubclass(kind, list | tuple) else lambda _: ()


def _mapping(value: Mapping[Any, Any], known: Mapping[str, str]) -> Mapping[Any, Any]:
    items = {key: _clean(item, known) for key, item in value.items()}
    if all(items[key] is item for key, item in value.items()) and all(_clean(key, known) == key for key in value):
        return value
    named = [key for key in value if isinstance(key, str)]
    names = dict(zip(named, redact_names(named), strict=True))
    return {names.get(key, key): _renamed(value[key], item, key, names.get(key, key)) for key, item in items.items()}


def _renamed(before: Any, item: Any, key: str, name: str) -> Any:
    """A series or setting that knows the name it is kept under goes by the new one."""
    if key == name or not is_dataclass(before) or isinstance(before, type) or isinstance(item, type):
        return item
    texts = {field.name: text for field in fields(before) if isinstance(text := getattr(before, field.name), str)}
    return replace(item, **{field: name for field, text in texts.items() if text == key})
