"""YAML text as a tree of nodes with tags and lines, built from PyYAML's events. No tag is ever acted on.

PyYAML's own composer recurses in C and can exhaust the stack; events come one by one, so depth and size are
checked while they arrive.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

import yaml

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.readers.formats.errors import FormatError

# Nesting of real configs stays below twenty; deeper data would exhaust the stack of whoever walks it.
MAX_DEPTH = 64

# Nodes as written in the file. The largest config seen, a dumped Isaac Lab scene, has 4 000.
MAX_NODES = 300_000

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(slots=True)
class Node:
    """One scalar, sequence or mapping; an alias is the very node that it names."""

    line: int
    tag: str | None


@dataclass(slots=True)
class ScalarNode(Node):
    value: str
    is_plain: bool


@dataclass(slots=True)
class SequenceNode(Node):
    items: list[Node] = field(default_factory=list)


@dataclass(slots=True)
class MappingNode(Node):
    pairs: list[tuple[Node, Node]] = field(default_factory=list)
    pending: Node | None = None
    """The key whose value has not come yet."""


@dataclass(frozen=True, slots=True)
class Composed:
    """The first document, None if there is none, and what was left unread."""

    root: Node | None
    problems: tuple[str, ...]


def compose(text: str) -> Composed:
    """The first document of the text; FormatError if it is not YAML."""
    # A lone surrogate makes libyaml fail with an encoding error of its own.
    clean = text.encode("utf-8", "replace").decode()
    builder = _Builder()
    events = _events(clean)
    for event in events:
        if isinstance(event, yaml.DocumentEndEvent):
            break
        builder.take(event)
    return Composed(builder.root, _rest(events))


def _events(text: str) -> Iterator[yaml.Event]:
    try:
        yield from yaml.parse(text, Loader=_LOADER)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise FormatError(error.problem or "not YAML", line=None if mark is None else mark.line + 1) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1 if isinstance(error.position, int) else None
        raise FormatError(f"character {error.character!r} is not allowed in YAML", line=line) from None
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        raise error if isinstance(error, FormatError) else FormatError(f"not YAML: {error}") from None


def _rest(events: Iterator[yaml.Event]) -> tuple[str, ...]:
    try:
        more = next((event for event in events if isinstance(event, yaml.DocumentStartEvent)), None)
    except FormatError as error:
        return (f"only the first document was read; what follows it is broken ({error})",)
    if more is None:
        return ()
    return (f"line {_line(more)}: only the first of several documents was read",)


class _Builder:
    """Puts events together; the stack holds the open collections."""

    def __init__(self) -> None:
        self.root: Node | None = None
        self._stack: list[SequenceNode | MappingNode] = []
        self._anchors: dict[str, Node] = {}
        self._nodes = 0

    def take(self, event: yaml.Event) -> None:
        if isinstance(event, yaml.CollectionEndEvent):
            self._stack.pop()
            return
        if isinstance(event, yaml.AliasEvent):
            self._add(self._aliased(event))
            return
        if not isinstance(event, yaml.NodeEvent):
            return
        node = _node(event)
        if event.anchor is not None:
            self._anchors[event.anchor] = node
        self._add(node)
        if isinstance(node, SequenceNode | MappingNode):
            self._stack.append(node)
            if len(self._stack) > MAX_DEPTH:
                raise FormatError(f"more than {MAX_DEPTH} levels of nesting", line=node.line)

    def _aliased(self, event: yaml.AliasEvent) -> Node:
        node = self._anchors.get(event.anchor or "")
        if node is None:
            raise FormatError(f"alias *{event.anchor} names no anchor", line=_line(event))
        return node

    def _add(self, node: Node) -> None:
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise FormatError(f"more than {MAX_NODES} values", line=node.line)
        if not self._stack:
            self.root = node
            return
        parent = self._stack[-1]
        if isinstance(parent, SequenceNode):
            parent.items.append(node)
        elif parent.pending is None:
            parent.pending = node
        else:
            parent.pairs.append((parent.pending, node))
            parent.pending = None


def _node(event: yaml.NodeEvent) -> Node:
    line = _line(event)
    if isinstance(event, yaml.ScalarEvent):
        return ScalarNode(line, event.tag, event.value, is_plain=bool(event.implicit[0]))
    if isinstance(event, yaml.SequenceStartEvent):
        return SequenceNode(line, event.tag)
    return MappingNode(line, event.tag if isinstance(event, yaml.MappingStartEvent) else None)


def _line(event: yaml.Event) -> int:
    return 1 if event.start_mark is None else event.start_mark.line + 1
