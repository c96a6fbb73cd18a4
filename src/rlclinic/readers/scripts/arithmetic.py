"""Arithmetic with values of a script, bounded: what would take long or fill the memory is Open."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

# The longest list or text: settings are small.
MAX_LENGTH = 1_000
# Bits of an integer power: 2**14 is a setting, 9**9**9 an attack.
MAX_BITS = 256
# A text that is filled in with %, without a width.
_PLAIN_FORMAT = re.compile(r"(?:[^%]|%[sdf%])*")


class Open(Exception):  # noqa: N818 - reads as what it is
    """Only a running script knows."""


def _power(base: float, exponent: float) -> object:
    if isinstance(base, int) and abs(exponent) * base.bit_length() > MAX_BITS:
        raise Open
    return base**exponent


def _times(left: object, right: object) -> object:
    for one, other in ((left, right), (right, left)):
        if isinstance(one, str | list) and (not isinstance(other, int) or len(one) * other > MAX_LENGTH):
            raise Open
    return left * right  # type: ignore[operator]


def _rounded(value: float, digits: int | None = None) -> object:
    if digits is not None and abs(digits) > MAX_BITS:
        raise Open
    return round(value, digits)


def _remainder(left: Any, right: Any) -> object:
    """`"%999999999d" % 1` is a text of a gigabyte."""
    if isinstance(left, str) and not _PLAIN_FORMAT.fullmatch(left):
        raise Open
    return left % right


OPERATORS: Mapping[type, Callable[..., object]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: _times, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: _remainder, ast.Pow: _power,
    ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Not: operator.not_,
}  # fmt: skip
CONVERSIONS: Mapping[str, Callable[..., object]] = {
    "int": int, "float": float, "str": str, "bool": bool, "abs": abs, "round": _rounded, "min": min, "max": max,
    "list": list, "tuple": tuple, "Path": str,
}  # fmt: skip
