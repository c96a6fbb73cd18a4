"""One argument of a Python expression such as `dict(net_arch=[64, 64], log_std_init=-2)`, changed or added in place.

The expression is parsed, never evaluated; everything but the argument stays as it was written.
"""

from __future__ import annotations

import ast

from rlclinic.prescriptions.syntax.assignment import CannotWrite
from rlclinic.prescriptions.syntax.source_text import dump_without, node_span, parse_expression
from rlclinic.prescriptions.syntax.spelling import python_text
from rlclinic.readers.configs.arguments import named_parts


def edit_expression(source: str, path: tuple[str, ...], after: object) -> str:
    """The expression with the argument at the path set; CannotWrite where that cannot be done surely."""
    tree = parse_expression(source)
    node, rest = _reached(tree.body, path)
    if not rest:
        start, end = node_span(source, node)
        edited = source[:start] + python_text(after) + source[end:]
        other = parse_expression(edited)
        same = dump_without(tree, node) == dump_without(other, _reached(other.body, path)[0])
    else:
        for name in reversed(rest[1:]):
            after = {name: after}
        edited = _inserted(source, node, rest[0], after)
        same = ast.dump(tree) == _without_last(edited, path[: -len(rest)])
    if not same:
        raise CannotWrite("the change would touch other parts of the expression")
    return edited


def single_quoted(source: str) -> str:
    """The expression with single quotes only, so that it can stand between double ones."""
    if '"' not in source:
        return source
    changed = source.replace('"', "'")
    if ast.dump(parse_expression(changed)) != ast.dump(parse_expression(source)):
        raise CannotWrite("the expression needs both kinds of quotes, so it cannot be quoted")
    return changed


def expression_value(source: str, path: tuple[str, ...]) -> tuple[bool, object]:
    """Whether the argument is there, and its value if it is a literal (else its text)."""
    node, rest = _reached(parse_expression(source).body, path)
    if rest:
        return False, None
    try:
        return True, ast.literal_eval(node)
    except ValueError:
        start, end = node_span(source, node)
        return True, source[start:end]


def _entries(node: ast.expr) -> dict[str, ast.expr]:
    """The named parts of `dict(...)` or `{...}`."""
    is_dict = not isinstance(node, ast.Call) or (isinstance(node.func, ast.Name) and node.func.id == "dict")
    found = named_parts(node) if is_dict else None
    if found is None:
        raise CannotWrite("the expression is neither dict(...) nor {...}")
    names = [name for name, _ in found]
    if None in names or len(set(names)) != len(names):
        raise CannotWrite("the expression unpacks or repeats arguments, so what one of them does is not sure")
    return {str(name): value for name, value in found}


def _reached(node: ast.expr, path: tuple[str, ...]) -> tuple[ast.expr, tuple[str, ...]]:
    """The part of the expression to which a path leads, and the rest of the path that is not there."""
    for depth, name in enumerate(path):
        entries = _entries(node)
        if name not in entries:
            return node, path[depth:]
        node = entries[name]
    return node, ()


def _inserted(source: str, node: ast.expr, name: str, value: object) -> str:
    entries = list(_entries(node).values())
    end = node_span(source, node)[1]
    pair = f"{name}={python_text(value)}" if isinstance(node, ast.Call) else f"'{name}': {python_text(value)}"
    if entries:
        last = node_span(source, entries[-1])[1]
        return f"{source[:last]}, {pair}{source[last:]}"
    return f"{source[: end - 1]}{pair}{source[end - 1 :]}"


def _without_last(source: str, path: tuple[str, ...]) -> str:
    """The tree without the last argument of the part at the path."""
    tree = parse_expression(source)
    node, _ = _reached(tree.body, path)
    if isinstance(node, ast.Call):
        node.keywords.pop()
    elif isinstance(node, ast.Dict):
        node.keys.pop()
        node.values.pop()
    return ast.dump(tree)
