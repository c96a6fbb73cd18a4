"""Notes about what was wrong in a file: one line per kind of problem, however often it occurs."""

from __future__ import annotations

MAX_NOTES = 100  # kinds of problems; a broken file can have a new one in every column


class Notes:
    """Collects notes; the same text at many lines becomes one note with a count."""

    def __init__(self) -> None:
        self._first: dict[str, int | None] = {}
        self._count: dict[str, int] = {}
        self._left_out = 0

    def say(self, text: str) -> None:
        """Note something about the file as a whole."""
        self._add(text, None)

    def at(self, line: int, text: str) -> None:
        """Note something about a line."""
        self._add(text, line)

    def lines(self) -> tuple[str, ...]:
        """The notes, in the order in which they first came up."""
        notes = [self._render(text, line) for text, line in self._first.items()]
        if self._left_out:
            notes.append(f"{self._left_out} further problems left out")
        return tuple(notes)

    def _add(self, text: str, line: int | None) -> None:
        if text not in self._first:
            if len(self._first) == MAX_NOTES:
                self._left_out += 1
                return
            self._first[text] = line
        self._count[text] = self._count.get(text, 0) + 1

    def _render(self, text: str, line: int | None) -> str:
        if line is None:
            return text
        count = self._count[text]
        return f"line {line}: {text}" if count == 1 else f"line {line} and {count - 1} more: {text}"
