"""Python text as a tree: parsed within bounds, never compiled, imported or run. Only FormatError is raised."""

from __future__ import annotations

import ast
import warnings

from rlclinic.readers.formats.errors import FormatError

# Characters; training scripts have tens of kilobytes, and the parser's stack is finite.
MAX_SOURCE = 512 << 10
# Levels of nesting; written code stays below thirty, and whoever walks a tree does so on Python's own stack.
MAX_DEPTH = 150
# Nodes of a tree; a script of sixty kilobytes has fifteen thousand, more is data in the form of code.
MAX_NODES = 150_000
# Bits of a whole number: Python reads no longer one in decimal, and prints none that is written in hexadecimal.
MAX_BITS = 14_000


def parse_expression(source: str) -> ast.Expression:
    """The tree of one expression."""
    tree = _parsed(source, "eval")
    assert isinstance(tree, ast.Expression)
    return tree


def parse_module(source: str) -> ast.Module:
    """The tree of a file."""
    tree = _parsed(source, "exec")
    assert isinstance(tree, ast.Module)
    return tree


def _parsed(source: str, mode: str) -> ast.AST:
    if len(source) > MAX_SOURCE:
        raise FormatError(f"{len(source)} characters of Python are more than a script has ({MAX_SOURCE})")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source, mode=mode)
    except SyntaxError as error:
        raise FormatError(f"not Python: line {error.lineno or 1}: {error.msg}") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise FormatError(f"not Python: {error}") from None
    level: list[ast.AST] = [tree]
    nodes = 0
    for _ in range(MAX_DEPTH):
        nodes += len(level)
        if nodes > MAX_NODES:
            raise FormatError(f"more than {MAX_NODES} parts are data, not a script")
        if any(
            isinstance(value := getattr(node, "value", None), int) and value.bit_length() > MAX_BITS for node in level
        ):
            raise FormatError(f"a number of more than {MAX_BITS} bits")
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            return tree
    raise FormatError(f"more than {MAX_DEPTH} levels of nesting")
