"""YAML configs as plain data with the line of every value. Nothing is ever constructed, whatever the tags say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.readers.formats.errors import FormatError
from rlclinic.readers.formats.yaml.nodes import MAX_DEPTH, MappingNode, Node, ScalarNode, SequenceNode, compose
from rlclinic.readers.formats.yaml.scalars import MERGE, PREFIX, is_known, read_scalar, resolve
from rlclinic.readers.redaction.redact import redacted_head

# Characters of a file; configs have kilobytes.
MAX_CHARS = 16 << 20
KEPT_CHARS = 64 << 10

# Values after aliases and merges are expanded. Nine lines of aliases can stand for a billion.
MAX_VALUES = 300_000

_MAX_PROBLEMS = 50
_PYTHON = PREFIX + "python/"
_PLAIN_COLLECTIONS = frozenset(
    {PREFIX + "seq", PREFIX + "map", PREFIX + "pairs", PREFIX + "omap", PREFIX + "set", _PYTHON + "list",
     _PYTHON + "tuple", _PYTHON + "dict", "!"}
)  # fmt: skip
_CALLS = (_PYTHON + "object/apply:", _PYTHON + "object/new:")
_NAMES = (_PYTHON + "name:", _PYTHON + "module:")
_DICT_CLASSES = ("OrderedDict", "collections.defaultdict", "builtins.dict")
# The parts of `!!python/object/apply` written as a mapping, from the most telling on.
_CALL_PARTS = ("dictitems", "state", "kwds", "listitems", "args")

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class YamlDocument:
    """The data, the 1-based line of every key and item by its path, and what was odd about the text."""

    data: object
    lines: Mapping[Path, int]
    problems: tuple[str, ...] = ()


def load_yaml(text: str) -> YamlDocument:
    """Read the first document of a YAML text; FormatError if it is broken or unreasonably large."""
    if len(text) > MAX_CHARS:
        raise FormatError(f"{len(text)} characters of YAML are more than a config has ({MAX_CHARS})")
    composed = compose(text.removeprefix("\ufeff"))
    if composed.root is None:
        return YamlDocument(None, {}, composed.problems)
    reader = _Reader()
    try:
        data = reader.read(composed.root, (), composed.root.line)
    except RecursionError:  # only when the caller's own stack is nearly full
        raise FormatError("nested too deeply") from None
    return YamlDocument(data, reader.lines, (*composed.problems, *reader.problems()))


def yaml_read(text: str) -> YamlDocument:
    """The same, not to be changed, of a text that is asked for again: who edits a config begins with what its reader
    saw."""
    return _kept(text) if len(text) <= KEPT_CHARS else load_yaml(text)


_kept = lru_cache(maxsize=8)(load_yaml)


class _Reader:
    """Turns nodes into data and keeps count of what that costs."""

    def __init__(self) -> None:
        self.lines: dict[Path, int] = {}
        self._notes: list[str] = []
        self._tags: dict[str, list[int]] = {}
        self._values = 0
        self._open: set[int] = set()

    def problems(self) -> tuple[str, ...]:
        tags = []
        for tag, lines in self._tags.items():
            times = f", {len(lines)} times" if len(lines) > 1 else ""
            tags.append(f"line {lines[0]}: tag {tag} was read as plain data{times}")
        return (*self._notes, *tags)[:_MAX_PROBLEMS]

    def read(self, node: Node, path: Path, line: int) -> object:
        self._spend(line)
        self.lines[path] = line
        if isinstance(node, ScalarNode):
            return self._scalar(node)
        if id(node) in self._open:
            self._note(f"line {node.line}: a value that contains itself was left out")
            return None
        if len(self._open) >= MAX_DEPTH:
            raise FormatError(f"more than {MAX_DEPTH} levels of nesting", line=node.line)
        self._open.add(id(node))
        try:
            if isinstance(node, MappingNode):
                return self._mapping(node, path)
            return self._sequence(node, path) if isinstance(node, SequenceNode) else None
        finally:
            self._open.discard(id(node))

    def _spend(self, line: int) -> None:
        self._values += 1
        if self._values > MAX_VALUES:
            raise FormatError(f"aliases expand to more than {MAX_VALUES} values", line=line)

    def _note(self, text: str) -> None:
        if len(self._notes) < _MAX_PROBLEMS:
            self._notes.append(text)

    def _odd_tag(self, node: Node) -> None:
        tag = (node.tag or "").replace(PREFIX, "!!")
        if len(self._tags) < _MAX_PROBLEMS or tag in self._tags:
            self._tags.setdefault(tag, []).append(node.line)

    def _scalar(self, node: ScalarNode) -> object:
        tag = resolve(node.value, node.tag, is_plain=node.is_plain)
        if is_known(tag):
            return read_scalar(node.value, tag)
        for prefix in _NAMES:
            if tag.startswith(prefix):
                return tag.removeprefix(prefix)
        self._odd_tag(node)
        return read_scalar(node.value, resolve(node.value, None, is_plain=True))

    def _sequence(self, node: SequenceNode, path: Path) -> object:
        if node.tag is None or node.tag in _PLAIN_COLLECTIONS:
            return self._omap(node, path) if node.tag == PREFIX + "omap" else self._items(node.items, path)
        if node.tag.startswith(_CALLS) and node.tag.endswith(_DICT_CLASSES):
            return self._ordered(node.items, path)
        self._odd_tag(node)
        return self._items(node.items, path)

    def _items(self, items: list[Node], path: Path) -> list[object]:
        return [self.read(item, (*path, index), item.line) for index, item in enumerate(items)]

    def _omap(self, node: SequenceNode, path: Path) -> dict[object, object]:
        pairs = [pair for item in node.items if isinstance(item, MappingNode) for pair in item.pairs]
        return self._pairs(pairs, path)

    def _ordered(self, args: list[Node], path: Path) -> object:
        """The arguments of OrderedDict: one list of pairs, or one mapping; defaultdict has its factory in front."""
        source = args[-1] if args else None
        if isinstance(source, MappingNode):
            return self.read(source, path, self.lines[path])
        pairs = source.items if isinstance(source, SequenceNode) else []
        if all(isinstance(pair, SequenceNode) and len(pair.items) == 2 for pair in pairs):
            return self._pairs([(p.items[0], p.items[1]) for p in pairs if isinstance(p, SequenceNode)], path)
        return self._items(args, path)

    def _mapping(self, node: MappingNode, path: Path) -> object:
        if node.tag == PREFIX + "set":
            return [self._key(key) for key, _ in node.pairs]
        if node.tag is None or node.tag in _PLAIN_COLLECTIONS:
            return self._merged(node, path)
        if node.tag.startswith(_CALLS):
            return self._call(node, path)
        self._odd_tag(node)
        return self._merged(node, path)

    def _call(self, node: MappingNode, path: Path) -> object:
        """`args`, `kwds`, `state`, `listitems`, `dictitems`: the part that holds the data stands for the object."""
        parts = {key.value: value for key, value in node.pairs if isinstance(key, ScalarNode)}
        tag = node.tag or ""
        args = parts.get("args")
        if tag.endswith(_DICT_CLASSES) and "dictitems" not in parts and isinstance(args, SequenceNode):
            return self._ordered(args.items, path)
        if not tag.endswith(_DICT_CLASSES):
            self._odd_tag(node)
        for name in _CALL_PARTS:
            part = parts.get(name)
            if isinstance(part, MappingNode | SequenceNode):
                return self.read(part, path, self.lines[path])
        return self._merged(node, path)

    def _merged(self, node: MappingNode, path: Path) -> dict[object, object]:
        """A mapping with its `<<` keys: own keys win, then the later merge, as in PyYAML."""
        own = [(key, value) for key, value in node.pairs if not _is_merge(key)]
        inherited = list(self._inherited(node, 0))
        self._note_duplicates(own)
        return self._pairs([*inherited, *own], path)

    def _inherited(self, node: MappingNode, depth: int) -> Iterator[tuple[Node, Node]]:
        if depth > MAX_DEPTH:
            raise FormatError(f"more than {MAX_DEPTH} levels of merged mappings", line=node.line)
        for key, value in node.pairs:
            if not _is_merge(key):
                continue
            sources = value.items[::-1] if isinstance(value, SequenceNode) else [value]
            for source in sources:
                if not isinstance(source, MappingNode):
                    self._note(f"line {key.line}: '<<' merges something that is not a mapping; it was left out")
                    continue
                self._spend(key.line)
                yield from self._inherited(source, depth + 1)
                for pair in source.pairs:
                    self._spend(key.line)
                    if not _is_merge(pair[0]):
                        yield pair

    def _pairs(self, pairs: list[tuple[Node, Node]], path: Path) -> dict[object, object]:
        data: dict[object, object] = {}
        for key, value in pairs:
            name = self._key(key)
            data[name] = self.read(value, (*path, str(name)), key.line)
        return data

    def _key(self, node: Node) -> object:
        if isinstance(node, ScalarNode):
            return self._scalar(node)
        # A collection as a key is only ever shown; the text of a nested value keeps it distinct.
        lines, self.lines = self.lines, {}
        value = self.read(node, (), node.line)
        self.lines = lines
        return str(value)

    def _note_duplicates(self, pairs: list[tuple[Node, Node]]) -> None:
        seen: set[str] = set()
        for key, _ in pairs:
            if isinstance(key, ScalarNode):
                if key.value in seen:
                    self._note(f"line {key.line}: {redacted_head(key.value, 80)!r} is given twice, the last one counts")
                seen.add(key.value)


def _is_merge(node: Node) -> bool:
    return (
        isinstance(node, ScalarNode) and node.value == "<<" and resolve("<<", node.tag, is_plain=node.is_plain) == MERGE
    )
