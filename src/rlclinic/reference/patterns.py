"""Name patterns: exact names, or names with `*` wildcards whose text is carried over."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Generic, TypeVar

Entry = TypeVar("Entry")


class PatternTable(Generic[Entry]):
    """Looks up names in a table whose keys may hold wildcards; exact keys win, then table order."""

    def __init__(self, entries: Mapping[str, Entry]) -> None:
        self._entries = entries
        self._exact = {key: entry for key, entry in entries.items() if "*" not in key}
        self._globs = [(compiled(key), key, entry) for key, entry in entries.items() if "*" in key]
        self._order = {key: position for position, key in enumerate(entries)}
        # Runs of one project log the same names.
        self._by_pattern = lru_cache(maxsize=1024)(self._matched)

    def find(self, name: str) -> tuple[str, Entry, str] | None:
        """The key that matches, its entry, and the text that the last wildcard stood for."""
        exact = self._exact.get(name)
        return (name, exact, "") if exact is not None else self._by_pattern(name)

    def _matched(self, name: str) -> tuple[str, Entry, str] | None:
        for pattern, key, entry in self._globs:
            found = pattern.fullmatch(name)
            if found:
                return key, entry, found.group(found.lastindex or 0)
        return None

    def position(self, key: str) -> int:
        """Where a key stands in the table: earlier entries are preferred."""
        return self._order[key]

    def __getitem__(self, key: str) -> Entry:
        """The entry of a key of the table."""
        return self._entries[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._order)


def matches(pattern: str, name: str) -> bool:
    """Whether a name fits a pattern."""
    return pattern == name if "*" not in pattern else compiled(pattern).fullmatch(name) is not None


@lru_cache(maxsize=4096)
def compiled(pattern: str) -> re.Pattern[str]:
    """A pattern with wildcards, each a group, for whole names."""
    return re.compile("(.+?)".join(re.escape(part) for part in pattern.split("*")), re.DOTALL)
