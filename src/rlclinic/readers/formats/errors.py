"""The one error that every text format raises when the bytes are not what the name promises."""

from __future__ import annotations


class FormatError(ValueError):
    """The text cannot be read in this format; `line` is the 1-based line where that shows, if known."""

    def __init__(self, message: str, *, line: int | None = None) -> None:
        super().__init__(message if line is None else f"line {line}: {message}")
        self.line = line
