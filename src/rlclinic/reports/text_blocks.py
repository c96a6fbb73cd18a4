"""The blocks of a page as lines for a terminal, with colours where they are wanted."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rlclinic.model.finding import Severity
from rlclinic.model.numbers import percent
from rlclinic.reports.page import (
    Block,
    Candidate,
    Card,
    Code,
    Facts,
    Inline,
    Listing,
    Quote,
    Section,
    Snippet,
    Table,
    Tone,
    Words,
    pieces,
)
from rlclinic.reports.sections import SEVERITY_WORDS
from rlclinic.reports.text import printable
from rlclinic.reports.wrap import cells, cut, pad, wrap

WIDTH = 100
# Narrower than this, tables lose their sense: lines are then wider than asked for.
NARROWEST = 60
INDENT = "  "
BAR_CELLS = 20
# A column is not cut below this.
SHORTEST_COLUMN = 10
# The last column of a table wraps. With less room than this another column is left out first.
NARROW_LAST = 20

MARKS = {Severity.ERROR: "✗", Severity.WARNING: "!", Severity.INFO: "·"}

# ANSI select-graphic-rendition codes.
BOLD, DIM, RED, GREEN, YELLOW, BLUE = "1", "2", "31", "32", "33", "34"
TONE_COLOURS: dict[Tone, str] = {"good": GREEN, "caution": YELLOW, "bad": RED}
SEVERITY_COLOURS = {Severity.ERROR: RED, Severity.WARNING: YELLOW, Severity.INFO: BLUE}


def page_text(
    name: str,
    word: str,
    tone: Tone,
    lead: Block | str,
    sections: Sequence[Section],
    *,
    width: int = WIDTH,
    colour: bool = False,
    everything: bool = True,
) -> str:
    """A page for a terminal of `width` cells: a name and a word about it, what leads, then the sections.

    Appendices are left out, and named at the end, unless `everything` is asked for.
    """
    draw = _Draw(max(width, NARROWEST), colour=colour)
    shown = cut(_plain(name), draw.width - len(word) - 2)
    head = [f"{draw.paint(shown, BOLD)}  {draw.paint(word, BOLD, TONE_COLOURS[tone])}".rstrip()]
    head += draw.block(Words(lead) if isinstance(lead, str) else lead) if lead else []
    chosen = [section for section in sections if everything or not section.appendix]
    rest = ", ".join(section.title.lower() for section in sections if section not in chosen)
    blocks = [head, *map(draw.section, chosen)]
    blocks += [wrap(f"With -v also: {rest}.", draw.width)] if rest else []
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


class _Draw:
    """Draws blocks as lines of one width."""

    def __init__(self, width: int, *, colour: bool) -> None:
        self.width = width
        self._colour = colour

    def paint(self, text: str, *codes: str) -> str:
        return f"\x1b[{';'.join(codes)}m{text}\x1b[0m" if self._colour and text else text

    def section(self, section: Section) -> list[str]:
        lines = [self.paint(section.title, BOLD)]
        for index, block in enumerate(section.blocks):
            together = isinstance(section.blocks[index - 1], Words) and not isinstance(block, Card | Candidate)
            lines += [""] if index and not together else []
            lines += self.block(block)
        return lines

    def block(self, block: Block) -> list[str]:
        drawers: dict[type, Callable[..., list[str]]] = {
            Words: self._words,
            Facts: self._facts,
            Table: self._table,
            Listing: self._listing,
            Card: self._card,
            Candidate: self._candidate,
            Quote: self._quote,
            Snippet: self._snippet,
        }
        return drawers[type(block)](block)

    def _words(self, block: Words) -> list[str]:
        lines = wrap(_plain(block.text), self.width, indent=INDENT)
        return [self.paint(line, BOLD) for line in lines] if block.leads else lines

    def _facts(self, block: Facts) -> list[str]:
        longest = max(len(label) for label, _ in block.rows)
        hanging = INDENT + " " * (longest + 2)
        lines = []
        for label, value in block.rows:
            start, text = f"{INDENT}{label.ljust(longest)}  ", _plain(value)
            # A command is copied: it stays on one line, however long it is.
            to_copy = not label and isinstance(pieces(value)[-1], Code)
            lines += [start + text] if to_copy else wrap(text, self.width, indent=start, hanging=hanging)
        return lines

    def _table(self, block: Table) -> list[str]:
        whole = [tuple(_plain(cell) for cell in row) for row in (block.header, *block.rows)]
        kept = self._kept(whole, block.drop)
        rows = [tuple(row[index] for index in kept) for row in whole]
        widths = self._widths(rows, [kept.index(index) for index in block.cut if index in kept])
        last = len(widths) - 1
        lines = []
        for row in rows:
            padded = [
                pad(cut(cell, widths[index]), widths[index], right=kept[index] in block.right)
                for index, cell in enumerate(row[:last])
            ]
            start = INDENT + "  ".join(padded) + "  "
            tail = wrap(row[last], self.width, indent=start, hanging=" " * cells(start))
            lines += [line.rstrip() for line in tail] or [start.rstrip()]
        return [self.paint(lines[0], DIM), *lines[1:]]

    def _kept(self, rows: list[tuple[str, ...]], droppable: tuple[int, ...]) -> list[int]:
        """The columns that fit, after those that may be dropped are dropped as far as needed."""
        kept = list(range(len(rows[0])))
        for index in droppable:
            natural = [max(cells(row[column]) for row in rows) for column in kept]
            if sum(natural[:-1]) + min(natural[-1], NARROW_LAST) > self._room(len(kept)):
                kept.remove(index)
        return kept

    def _room(self, count: int) -> int:
        return self.width - len(INDENT) - 2 * (count - 1)

    def _widths(self, rows: list[tuple[str, ...]], cuttable: list[int]) -> list[int]:
        """Column widths that fit, as far as the columns that may be cut allow; the last column wraps by itself."""
        widths = [max(cells(row[index]) for row in rows) for index in range(len(rows[0]))]
        room = self._room(len(widths))
        last = len(widths) - 1
        giving = [index for index in cuttable if index != last]
        while sum(widths[:last]) + min(widths[last], SHORTEST_COLUMN) > room:
            # The widest gives first, so that short cells stay whole.
            widest = max(giving, key=lambda index: widths[index], default=last)
            if widest == last or widths[widest] <= SHORTEST_COLUMN:
                break
            widths[widest] -= 1
        return widths

    def _listing(self, block: Listing) -> list[str]:
        lines = []
        digits = len(str(len(block.items)))
        for index, item in enumerate(block.items, start=1):
            mark = f"{str(index).rjust(digits)}. " if block.numbered else "- "
            lines += wrap(_plain(item), self.width, indent=INDENT + mark, hanging=INDENT + " " * len(mark))
        return lines

    def _card(self, card: Card) -> list[str]:
        head = f"{MARKS[card.severity]} {SEVERITY_WORDS[card.severity]} {_plain(card.code)}: {_plain(card.title)}"
        inner = INDENT * 2
        lines = [
            self.paint(line, BOLD, SEVERITY_COLOURS[card.severity])
            for line in wrap(head, self.width, indent=INDENT, hanging=inner)
        ]
        lines += wrap(_plain(card.summary), self.width, indent=inner)
        lines += wrap(_plain(card.detail), self.width, indent=inner)
        for item in card.evidence:
            shown = wrap(_plain(item), self.width, indent=inner + "| ")
            lines += [self.paint(line, DIM) for line in shown]
        return lines

    def _candidate(self, cause: Candidate) -> list[str]:
        inner = INDENT * 2
        bar, share = _bar(cause.probability), percent(cause.probability)
        name = cut(_plain(cause.id), self.width - len(INDENT) - len(bar) - len(share) - 3)
        lines = [f"{INDENT}{self.paint(bar, BLUE)} {share}  {self.paint(name, BOLD)}"]
        lines += wrap(_plain(cause.title), self.width, indent=inner)
        lines += [self.paint(line, DIM) for line in wrap(_plain(cause.detail), self.width, indent=inner)]
        for mark, reasons in (("for", cause.supports), ("against", cause.contradicts)):
            for reason in reasons:
                start = f"{inner}{mark}: "
                lines += wrap(_plain(reason), self.width, indent=start, hanging=" " * len(start))
        return lines

    def _quote(self, block: Quote) -> list[str]:
        inner = INDENT * 2 + "| "
        quoted = [line for text in block.lines for line in wrap(_plain(text), self.width, indent=inner)]
        return [*wrap(_plain(block.where), self.width, indent=INDENT), *quoted]

    def _snippet(self, block: Snippet) -> list[str]:
        lines = wrap(_plain(block.title), self.width, indent=INDENT * 2)
        for line in block.lines:
            start = INDENT * 2 + "| " + " " * (len(line) - len(line.lstrip(" ")))
            whole = start + printable(line.lstrip(" "))
            # Only a line that does not fit is broken: what is copied should stay as it is.
            lines += [whole] if cells(whole) <= self.width else wrap(_plain(line), self.width, indent=start)
        return lines


def _plain(text: Inline) -> str:
    """Text that cannot act on a terminal, on one line."""
    return printable(" ".join("".join(pieces(text)).split()))


def _bar(share: float) -> str:
    full = min(BAR_CELLS, max(0, round(share * BAR_CELLS)))
    return "█" * full + "░" * (BAR_CELLS - full)
