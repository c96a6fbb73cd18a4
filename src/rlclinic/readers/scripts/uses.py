"""Which names, flags and fields a script makes use of: what it only declares, prints or records trains nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlclinic.readers.scripts.expressions import PARSERS, UNWRAPPED, Expressions
from rlclinic.readers.scripts.sites import FLAG_CALLS, called

# Calls that write their arguments down: by their own name, and whatever is called on these modules and objects.
SAYING = frozenset({"print", "pprint", "add_text", "add_hparams", "log_hyperparams", "log_params", *FLAG_CALLS})
RECORDERS = frozenset({"wandb", "logging", "logger", "log", "mlflow", "json", "yaml", "trackio", "swanlab"})
# What modules share with the whole program: `flags.FLAGS.lr`, `wandb.config.lr`.
SHARED = frozenset({"FLAGS", "config", "cfg"})
# Calls that read flags into what they are given: what they return is used, or is not.
FLAG_READERS = (*PARSERS, "cli", "parse", "HfArgumentParser", "TrlParser")


class Uses:
    """The uses in one file. `known` says what its variables stand for."""

    def __init__(self, tree: ast.Module, known: Expressions) -> None:
        self._known = known
        self._own = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        self._called = {called(node) for node in ast.walk(tree) if isinstance(node, ast.Call)}
        self.names: set[str] = set()
        """Variables that something reads."""
        self.members: set[str] = set()
        """Attributes and entries that something reads, whatever they are of."""
        self.handed: set[str] = set()
        """Classes and variables that code of another file is given as they are; empty text is for all flags."""
        for node in _working(tree):
            self._add(node)

    def reads(self, name: str, owner: str = "") -> bool:
        """Whether a flag, or a field of a class or dict, is read or handed on with all others."""
        return name in self.members or owner in self.handed

    def _add(self, node: ast.AST) -> None:
        match node:
            case ast.Name(ctx=ast.Load()):
                self.names.add(node.id)
            case ast.Attribute(ctx=ast.Load()) if not self._known.is_imported(node.value) or SHARED & {*_words(node)}:
                self.members.add(node.attr)
            case ast.Subscript(ctx=ast.Load(), slice=ast.Constant(value=str())):
                self.members.add(node.slice.value)  # type: ignore[attr-defined]
            case ast.Call():
                self._call(node)
            case ast.FunctionDef() if node.name not in self._called:
                # What it returns is for another file.
                for item in ast.walk(node):
                    if isinstance(item, ast.Return) and item.value is not None:
                        self._hand(item.value)

    def _call(self, node: ast.Call) -> None:
        name = called(node)
        given = [*node.args, *(item.value for item in node.keywords)]
        if name in ("get", "getattr", "pop"):
            self.members |= {arg.value for arg in given if isinstance(arg, ast.Constant) and isinstance(arg.value, str)}
        elif name not in self._own and name not in FLAG_READERS:
            for item in given:
                self._hand(item)

    def _hand(self, node: ast.expr) -> None:
        if isinstance(node, ast.Name):
            self.handed.add(node.id)
        made = self._known.binding(node)
        if isinstance(made, ast.Call):
            name = called(made)
            first = made.args[0] if made.args else None
            is_class = name in UNWRAPPED and isinstance(first, ast.Name)
            self.handed.add(first.id if is_class else "" if name in PARSERS else name)  # type: ignore[union-attr]


def _working(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those of texts and of calls that write something down; of a method's name only what it is of."""
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Call) and _is_saying(node)):
            continue
        yield node
        for child in ast.iter_child_nodes(node):
            is_method = isinstance(node, ast.Call) and child is node.func and isinstance(child, ast.Attribute)
            pending.append(child.value if is_method else child)  # type: ignore[attr-defined]


def _is_saying(node: ast.Call) -> bool:
    return called(node) in SAYING or not RECORDERS.isdisjoint(_words(node.func)[:-1])


def _words(node: ast.expr) -> list[str]:
    """The parts of a dotted name."""
    words: list[str] = []
    while isinstance(node, ast.Attribute):
        words.append(node.attr)
        node = node.value
    return [*([node.id] if isinstance(node, ast.Name) else []), *reversed(words)]
