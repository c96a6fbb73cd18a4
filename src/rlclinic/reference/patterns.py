"""Name patterns: exact names, or names with `*` wildcards whose text is carried over."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Generic, TypeVar

Entry = TypeVar("Entry")


class PatternTable(Generic[Entry]):
    """Looks up names in a table whose keys may hold wildcards; exact keys win, then table order."""

    def __init__(self, raw: Mapping[str, Any], make: Callable[[Any], Entry]) -> None:
        """`make` turns what stands in the table into an entry, when it is first asked for."""
        self._raw, self._make = raw, make
        self._made: dict[str, Entry] = {}
        self._globs = [(key.partition("*")[0], key.rpartition("*")[2], key) for key in raw if "*" in key]
        self._order = {key: position for position, key in enumerate(raw)}
        # Runs of one project log the same names.
        self._by_pattern = lru_cache(maxsize=1024)(self._matched)

    def find(self, name: str) -> tuple[str, Entry, str] | None:
        """The key that matches, its entry, and the text that the last wildcard stood for."""
        return (name, self[name], "") if name in self._raw and "*" not in name else self._by_pattern(name)

    def _matched(self, name: str) -> tuple[str, Entry, str] | None:
        for beginning, ending, key in self._globs:
            # Most patterns are never compiled.
            if name.startswith(beginning) and name.endswith(ending) and (found := compiled(key).fullmatch(name)):
                return key, self[key], found.group(found.lastindex or 0)
        return None

    def position(self, key: str) -> int:
        """Where a key stands in the table: earlier entries are preferred."""
        return self._order[key]

    def __getitem__(self, key: str) -> Entry:
        """The entry of a key of the table."""
        if key not in self._made:
            self._made[key] = self._make(self._raw[key])
        return self._made[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._order)


def matches(pattern: str, name: str) -> bool:
    """Whether a name fits a pattern."""
    return pattern == name if "*" not in pattern else compiled(pattern).fullmatch(name) is not None


@lru_cache(maxsize=4096)
def compiled(pattern: str) -> re.Pattern[str]:
    """A pattern with wildcards, each a group, for whole names."""
    return re.compile("(.+?)".join(re.escape(part) for part in pattern.split("*")), re.DOTALL)
