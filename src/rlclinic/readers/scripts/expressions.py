"""What an expression of a script is worth, as far as its text tells: constants, arithmetic, flags, dicts.

A name counts where everything that the file binds to it has one value. Whatever depends on more than the text (the
environment, a file, a condition, a schedule) is Open.
"""

from __future__ import annotations

import ast
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping

from rlclinic.model.config import Basis
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.readers.scripts.arithmetic import CONVERSIONS, MAX_LENGTH, OPERATORS, Open
from rlclinic.readers.scripts.sites import Site, called, sites

# Evaluations for one value and for a whole script.
MAX_STEPS = 2_000
MAX_ALL_STEPS = 200_000
MAX_LEVELS = 60
# Calls whose result holds what is given to them: their arguments, or those of the mapping or class in them.
NAMESPACES = ("dict", "SimpleNamespace", "Namespace", "ConfigDict", "EasyDict", "DictConfig", "create", "OmegaConf")
CONFIG_CLASSES = ("Config", "Cfg")
UNWRAPPED = ("vars", "asdict", "to_dict", "to_container", "copy", "deepcopy", "cli", "cast")
PARSERS = ("parse_args", "parse_known_args", "parse_args_into_dataclasses")


@dataclass(frozen=True, slots=True)
class Found:
    """A value, the line that it is written on, and how it is known."""

    value: object
    line: int
    basis: Basis = "script"


@dataclass(frozen=True, slots=True)
class Part:
    """A named part of a mapping; an unpacked one that is not known has no name."""

    name: str
    node: ast.expr
    basis: Basis = "script"


