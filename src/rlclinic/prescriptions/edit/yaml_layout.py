"""Where the values of a YAML text stand, in characters: from the events of PyYAML's parser."""

from __future__ import annotations

import re
from dataclasses import field
from functools import lru_cache
from typing import cast

import yaml

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.prescriptions.edit.edits import Path, Refused

# Characters. Without libyaml, about a second for this much.
MAX_CHARS = 256 << 10
MAX_DEPTH = 64

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_PROPERTIES = re.compile(r"(?:[&!]\S*[ \t]+)*")


@dataclass(frozen=True, slots=True)
class Spot:
    """One value: its text without tag and anchor."""

    start: int
    end: int
    style: str
    """Empty for plain, a quote, `|` or `>`; `*` for an alias, `[` for a flow collection, `block` for another."""
    line: int


@dataclass(slots=True)
class Pair:
    """A key of a mapping and where its value ends."""

    name: str
    column: int
    start: int
    value: Spot | None = None
    """None until it has been seen."""


@dataclass(slots=True)
class Layout:
    """All values of the one document by path; a path that is given twice has two spots."""

    spots: dict[Path, list[Spot]] = field(default_factory=dict)
    pairs: dict[Path, list[Pair]] = field(default_factory=dict)


@dataclass(slots=True)
class _Open:
    path: Path
    start: int
    is_mapping: bool
    is_flow: bool
    line: int
    index: int = 0
    key: Pair | None = None


@lru_cache(maxsize=8)
def yaml_layout(text: str) -> Layout:
    """Walk through the events once."""
    if len(text) > MAX_CHARS:
        raise Refused(f"{len(text)} characters of YAML are more than is edited ({MAX_CHARS})")
    walker = _Walker(text)
    documents = 0
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            documents += isinstance(event, yaml.DocumentStartEvent)
            if documents > 1:
                raise Refused("the file holds several YAML documents, so it is not sure which one counts")
            walker.take(event)
    except yaml.YAMLError as error:
        raise Refused(f"not YAML: {error}") from None
    return walker.layout


class _Walker:
    def __init__(self, text: str) -> None:
        self.layout = Layout()
        self._text = text
        self._stack: list[_Open] = []

    def take(self, event: yaml.Event) -> None:
        if isinstance(event, yaml.CollectionEndEvent):
            self._close(event)
        elif isinstance(event, yaml.CollectionStartEvent):
            self._open(event)
        elif isinstance(event, yaml.ScalarEvent):
            self._scalar(event)
        elif isinstance(event, yaml.AliasEvent):
            self._alias(event)

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        start, end = _start(event).index, _end(event).index
        if event.anchor is not None or event.tag is not None:
            properties = _PROPERTIES.match(self._text, start, end)
            start = properties.end() if properties else start
        spot = Spot(start, end, event.style or "", _start(event).line + 1)
        top = self._top
        if top is not None and top.is_mapping and top.key is None:
            top.key = Pair(event.value, _start(event).column, _start(event).index)
            self.layout.pairs.setdefault(top.path, []).append(top.key)
            return
        self._place(spot)

    def _alias(self, event: yaml.AliasEvent) -> None:
        top = self._top
        if top is None:
            return
        if top.is_mapping and top.key is None:
            top.key = Pair("*", _start(event).column, _start(event).index)
            return
        self._place(Spot(_start(event).index, _end(event).index, "*", _start(event).line + 1))

    def _open(self, event: yaml.CollectionStartEvent) -> None:
        if len(self._stack) >= MAX_DEPTH:
            raise Refused(f"more than {MAX_DEPTH} levels of nesting")
        top = self._top
        if top is not None and top.is_mapping and top.key is None:
            raise Refused(f"line {_start(event).line + 1}: a collection as a key is not edited")
        start = _start(event).index
        if event.anchor is not None or event.tag is not None:
            properties = _PROPERTIES.match(self._text, start)
            start = properties.end() if properties else start
        path = self._path()
        is_mapping = isinstance(event, yaml.MappingStartEvent)
        if is_mapping:
            self.layout.pairs.setdefault(path, [])
        self._stack.append(_Open(path, start, is_mapping, bool(event.flow_style), _start(event).line + 1))

    def _close(self, event: yaml.CollectionEndEvent) -> None:
        closed = self._stack.pop()
        style = "[" if closed.is_flow else "block"
        self._place(Spot(closed.start, _end(event).index, style, closed.line))

    def _place(self, spot: Spot) -> None:
        self.layout.spots.setdefault(self._path(), []).append(spot)
        if self._stack and self._stack[-1].key is not None:
            self._stack[-1].key.value = spot
        self._advance()

    def _advance(self) -> None:
        if self._stack:
            self._stack[-1].index += 1
            self._stack[-1].key = None

    def _path(self) -> Path:
        top = self._top
        if top is None:
            return ()
        return (*top.path, top.key.name if top.key is not None else top.index)

    @property
    def _top(self) -> _Open | None:
        return self._stack[-1] if self._stack else None


def _start(event: yaml.Event) -> yaml.error.Mark:
    return cast(yaml.error.Mark, event.start_mark)


def _end(event: yaml.Event) -> yaml.error.Mark:
    return cast(yaml.error.Mark, event.end_mark)
