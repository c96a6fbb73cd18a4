"""Python source as a tree, and where in the text a node stands."""

from __future__ import annotations

import ast
import re
import warnings

from rlclinic.prescriptions.syntax.assignment import CannotWrite

# Characters; training scripts have tens of kilobytes, and the parser's stack is finite.
MAX_SOURCE = 1 << 20

_LINE_END = re.compile(r"\r\n|\n|\r")


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


def node_span(source: str, node: ast.expr) -> tuple[int, int]:
    """Start and end of a node in characters; the parser counts bytes of each line."""
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    starts = [0, *(match.end() for match in _LINE_END.finditer(source))]
    return (
        _offset(source, starts, node.lineno, node.col_offset),
        _offset(source, starts, node.end_lineno, node.end_col_offset),
    )


def _offset(source: str, starts: list[int], line: int, column: int) -> int:
    start = starts[line - 1]
    end = starts[line] if line < len(starts) else len(source)
    return start + len(source[start:end].encode()[:column].decode(errors="ignore"))


def _parsed(source: str, mode: str) -> ast.AST:
    if len(source) > MAX_SOURCE:
        raise CannotWrite(f"{len(source)} characters of Python are more than a config has")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source, mode=mode)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise CannotWrite(f"not Python: {error}") from None