class Expressions:
    """The values of one file. `given` are flags that the command line set, by name."""

    def __init__(self, tree: ast.Module, given: Mapping[str, object]) -> None:
        self.sites = sites(tree)
        self.given = given
        self.flags = {site.path[-1]: site.node for site in self.sites if site.kind == "flag"}
        self._classes: dict[str, dict[str, ast.expr]] = defaultdict(dict)
        self._later: dict[str, dict[str, list[ast.expr]]] = defaultdict(lambda: defaultdict(list))
        self._branched: set[int] = set()
        self._names: dict[str, list[ast.expr]] = defaultdict(list)
        self._stores: Counter[str] = Counter()
        self._parsed: set[str] = set()
        self._returned: dict[str, ast.expr | None] = {}
        self._imported: dict[str, str] = {}
        self._active: list[str] = []
        self._steps = self._all_steps = self._passed = 0
        self._bind(tree)

    def value(self, node: ast.expr) -> Found:
        """The value of an expression; Open where only a run knows it."""
        if self._is_too_much():
            raise Open
        try:
            return self._value(node)
        except (ArithmeticError, ValueError, TypeError, AttributeError, IndexError, KeyError):
            raise Open from None

    def parts(self, node: ast.expr) -> list[Part] | None:
        """The named parts of a dict, a namespace, parsed flags or an object of a config class; None of others."""
        found = None if self._is_too_much() else self._parts(node)
        # Many uses of one large mapping are as much work as many expressions.
        self._all_steps += len(found or ())
        return None if found is None or len(found) > MAX_LENGTH else found

    def _parts(self, node: ast.expr) -> list[Part] | None:
        if isinstance(node, ast.Dict):
            return list(self._dict(node)) if len(node.keys) <= MAX_LENGTH else None
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            left, right = self.parts(node.left), self.parts(node.right)
            return None if left is None or right is None else [*left, *right]
        if isinstance(node, ast.Name):
            return self.named_parts(node.id)
        if isinstance(node, ast.Attribute) and node.attr == "config" and self._names.get("wandb.config"):
            return self.named_parts("wandb.config")
        return self._call_parts(node) if isinstance(node, ast.Call) else None

    def named_parts(self, name: str) -> list[Part] | None:
        """The parts of what a name stands for, with those that the file sets later."""
        if len(self._later.get(name, ())) > MAX_LENGTH:
            return None
        later = [Part(key, self._set_later(nodes)) for key, nodes in self._later.get(name, {}).items()]
        if name == "self" or name in self._classes:
            return [*(Part(key, node) for key, node in self._classes.get(name, {}).items()), *later]
        bound = self._names.get(name, [])
        if len(bound) != 1 or name in self._active or self._stores[name] > 1:
            return None
        self._active.append(name)
        try:
            found = self.parts(bound[0])
        finally:
            self._active.pop()
        return None if found is None else [*found, *later]

    def set_later(self) -> dict[str, ast.expr]:
        """What the file sets an attribute or entry to after its making, by the name of that."""
        found = ((key, nodes) for name, keys in self._later.items() if name != "self" for key, nodes in keys.items())
        return {key: self._set_later(nodes) for key, nodes in found}

    def class_name(self, call: ast.Call) -> str:
        """The name of what is called, where the file gives it another: `ALGO = PPO`, `import PPO as Algo`."""
        node = self.binding(call.func)
        return self._imported.get(node.id, node.id) if isinstance(node, ast.Name) else called(call)

    def binding(self, node: ast.expr) -> ast.expr:
        """What a name stands for where the file binds it once; else the node itself."""
        seen: set[str] = set()
        while isinstance(node, ast.Name) and node.id not in seen and len(self._names[node.id]) == 1:
            seen.add(node.id)
            node = self._names[node.id][0]
        return node

    def is_imported(self, node: ast.expr) -> bool:
        """Whether a dotted name begins with a module or a name out of one."""
        while isinstance(node, ast.Attribute):
            node = node.value
        return isinstance(node, ast.Name) and node.id in self._imported and not self._names[node.id]

    def _is_too_much(self) -> bool:
        self._steps += 1
        self._all_steps += 1
        return self._steps > MAX_STEPS or self._all_steps > MAX_ALL_STEPS or len(self._active) > MAX_LEVELS

    def _bind(self, tree: ast.Module) -> None:
        functions: dict[str, list[ast.FunctionDef]] = defaultdict(list)
        calls: dict[str, list[ast.Call]] = defaultdict(list)
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self._stores[node.id] += 1
            elif isinstance(node, ast.Import | ast.ImportFrom):
                for alias in node.names:
                    self._imported[alias.asname or alias.name.partition(".")[0]] = alias.name
            elif isinstance(node, ast.ClassDef):
                # An object is made by the name of its class.
                made = [item for item in node.body if isinstance(item, ast.FunctionDef) and item.name == "__init__"]
                functions[node.name] += made
            elif isinstance(node, ast.FunctionDef) and node.name != "__init__":
                functions[node.name].append(node)
                returned = [item.value for item in ast.walk(node) if isinstance(item, ast.Return) and item.value]
                self._returned[node.name] = returned[0] if len(returned) == 1 else None
            elif isinstance(node, ast.For | ast.While) or (isinstance(node, ast.If) and not _is_main(node)):
                self._branched.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
            elif isinstance(node, ast.Call):
                calls[called(node)].append(node)
            elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and called(node.value) in PARSERS:
                # `args, rest = parser.parse_known_args()`
                several = [item for target in node.targets if isinstance(target, ast.Tuple) for item in target.elts]
                self._parsed |= {item.id for item in several if isinstance(item, ast.Name)}
        for site in self.sites:
            self._bind_site(site)
        for call in calls["init"]:
            self._names["wandb.config"] += [item.value for item in call.keywords if item.arg == "config"]
        for name, found in functions.items():
            if len(found) == 1:
                self._bind_parameters(found[0].args, calls[name])

    def _bind_site(self, site: Site) -> None:
        if site.kind == "assigned" and len(site.path) == 1:
            self._names[site.path[0]].append(site.node)
        elif site.kind == "assigned":
            self._later[site.path[0]][".".join(site.path[1:])].append(site.node)
        elif site.kind == "field" and len(site.path) == 2:
            self._classes[site.path[0]][site.path[1]] = site.node

    def _set_later(self, nodes: list[ast.expr]) -> ast.expr:
        """What an entry is set to after its making; a condition where that is not sure."""
        node = nodes[-1]
        if len(nodes) == 1 and node.lineno not in self._branched:
            return node
        unknown = ast.copy_location(ast.Name("...", ast.Load()), node)
        return ast.copy_location(ast.IfExp(unknown, node, unknown), node)

    def _bind_parameters(self, arguments: ast.arguments, calls: list[ast.Call]) -> None:
        """A parameter is what the calls in the file pass, and its default where one of them passes nothing."""
        positional = [item for item in (*arguments.posonlyargs, *arguments.args) if item.arg not in ("self", "cls")]
        defaults = dict(zip(reversed(positional), reversed(arguments.defaults), strict=False))
        defaults |= {k: v for k, v in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if v is not None}
        every = (*positional, *arguments.kwonlyargs)
        self._passed += len(every) * len(calls)
        if self._passed > MAX_ALL_STEPS:
            self._stores.update(argument.arg for argument in every)
            return
        for index, argument in enumerate(every):
            passed: list[ast.expr | None] = []
            for call in calls:
                by_name = next((item.value for item in call.keywords if item.arg == argument.arg), None)
                by_place = call.args[index] if index < min(len(call.args), len(positional)) else None
                passed.append(by_name or by_place)
            nodes = [*(node for node in passed if node is not None)]
            if argument in defaults and (not calls or None in passed):
                nodes.append(defaults[argument])
            self._names[argument.arg] += nodes
            # A parameter that nothing is known of must not pass for a name of the module.
            self._stores[argument.arg] += len(nodes) if nodes else 1

    def _value(self, node: ast.expr) -> Found:
        match node:
            case ast.Constant(value=str(text)) if len(text) > MAX_LENGTH:
                raise Open
            case ast.Constant(value=bool() | int() | float() | str() | None):
                return Found(node.value, node.lineno)
            case ast.Name():
                return self._name(node)
            case ast.Attribute() | ast.Subscript():
                return self._member(node)
            case ast.UnaryOp():
                return self._computed(node, OPERATORS[type(node.op)], [node.operand])
            case ast.BinOp():
                return self._computed(node, OPERATORS[type(node.op)], [node.left, node.right])
            case ast.List() | ast.Tuple() if len(node.elts) <= MAX_LENGTH:
                return self._computed(node, lambda *items: list(items), node.elts)
            case ast.JoinedStr():
                return self._computed(node, lambda *texts: "".join(map(str, texts)), node.values)
            case ast.FormattedValue(format_spec=None):
                return self.value(node.value)
            case ast.Call() if isinstance(node.func, ast.Name) and node.func.id in CONVERSIONS and not node.keywords:
                return self._computed(node, CONVERSIONS[node.func.id], node.args)
            case ast.Call(func=ast.Attribute(attr="join")) if self.is_imported(node.func) and not node.keywords:
                return self._computed(node, lambda *texts: "/".join(texts), node.args)
            case ast.Call(func=ast.Attribute(value=of, attr="get"), args=[key, *rest]) if self.parts(of) is not None:
                return self._member(ast.copy_location(ast.Subscript(of, key), node), *rest[:1])
        parts = self.parts(node)
        if parts is None or any(not part.name for part in parts):
            raise Open
        values = {part.name: self.value(part.node) for part in parts}
        return Found({name: found.value for name, found in values.items()}, node.lineno, _weakest(values.values()))

    def _computed(self, node: ast.expr, function: Callable[..., object], nodes: list[ast.expr]) -> Found:
        found = [self.value(part) for part in nodes]
        value = function(*(item.value for item in found))
        if isinstance(value, str | list | tuple) and len(value) > MAX_LENGTH:
            raise Open
        if isinstance(value, complex) or (isinstance(value, float) and not math.isfinite(value)):
            raise Open
        return Found(value, node.lineno, _weakest(found))

    def _name(self, node: ast.Name) -> Found:
        name = node.id
        if self.is_imported(node):
            return Found(name, node.lineno)
        if not self._names[name] and name in self.flags:
            # click passes a flag as the parameter of its name.
            return self._flag(name)
        if self._stores[name] > len(self._names[name]):
            # A loop, a `with`, an unpacking or an addition binds it too.
            raise Open
        values = []
        for bound in self._names[name]:
            key = f"{name}:{id(bound)}"
            if key not in self._active and not (isinstance(bound, ast.Name) and bound.id == name):
                values.append(self._guarded(key, bound))
        if not values or any(repr(item.value) != repr(values[0].value) for item in values):
            raise Open
        return values[0]

    def _guarded(self, key: str, node: ast.expr) -> Found:
        """The value of what is bound; one that is made from itself is open."""
        if key in self._active:
            raise Open
        self._active.append(key)
        try:
            return self.value(node)
        finally:
            self._active.pop()

    def _member(self, node: ast.Attribute | ast.Subscript, otherwise: ast.expr | None = None) -> Found:
        """`args.lr`, `config["lr"]`, `nn.ReLU`; what it is otherwise, where it is a part that is not there."""
        if isinstance(node, ast.Attribute):
            name = node.attr
            if self.is_imported(node) and self.parts(node.value) is None:
                root = ast.unparse(node)
                if root.startswith(("os.environ", "sys.")):
                    raise Open
                return self._flag(name) if name in self.flags and root == f"FLAGS.{name}" else Found(root, node.lineno)
        else:
            key = self.value(node.slice).value
            if isinstance(key, int):
                return Found(self.value(node.value).value[key], node.lineno)  # type: ignore[index]
            name = str(key)
        if isinstance(node.value, ast.Name) and node.value.id == "FLAGS" and name in self.flags:
            return self._flag(name)
        parts = self.parts(node.value) or []
        if isinstance(node.value, ast.Name) and node.value.id in self._parsed:
            # Of several namespaces at once it is not known which is whose.
            every = (*self._classes.values(), self.flags)
            parts = [Part(key, fields[key], "flag default") for fields in every for key in (name,) if key in fields]
            self._all_steps += len(every)
        found = [part for part in parts if part.name == name]
        if found:
            return self.of_part(found[-1])
        if otherwise is None or not all(part.name for part in parts):
            raise Open
        return self.value(otherwise)

    def of_part(self, part: Part) -> Found:
        """The value of a part of a mapping; a flag's is what the command line gave."""
        if not self._active:
            self._steps = 0
        if part.basis == "flag default" and part.name in self.given:
            return Found(self.given[part.name], part.node.lineno)
        found = self._guarded(f"part:{id(part.node)}", part.node)
        return Found(found.value, found.line, _weakest([found, Found(None, 0, part.basis)]))

    def _flag(self, name: str) -> Found:
        return self.of_part(Part(name, self.flags[name], "flag default"))

    def _dict(self, node: ast.Dict) -> Iterator[Part]:
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                yield from self.parts(value) or [Part("", value)]
            elif isinstance(key, ast.Constant):
                yield Part(str(key.value), value)

    def _call_parts(self, node: ast.Call) -> list[Part] | None:
        name = called(node)
        if name in PARSERS:
            return [Part(flag, value, "flag default") for flag, value in self.flags.items()]
        if name in self._classes or (name in UNWRAPPED and node.args and isinstance(node.args[0], ast.Name)):
            kind = name if name in self._classes else node.args[0].id  # type: ignore[attr-defined]
            if kind in self._classes:
                is_parsed = name not in self._classes
                basis: Basis = "flag default" if is_parsed else "script"
                given = [Part(item.arg or "", item.value) for item in node.keywords if not is_parsed]
                return [*(Part(key, value, basis) for key, value in self._classes[kind].items()), *given]
        if name in UNWRAPPED:
            inner = node.args[0] if node.args else node.func.value if isinstance(node.func, ast.Attribute) else None
            return None if inner is None else self.parts(inner)
        returned = self._returned.get(name)
        if returned is not None and name not in self._active:
            self._active.append(name)
            try:
                return self.parts(returned)
            finally:
                self._active.pop()
        if name not in NAMESPACES and not name.endswith(CONFIG_CLASSES):
            return None
        parts = [part for item in node.args for part in self.parts(item) or [Part("", item)]]
        for item in node.keywords:
            parts += [Part(item.arg, item.value)] if item.arg else self.parts(item.value) or [Part("", item.value)]
        return parts


def _is_main(node: ast.If) -> bool:
    """`if __name__ == "__main__":` is no condition for a script that is run."""
    test = node.test
    return isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == "__name__"


def _weakest(found: object) -> Basis:
    bases = {item.basis for item in found}  # type: ignore[attr-defined]
    return "flag default" if "flag default" in bases else "script"
