"""Where a Python file sets values: fields of classes, arguments of calls, dict entries, flags, assignments."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Literal

from rlclinic.model.lazy_dataclass import dataclass

Kind = Literal["assigned", "field", "argument", "entry", "flag", "parameter"]
# Calls that declare a flag of the command line: argparse's and click's; absl's are DEFINE_float and the like.
FLAG_CALLS = ("add_argument", "option")
ABSL = "DEFINE_"


@dataclass(frozen=True, slots=True)
class Site:
    """One place that gives a name a value."""

    path: tuple[str, ...]
    """The name, after the names of the classes, variables and arguments around it."""
    node: ast.expr
    call: str = ""
    """The function of which this is an argument."""
    kind: Kind = "assigned"

    @property
    def line(self) -> int:
        """1-based."""
        return self.node.lineno


def sites(tree: ast.Module) -> list[Site]:
    """All places, in the order of the text."""
    found = list(_body(tree.body, ()))
    return sorted(found, key=lambda site: (site.node.lineno, site.node.col_offset, -len(site.path)))


def calls(tree: ast.Module, name: str) -> list[ast.Call]:
    """All calls of a function or method of this name."""
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call) and called(node) == name]


def called(node: ast.Call) -> str:
    """The name of the function or method, without what stands before it."""
    if isinstance(node.func, ast.Name):
        return node.func.id
    return node.func.attr if isinstance(node.func, ast.Attribute) else ""


def _body(statements: list[ast.stmt], path: tuple[str, ...]) -> Iterator[Site]:
    for statement in statements:
        yield from _statement(statement, path)


def _statement(node: ast.stmt, path: tuple[str, ...]) -> Iterator[Site]:
    if isinstance(node, ast.ClassDef):
        yield from _body(node.body, (*path, node.name))
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        for decorator in node.decorator_list:
            yield from _expression(decorator, ())
        yield from _defaults(node.args)
        yield from _body(node.body, ())
    elif isinstance(node, ast.Assign) and len(node.targets) == 1:
        yield from _assigned(node.targets[0], node.value, path)
    elif isinstance(node, ast.AnnAssign) and node.value is not None:
        yield from _assigned(node.target, node.value, path)
    else:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.stmt):
                yield from _statement(child, path)
            elif isinstance(child, ast.expr):
                yield from _expression(child, ())
            elif isinstance(child, ast.ExceptHandler | ast.match_case):
                yield from _body(child.body, path)
            elif isinstance(child, ast.withitem):
                yield from _expression(child.context_expr, ())


def _defaults(arguments: ast.arguments) -> Iterator[Site]:
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = zip(positional[len(positional) - len(arguments.defaults) :], arguments.defaults, strict=True)
    for argument, value in (*defaults, *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)):
        if value is not None:
            yield Site((argument.arg,), value, kind="parameter")


def _assigned(target: ast.expr, value: ast.expr, path: tuple[str, ...]) -> Iterator[Site]:
    name = _target(target)
    if not name:
        yield from _expression(value, ())
        return
    default = _field_default(value)
    yield Site((*path, *name), default or value, kind="field" if path else "assigned")
    if default is None:
        yield from _expression(value, (*path, *name))


def _target(node: ast.expr) -> tuple[str, ...]:
    """`a`, `a.b` and `a["b"]` as names."""
    if isinstance(node, ast.Name):
        return (node.id,)
    if isinstance(node, ast.Attribute):
        return (*_target(node.value), node.attr)
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
        return (*_target(node.value), node.slice.value)
    return ()


def _field_default(value: ast.expr) -> ast.expr | None:
    """The default of `dataclasses.field(default=...)`."""
    if isinstance(value, ast.Call) and called(value) == "field":
        return next((keyword.value for keyword in value.keywords if keyword.arg == "default"), None)
    return None


def _expression(node: ast.expr, path: tuple[str, ...]) -> Iterator[Site]:
    if isinstance(node, ast.Call):
        yield from _call(node, path)
    elif isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield Site((*path, key.value), value, kind="entry")
                yield from _expression(value, (*path, key.value))
            else:
                yield from _expression(value, ())
    else:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                yield from _expression(child, ())


def _call(node: ast.Call, path: tuple[str, ...]) -> Iterator[Site]:
    name = called(node)
    if name in FLAG_CALLS or name.startswith(ABSL):
        yield from _flag(node)
        return
    if isinstance(node.func, ast.Attribute):
        yield from _expression(node.func.value, path)
    for positional in node.args:
        yield from _expression(positional, ())
    for keyword in node.keywords:
        if keyword.arg is None:
            yield from _expression(keyword.value, ())
            continue
        yield Site((*path, keyword.arg), keyword.value, name, "argument")
        yield from _expression(keyword.value, (*path, keyword.arg))


def _flag(node: ast.Call) -> Iterator[Site]:
    """`add_argument("--learning-rate", default=...)` sets learning_rate, `DEFINE_float("lr", 3e-4, ...)` lr."""
    names = [arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
    given = {keyword.arg: keyword.value for keyword in node.keywords}
    if called(node).startswith(ABSL):
        if names and len(node.args) > 1:
            yield Site((names[0],), node.args[1], kind="flag")
        return
    flag = next((name for name in names if name.startswith("--")), "")
    own = given.get("dest")
    name = own.value if isinstance(own, ast.Constant) and isinstance(own.value, str) else flag.lstrip("-")
    if name and "default" in given:
        yield Site((name.replace("-", "_"),), given["default"], kind="flag")
