"""A Python training script: arguments of trainers and of the calls around them, flags, config classes, constants."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import PurePath

from rlclinic.model.config import Basis
from rlclinic.readers.configs.normalise import UNPACKED, meaning
from rlclinic.readers.identify import Tables
from rlclinic.readers.scripts.arithmetic import MAX_LENGTH, Open
from rlclinic.readers.scripts.expressions import Expressions, Found, Part
from rlclinic.readers.scripts.script import Rank, Script, ScriptValue
from rlclinic.readers.scripts.sites import called
from rlclinic.readers.scripts.uses import Uses
from rlclinic.reference.algorithms import algorithm_in, algorithm_of_class
from rlclinic.reference.framework import CallNames, framework_of_modules

# Values of one script; the largest training scripts have about two hundred.
MAX_VALUES = 2_000
# Hyperparameters without a known trainer from which on a script trains by itself.
FEW = 3
# Home-made trainers are called so.
TRAINERS = ("Agent", "Trainer", "Learner")
# Classes and variables that hold a config by their name.
CONFIG_WORDS = ("config", "cfg", "args", "argument", "param", "hyper", "settings", "options")
LOG_KEYS = frozenset(
    {
        "tensorboard_log", "log_dir", "logdir", "log_path", "save_path", "output_dir", "best_model_save_path",
        "storage_path", "local_dir", "logging_dir", "run_dir", "save_dir", "log_folder",
    }
)  # fmt: skip
WRITERS = {"SummaryWriter": 0, "configure": 0, "Monitor": 1}
# Modules that make flags of the parameters of a function.
FUNCTION_FLAGS = ("fire", "typer", "click")
# Modules that make flags of the fields of a class.
PARSED = frozenset({"tyro", "simple_parsing", "pyrallis", "draccus", "transformers", "trl", "jsonargparse"})
LONGEST_TEXT = 80
# What a constant's name does not tell: nothing at all, and epochs, which may be of the run or of one update.
NOT_BY_NAME = ("", "total_epochs", "total_updates")
# Levels of dicts in an argument; real ones have three.
MAX_NESTED = 6


def read_python(tree: ast.Module, name: str, given: Mapping[str, object]) -> Script:
    """What the script says. `given` are flags that a command line set."""
    return _Reader(tree, name, given).script()


class _Reader:
    def __init__(self, tree: ast.Module, name: str, given: Mapping[str, object]) -> None:
        self.tree, self.name = tree, name
        self.known = Expressions(tree, given)
        self.calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        self.modules = _modules(tree)
        self.later = self.known.set_later()
        self.uses: Uses | None = None
        self.framework = framework_of_modules(self.modules)
        self.tables = Tables(self.framework or "unknown")

    def script(self) -> Script:
        values: list[ScriptValue] = []
        trainers: list[str] = []
        for call in self.calls:
            name = self.known.class_name(call)
            algorithm = algorithm_of_class(name)
            home_made = next((word for word in TRAINERS if name.endswith(word)), "")
            if algorithm or home_made:
                trainers.append(algorithm or algorithm_in(name.removesuffix(home_made)))
                values += self._trainer(call, trainers[-1])
            elif (names := self._call_names(name)) is not None:
                values += self._call(call, names)
        # A file that trains nothing itself declares for others, whose reading is not seen here.
        self.uses = Uses(self.tree, self.known) if values or trainers else None
        values += self._flags(self._taken(trainers))
        if not trainers or not self.framework:
            values += self._constants()
        values = values[:MAX_VALUES]
        named = {found for value in values if (found := meaning(value.key, self.tables)) and value.basis != "open"}
        algorithms = dict.fromkeys(name for name in trainers if name)
        told = not algorithms and algorithm_in(PurePath(self.name).stem)
        return Script(
            framework=self.framework,
            algorithms=(told,) if told else tuple(algorithms),
            values=tuple(values),
            folders=tuple(dict.fromkeys(self._folders())),
            trains=bool(algorithms) or len(named - {"env_id", "seed", "device"}) >= FEW,
        )

    def _call_names(self, name: str) -> CallNames | None:
        found = (table.calls.find(name) for table in self.tables)
        return next((item[1] for item in found if item is not None), None)

    def _trainer(self, call: ast.Call, algorithm: str) -> Iterator[ScriptValue]:
        positional = [Part(key, node) for key, node in zip(("policy", "env"), call.args, strict=False)]
        parts = [part for part in positional if self._is_text(part.node)] if self.framework.startswith("sb3") else []
        for part in (*parts, *self._keywords(call)):
            bound = self.known.binding(part.node)
            # TRL's trainer is given a config whose own arguments are read where it is made.
            if not (isinstance(bound, ast.Call) and algorithm_of_class(self.known.class_name(bound))):
                yield from self._values(part, part.name, Rank.TRAINER, algorithm)

    def _call(self, call: ast.Call, names: CallNames) -> Iterator[ScriptValue]:
        """Of these calls only what is a hyperparameter counts: they serve other ends too."""
        given = [Part(key, node) for key, node in zip(names.order, call.args, strict=False)]
        given += [Part(names.names.get(part.name, part.name), part.node) for part in self._keywords(call)]
        for part in given:
            key = names.prefix + part.name
            if part.name and (not part.name.startswith(UNPACKED)):
                found = self._values(part, key, Rank.CALL)
                yield from (value for value in found if meaning(value.key, self.tables))
        for key, value in names.implies.items():
            if key not in [part.name for part in given]:
                yield ScriptValue(key, value, call.lineno, "script", Rank.CALL)
        count = self._count(call.args[0]) if names.counts and call.args else None
        if count is not None:
            yield ScriptValue(names.counts, count.value, count.line, count.basis, Rank.CALL)

    def _keywords(self, call: ast.Call) -> Iterator[Part]:
        for item in call.keywords:
            if item.arg is not None:
                yield Part(item.arg, item.value)
            else:
                for part in self.known.parts(item.value) or [Part("", item.value)]:
                    yield part if part.name else Part(UNPACKED, part.node)

    def _values(self, part: Part, key: str, rank: Rank, algorithm: str = "") -> Iterator[ScriptValue]:
        """The value of an argument, of each entry where it is a dict, or its text where only a run knows."""
        if part.name == UNPACKED:
            text = _text(part.node)
            yield ScriptValue(f"{UNPACKED}{text}", text, part.node.lineno, "open", rank, algorithm)
            return
        inner = self.known.parts(part.node) if key.count(".") < MAX_NESTED else None
        if inner and len(inner) <= MAX_LENGTH:
            for child in inner:
                if child.name:
                    yield from self._values(child, f"{key}.{child.name}", rank, algorithm)
            return
        name = meaning(key, self.tables)
        try:
            found = self.known.of_part(part)
        except Open:
            if name and name not in ("env_id", "algorithm", "policy_class"):
                yield ScriptValue(key, _text(part.node), part.node.lineno, "open", rank, algorithm)
            return
        if name != "env_id" or isinstance(found.value, str):
            yield ScriptValue(key, found.value, found.line, found.basis, rank, algorithm)

    def _taken(self, trainers: list[str]) -> set[str]:
        """What the library's trainers take as arguments: a flag of that name that they are not given is another's."""
        table = self.tables.own
        return {key for name in trainers for key in table.defaults_for(name, "")} if self.framework else set()

    def _is_used(self, name: str, owner: str = "") -> bool:
        return self.uses is None or self.uses.reads(name, owner)

    def _flags(self, taken: set[str]) -> Iterator[ScriptValue]:
        """Flags and the fields of config classes, which are flags too where something parses them."""
        found = [Part(name, node, "flag default") for name, node in self.known.flags.items() if self._is_used(name)]
        parsed = bool(self.modules & PARSED)
        classes = {node.name for node in ast.walk(self.tree) if isinstance(node, ast.ClassDef) and _is_config(node)}
        for site in self.known.sites:
            owner, name = site.path[0], site.path[-1]
            is_field = site.kind == "field" and len(site.path) == 2 and owner in classes
            if is_field and self._is_used(name, owner):
                later = self.later.get(name)
                basis: Basis = "flag default" if parsed and later is None else "script"
                found.append(Part(name, later or site.node, basis))
        if self.modules & set(FUNCTION_FLAGS):
            for site in self.known.sites:
                name = site.path[-1]
                is_read = self.uses is None or name in self.uses.names
                if site.kind == "parameter" and is_read and meaning(name, self.tables):
                    found.append(Part(name, site.node, "flag default"))
        for part in found:
            if meaning(part.name, self.tables) not in taken:
                yield from self._values(part, part.name, Rank.FLAG)

    def _constants(self) -> Iterator[ScriptValue]:
        """Names of the file that are hyperparameters, alone or in a dict of settings; values alone, nothing open."""
        for site in self.known.sites:
            name = site.path[0]
            if site.kind != "assigned" or len(site.path) != 1 or (self.uses and name not in self.uses.names):
                continue
            holds = any(word in name.lower() for word in CONFIG_WORDS)
            alone = Part(name.lower(), ast.copy_location(ast.Name(name, ast.Load()), site.node))
            parts = self.known.named_parts(name) if holds else [alone]
            for part in parts or ():
                if not part.name or (holds and not self._is_used(part.name, name)):
                    continue
                for value in self._values(part, part.name, Rank.CONSTANT):
                    if value.basis != "open" and meaning(value.key, self.tables) not in NOT_BY_NAME:
                        yield ScriptValue(value.key, value.value, value.line, "constant", Rank.CONSTANT)

    def _folders(self) -> Iterator[str]:
        nodes = [site.node for site in self.known.sites if site.path[-1] in LOG_KEYS]
        for call in self.calls:
            place = WRITERS.get(called(call))
            nodes += call.args[place : place + 1] if place is not None else []
        for node in nodes:
            text = self._beginning(self.known.binding(node))
            if text:
                yield text

    def _beginning(self, node: ast.expr) -> str:
        """A text, or of a text with unknown parts the folders before the first of them."""
        try:
            value = self.known.value(node).value
            return value if isinstance(value, str) else ""
        except Open:
            pieces = node.values if isinstance(node, ast.JoinedStr) else []
            pieces = node.args if isinstance(node, ast.Call) and called(node) == "join" else pieces
        text = ""
        for piece in pieces:
            try:
                text += f"{self.known.value(piece).value}{'/' if isinstance(node, ast.Call) else ''}"
            except Open:
                break
        return text.rpartition("/")[0]

    def _is_text(self, node: ast.expr) -> bool:
        try:
            return isinstance(self.known.value(node).value, str)
        except Open:
            return False

    def _count(self, node: ast.expr) -> Found | None:
        """How many environments `[make() for _ in range(8)]` and `[make] * 8` make."""
        node = self.known.binding(node)
        counted: ast.expr | None = None
        if isinstance(node, ast.List):
            return Found(len(node.elts), node.lineno)
        if isinstance(node, ast.ListComp) and len(node.generators) == 1:
            over = node.generators[0].iter
            if isinstance(over, ast.Call) and called(over) == "range" and len(over.args) == 1:
                counted = over.args[0]
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) and isinstance(node.left, ast.List):
            counted = node.right if len(node.left.elts) == 1 else None
        try:
            return None if counted is None else self.known.value(counted)
        except Open:
            return None


def _is_config(cls: ast.ClassDef) -> bool:
    decorated = any("dataclass" in _text(decorator) or "wrap" in _text(decorator) for decorator in cls.decorator_list)
    return decorated or any(word in cls.name.lower() for word in CONFIG_WORDS)


def _modules(tree: ast.Module) -> set[str]:
    """Every imported module."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.update((node.module, *(f"{node.module}.{alias.name}" for alias in node.names)))
    return found


def _text(node: ast.expr) -> str:
    """The expression as it is written, on one line; long ones are cut."""
    if len(list(islice(ast.walk(node), LONGEST_TEXT + 1))) > LONGEST_TEXT:
        return "..."
    text = ast.unparse(node)
    return text if len(text) <= LONGEST_TEXT else f"{text[: LONGEST_TEXT - 3]}..."
