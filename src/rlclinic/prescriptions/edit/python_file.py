"""One literal of a Python file replaced in place, or one argument added; the rest of the tree stays the same."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from rlclinic.prescriptions.edit.edits import MISSING, Edit, Refused, agrees, check_before, fitted, same
from rlclinic.prescriptions.syntax.assignment import CannotWrite, Code
from rlclinic.prescriptions.syntax.source_text import dump_without, node_span, parse_module
from rlclinic.prescriptions.syntax.spelling import python_text
from rlclinic.readers.scripts.sites import Site, calls, sites

BOM = "\ufeff"


def edit_python(text: str, edits: Sequence[Edit], calls_of: Sequence[str]) -> str:
    """The source with every edit made. `calls_of` names, edit by edit, the call whose argument is meant, if any."""
    mark = BOM if text.startswith(BOM) else ""
    source = text.removeprefix(BOM)
    for edit, call in zip(edits, calls_of, strict=True):
        try:
            source = _one(source, edit, call)
        except CannotWrite as error:
            raise Refused(error.message, hint=error.hint) from None
    return mark + source


def _one(source: str, edit: Edit, call: str) -> str:
    if isinstance(edit.after, Code):
        raise Refused(f"{edit.name} needs code, not a value: {edit.after}", hint="make the change by hand")
    tree = parse_module(source)
    named = [site for site in sites(tree) if site.path[-len(edit.path) :] == edit.path]
    in_call = [site for site in named if call and site.call == call]
    named = in_call or named or _by_another_name(tree, edit)
    literal = [site for site in named if _literal(site.node) is not MISSING]
    if not named:
        return _inserted(source, tree, edit, call)
    if not literal:
        literal = [_followed(tree, named[0], edit)]
    if len(literal) > 1:
        lines = ", ".join(str(site.line) for site in literal)
        raise Refused(f"{edit.name} is set in {len(literal)} places (lines {lines}), so it is not sure which counts")
    return _replaced(source, literal[0], edit)


def _by_another_name(tree: ast.Module, edit: Edit) -> list[Site]:
    """Places that set the same under a name of the script's own: `LR = 0.05`, a flag `--lr`."""
    found = [site for site in sites(tree) if site.path[-1].lower() in edit.also and _literal(site.node) is not MISSING]
    return [site for site in found if edit.before is MISSING or agrees(_literal(site.node), edit.before)]


def _followed(tree: ast.Module, site: Site, edit: Edit) -> Site:
    """The one literal behind a name such as `LR`, `args.lr` or `config["lr"]`, which nothing else uses."""
    written = f"line {site.line}: {edit.name} is `{ast.unparse(site.node)}`"
    name = _last_name(site.node)
    if not name:
        raise Refused(f"{written}, computed and not written as a value", hint="make the change by hand there")
    found = [item for item in sites(tree) if item.path[-1] == name and _literal(item.node) is not MISSING]
    if len(found) != 1:
        where = f"set in {len(found)} places" if found else "not set to a value in this file"
        raise Refused(f"{written}, which is {where}", hint="make the change by hand there")
    uses = [node for node in ast.walk(tree) if _last_name(node) == name and isinstance(node.ctx, ast.Load)]  # type: ignore[attr-defined]
    if len(uses) > 1:
        lines = ", ".join(str(line) for line in sorted({node.lineno for node in uses}))  # type: ignore[attr-defined]
        raise Refused(f"{written}, set in line {found[0].line} and used in lines {lines}: changing it changes them all")
    return found[0]


def _last_name(node: ast.AST) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
        return node.slice.value
    return ""


def _replaced(source: str, site: Site, edit: Edit) -> str:
    found = _literal(site.node)
    check_before(edit, found, place=f"line {site.line}: ")
    after = fitted(found, edit.after)
    if same(found, after):
        return source
    start, end = node_span(source, site.node)
    edited = source[:start] + python_text(after) + source[end:]
    index = _index(parse_module(source), start, source)
    before_tree, value_before = _masked(source, index)
    after_tree, value_after = _masked(edited, index)
    if before_tree != after_tree or not same(_plain(value_after), _plain(after)) or value_before is MISSING:
        raise Refused(f"line {site.line}: the edit would change more than {edit.name}")
    return edited


def _inserted(source: str, tree: ast.Module, edit: Edit, call: str) -> str:
    found = calls(tree, call) if call else []
    if len(found) != 1 or len(edit.path) != 1:
        raise Refused(f"{edit.name} is not set in this file, and there is no one place to add it")
    node = found[0]
    if edit.was_set:
        raise Refused(
            f"line {node.lineno}: {call} does not set {edit.name}, but the run had {edit.before!r}, no default",
            hint="name the file that the run was made with, or make the change by hand",
        )
    if any(keyword.arg is None for keyword in node.keywords) or any(isinstance(a, ast.Starred) for a in node.args):
        raise Refused(f"line {node.lineno}: {call} unpacks arguments, so {edit.name} may be among them")
    parts = [*node.args, *(keyword.value for keyword in node.keywords)]
    option = f"{edit.path[0]}={python_text(edit.after)}"
    if parts:
        end = max(node_span(source, part)[1] for part in parts)
        # A bare generator is written without parentheses of its own; another argument would break it.
        edited = f"{source[:end]}, {option}{source[end:]}"
    else:
        end = node_span(source, node)[1] - 1
        edited = f"{source[:end]}{option}{source[end:]}"
    new = parse_module(edited)
    added = calls(new, call)
    if len(added) != 1 or not added[0].keywords or added[0].keywords[-1].arg != edit.path[0]:
        raise Refused(f"line {node.lineno}: {edit.name} cannot be added to {call} surely")
    value = added[0].keywords.pop().value
    if ast.dump(new) != ast.dump(tree) or not same(_plain(_literal(value)), _plain(edit.after)):
        raise Refused(f"line {node.lineno}: adding {edit.name} would change more than that")
    return edited


def _masked(source: str, index: int) -> tuple[str, object]:
    """The dump of the tree without one value, and that value."""
    tree = parse_module(source)
    node = sites(tree)[index].node
    value = _literal(node)
    return dump_without(tree, node), value


def _index(tree: ast.Module, start: int, source: str) -> int:
    return next(index for index, site in enumerate(sites(tree)) if node_span(source, site.node)[0] == start)


def _literal(node: ast.expr) -> object:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return MISSING


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value
