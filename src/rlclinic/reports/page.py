"""The parts a report is made of, before any format: sections of words, facts, tables, findings and causes.

`sections` fills a page from a diagnosis; the text, markdown and HTML renderers draw it. So all of them say the same.
Strings here may come from a log and are not yet safe to print: each renderer cleans them in one place.
"""

from __future__ import annotations

from typing import Literal

from rlclinic.model.diagnosis import Verdict
from rlclinic.model.finding import Severity
from rlclinic.model.lazy_dataclass import dataclass

Tone = Literal["good", "caution", "bad"]
Detail = Literal["brief", "normal", "full"]
"""How much a report says: the answer alone, with what it rests on, or everything."""

TONES: dict[Verdict, Tone] = {
    Verdict.SOLVED: "good",
    Verdict.LEARNING: "good",
    Verdict.NO_FAULT_FOUND: "good",
    Verdict.PLATEAUED: "caution",
    Verdict.INTERRUPTED: "caution",
    Verdict.INSUFFICIENT_DATA: "caution",
    Verdict.NOT_RL: "caution",
}


class Code(str):
    """A name or value quoted as the user's files have it."""

    __slots__ = ()


Inline = str | tuple[str, ...]
"""A piece of text, or several of which some may be Code."""


@dataclass(frozen=True, slots=True)
class Words:
    """A paragraph."""

    text: Inline
    leads: bool = False
    """Whether it is the sentence of the section that a hurried reader must not miss."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Labels and values."""

    rows: tuple[tuple[str, Inline], ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under a header."""

    header: tuple[str, ...]
    rows: tuple[tuple[Inline, ...], ...]
    right: frozenset[int] = frozenset()
    """Columns of numbers."""
    cut: tuple[int, ...] = ()
    """Columns that a narrow terminal may shorten."""
    drop: tuple[int, ...] = ()
    """Columns that a narrow terminal may leave out, the first first."""


@dataclass(frozen=True, slots=True)
class Listing:
    """Items, one per line."""

    items: tuple[Inline, ...]
    numbered: bool = False


@dataclass(frozen=True, slots=True)
class Card:
    """One finding."""

    severity: Severity
    code: str
    title: str
    summary: str
    detail: str
    """Since when, and how sure."""
    evidence: tuple[Inline, ...] = ()


@dataclass(frozen=True, slots=True)
class Candidate:
    """One cause."""

    id: str
    title: str
    probability: float
    detail: str
    supports: tuple[str, ...] = ()
    contradicts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Quote:
    """Lines of a log, quoted."""

    where: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Snippet:
    """Lines to copy: a change in the user's syntax, or code. Their indentation counts."""

    title: str
    lines: tuple[str, ...]
    language: str = ""
    """For highlighting; empty for plain text."""


Block = Words | Facts | Table | Listing | Card | Candidate | Quote | Snippet


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what stands under it."""

    key: str
    """Stable name, for anchors."""
    title: str
    blocks: tuple[Block, ...]
    appendix: bool = False
    """Reference material: in the terminal only where everything is asked for, folded elsewhere."""


@dataclass(frozen=True, slots=True)
class Page:
    """A whole report."""

    run_id: str
    verdict: Verdict
    answer: Facts
    """What must be known first."""
    sections: tuple[Section, ...] = ()

    @property
    def tone(self) -> Tone:
        """Whether the verdict is good news."""
        return TONES.get(self.verdict, "bad")


def pieces(text: Inline) -> tuple[str, ...]:
    """The parts of a text."""
    return (text,) if isinstance(text, str) else text


def coded(text: Inline) -> list[str]:
    """The same, what stands between two backticks as code."""
    found: list[str] = []
    for piece in pieces(text):
        parts = piece.split("`")
        whole = isinstance(piece, Code) or len(parts) % 2 == 0
        found += [piece] if whole else [Code(part) if index % 2 else part for index, part in enumerate(parts)]
    return [piece for piece in found if piece]
