"""Keyword arguments of a Python expression in a config, such as `dict(net_arch=[64, 64])`: parsed, never evaluated."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlclinic.readers.formats.errors import FormatError
from rlclinic.readers.formats.python_source import parse_expression

# Characters; the longest that a framework writes, a printed model config of RLlib, has two thousand.
MAX_CHARS = 20_000


def is_expression(value: object) -> bool:
    """Whether a value may be such an expression."""
    return isinstance(value, str) and len(value) <= MAX_CHARS and value.rstrip().endswith((")", "}"))


def arguments(text: str) -> dict[str, object]:
    """The named values of `dict(...)`, `{...}` or `Name(...)`, nested ones joined with dots; none for any other text.

    What is no literal stays its text: `nn.ReLU`.
    """
    if not is_expression(text):
        return {}
    try:
        return dict(_values(parse_expression(text.strip()).body, ""))
    except FormatError:
        return {}


def named_parts(node: ast.expr) -> list[tuple[str | None, ast.expr]] | None:
    """The arguments of a call by keyword or the entries of a dict, None as the name of an unpacked one."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.args:
        return [(keyword.arg, keyword.value) for keyword in node.keywords]
    if isinstance(node, ast.Dict):
        return [(_text(key), value) for key, value in zip(node.keys, node.values, strict=True)]
    return None


def _values(node: ast.expr, prefix: str) -> Iterator[tuple[str, object]]:
    for name, value in named_parts(node) or ():
        if name is None:
            continue
        if named_parts(value):
            yield from _values(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", _literal(value)


def _literal(node: ast.expr) -> object:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError):
        return ast.unparse(node)


def _text(node: ast.expr | None) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
