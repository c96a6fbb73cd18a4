"""One argument of a Python expression such as `dict(net_arch=[64, 64], log_std_init=-2)`, changed or added in place.

The expression is parsed, never evaluated; everything but the argument stays as it was written.
"""

from __future__ import annotations

import ast

from rlclinic.prescriptions.syntax.assignment import CannotWrite
from rlclinic.prescriptions.syntax.source_text import node_span, parse_expression
from rlclinic.prescriptions.syntax.spelling import python_text
from rlclinic.readers.configs.arguments import named_parts

_MARK = "the value that changes"


def edit_expression(source: str, path: tuple[str, ...], after: object) -> str:
    """The expression with the argument at the path set; CannotWrite where that cannot be done surely."""
    tree = parse_expression(source)
    node: ast.expr = tree.body
    for depth, name in enumerate(path):
        entries = _entries(node)
        if name not in entries:
            edited = _inserted(source, node, name, _wrapped(path[depth + 1 :], after))
            _prove_inserted(source, edited, path[:depth], name)
            return edited
        node = entries[name]
    start, end = node_span(source, node)
    edited = source[:start] + python_text(after) + source[end:]
    _prove_replaced(source, edited, path)
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
    node: ast.expr = parse_expression(source).body
    for name in path:
        entries = _entries(node)
        if name not in entries:
            return False, None
        node = entries[name]
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


def _wrapped(path: tuple[str, ...], after: object) -> object:
    for name in reversed(path):
        after = {name: after}
    return after


def _inserted(source: str, node: ast.expr, name: str, value: object) -> str:
    entries = list(_entries(node).values())
    end = node_span(source, node)[1]
    pair = f"{name}={python_text(value)}" if isinstance(node, ast.Call) else f"'{name}': {python_text(value)}"
    if entries:
        last = node_span(source, entries[-1])[1]
        return f"{source[:last]}, {pair}{source[last:]}"
    return f"{source[: end - 1]}{pair}{source[end - 1 :]}"


def _prove_replaced(source: str, edited: str, path: tuple[str, ...]) -> None:
    if _without(source, path) != _without(edited, path):
        raise CannotWrite("the change would touch other parts of the expression")


def _prove_inserted(source: str, edited: str, path: tuple[str, ...], name: str) -> None:
    if ast.dump(parse_expression(source)) != _without(edited, path, name):
        raise CannotWrite("the new argument would touch other parts of the expression")


def _without(source: str, path: tuple[str, ...], dropped: str = "") -> str:
    """The tree with the value at the path masked, or with one argument left out."""
    tree = parse_expression(source)
    if not path and not dropped:
        return _MARK
    node: ast.expr = tree.body
    for name in path if dropped else path[:-1]:
        node = _entries(node)[name]
    target = dropped or path[-1]
    if isinstance(node, ast.Call):
        for keyword in list(node.keywords):
            if keyword.arg == target and dropped:
                node.keywords.remove(keyword)
            elif keyword.arg == target:
                keyword.value = ast.Constant(_MARK)
    elif isinstance(node, ast.Dict):
        index = list(_entries(node)).index(target)
        if dropped:
            del node.keys[index], node.values[index]
        else:
            node.values[index] = ast.Constant(_MARK)
    return ast.dump(tree)
