"""YAML scalars as PyYAML's SafeLoader reads them: `1e-3` is text, `1.0e-3` a number, `on` is true."""

from __future__ import annotations

from collections.abc import Callable

import yaml

from rlclinic.model.numbers import whole

PREFIX = "tag:yaml.org,2002:"
MERGE = PREFIX + "merge"
_PYTHON = PREFIX + "python/"

_RESOLVER = yaml.resolver.Resolver()
_CONSTRUCTOR = yaml.constructor.SafeConstructor()


def _none(_: str) -> object:
    return None


def _bool(text: str) -> object:
    return _CONSTRUCTOR.bool_values[text.lower()]


def _int(text: str) -> object:
    return whole(_CONSTRUCTOR.construct_yaml_int(yaml.ScalarNode(PREFIX + "int", text)))


def _float(text: str) -> object:
    return _CONSTRUCTOR.construct_yaml_float(yaml.ScalarNode(PREFIX + "float", text))


def _text(text: str) -> object:
    return text


# Dates stay text: a config value is plain data, and no reader computes with them.
_READERS: dict[str, Callable[[str], object]] = {
    PREFIX + "null": _none,
    PREFIX + "bool": _bool,
    PREFIX + "int": _int,
    PREFIX + "float": _float,
    PREFIX + "str": _text,
    PREFIX + "timestamp": _text,
    PREFIX + "binary": _text,
    PREFIX + "value": _text,
    MERGE: _text,
    _PYTHON + "none": _none,
    _PYTHON + "bool": _bool,
    _PYTHON + "int": _int,
    _PYTHON + "long": _int,
    _PYTHON + "float": _float,
    _PYTHON + "str": _text,
    _PYTHON + "unicode": _text,
    _PYTHON + "bytes": _text,
    _PYTHON + "complex": _text,
    "!": _text,
}


def resolve(text: str, tag: str | None, *, is_plain: bool) -> str:
    """The tag that PyYAML would give to a scalar; an explicit one stays."""
    if tag is not None and tag != "!":
        return tag
    implicit = (is_plain and tag is None, False)
    return str(_RESOLVER.resolve(yaml.ScalarNode, text, implicit))  # type: ignore[no-untyped-call]


def is_known(tag: str) -> bool:
    """Whether a tag says how to read a scalar."""
    return tag in _READERS


def read_scalar(text: str, tag: str) -> object:
    """The value; the text itself where it is not what its tag promises (`!!int abc`, `0x_`)."""
    try:
        return _READERS[tag](text)
    except (ValueError, KeyError, IndexError, OverflowError):
        return text
