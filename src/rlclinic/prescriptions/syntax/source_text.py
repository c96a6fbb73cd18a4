"""Python source as a tree, and where in the text a node stands."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from contextlib import contextmanager

from rlclinic.prescriptions.syntax.assignment import CannotWrite
from rlclinic.readers.formats import python_source
from rlclinic.readers.formats.errors import FormatError

_LINE_END = re.compile(r"\r\n|\n|\r")


def parse_expression(source: str) -> ast.Expression:
    """The tree of one expression."""
    with _refused():
        return python_source.parse_expression(source)


def parse_module(source: str) -> ast.Module:
    """The tree of a file."""
    with _refused():
        return python_source.parse_module(source)


def node_span(source: str, node: ast.expr) -> tuple[int, int]:
    """Start and end of a node in characters; the parser counts bytes of each line."""
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    starts = [0, *(match.end() for match in _LINE_END.finditer(source))]
    return (
        _offset(source, starts, node.lineno, node.col_offset),
        _offset(source, starts, node.end_lineno, node.end_col_offset),
    )


def dump_without(tree: ast.AST, node: ast.expr) -> str:
    """The tree as text with one of its nodes left out, to show that nothing else differs. The tree is spent."""
    mark = ast.Constant("the value that changes")
    for parent in ast.walk(tree):
        for name, child in ast.iter_fields(parent):
            if child is node:
                setattr(parent, name, mark)
            elif isinstance(child, list):
                child[:] = [mark if item is node else item for item in child]
    return ast.dump(tree)


def _offset(source: str, starts: list[int], line: int, column: int) -> int:
    start = starts[line - 1]
    end = starts[line] if line < len(starts) else len(source)
    return start + len(source[start:end].encode()[:column].decode(errors="ignore"))


@contextmanager
def _refused() -> Iterator[None]:
    try:
        yield
    except FormatError as error:
        raise CannotWrite(str(error)) from None
