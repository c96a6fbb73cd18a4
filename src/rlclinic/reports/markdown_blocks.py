"""The blocks of a page as GitHub markdown."""

from __future__ import annotations

from collections.abc import Sequence

from rlclinic.model.finding import Severity
from rlclinic.model.numbers import percent
from rlclinic.reports.markdown_words import cell, code, escaped, fenced, paragraph, words
from rlclinic.reports.page import Block, Candidate, Card, Facts, Listing, Quote, Section, Snippet, Table, Words
from rlclinic.reports.sections import SEVERITY_WORDS

BAR_CELLS = 20
MARKS = {Severity.ERROR: "❌", Severity.WARNING: "⚠️", Severity.INFO: "ℹ️"}


def page_markdown(title: str, lead: Block | str, sections: Sequence[Section]) -> str:
    """A page: its title, what leads, then the sections; an appendix is folded."""
    parts = [f"# {words(title)}"]
    parts += ["\n".join(_lines(Words(lead) if isinstance(lead, str) else lead))] if lead else []
    for section in sections:
        parts += _folded(section) if section.appendix else _open(section)
    return "\n\n".join(parts) + "\n"


def _open(section: Section) -> list[str]:
    return [f"## {words(section.title)}", *_blocks(section)]


def _folded(section: Section) -> list[str]:
    return [f"<details><summary>{escaped(section.title)}</summary>", *_blocks(section), "</details>"]


def _blocks(section: Section) -> list[str]:
    return ["\n".join(_lines(block)) for block in section.blocks]


def _lines(block: Block) -> list[str]:
    if isinstance(block, Words):
        return [f"**{paragraph(block.text)}**" if block.leads else paragraph(block.text)]
    if isinstance(block, Facts):
        return ["| | |", "|---|---|", *(f"| {cell(label)} | {cell(value)} |" for label, value in block.rows)]
    if isinstance(block, Table):
        return _table(block)
    if isinstance(block, Listing):
        marks = [f"{index}." if block.numbered else "-" for index in range(1, len(block.items) + 1)]
        return [f"{mark} {paragraph(item)}" for mark, item in zip(marks, block.items, strict=True)]
    if isinstance(block, Card):
        return _card(block)
    if isinstance(block, Candidate):
        return _candidate(block)
    if isinstance(block, Snippet):
        return [paragraph(block.title), "", *fenced(block.lines, block.language or "text")]
    return _quote(block)


def _table(block: Table) -> list[str]:
    rules = ["---:" if index in block.right else "---" for index in range(len(block.header))]
    rows = [block.header, *block.rows]
    lines = ["| " + " | ".join(cell(text) for text in row) + " |" for row in rows]
    return [lines[0], "|" + "|".join(rules) + "|", *lines[1:]]


def _card(card: Card) -> list[str]:
    mark = f"{MARKS[card.severity]} {SEVERITY_WORDS[card.severity].capitalize()}"
    head = [f"### {mark} {words(card.code)}: {words(card.title)}", "", paragraph(card.summary), ""]
    return [*head, f"- {words(card.detail)}", *(f"- {words(item)}" for item in card.evidence)]


def _candidate(cause: Candidate) -> list[str]:
    full = min(BAR_CELLS, max(0, round(cause.probability * BAR_CELLS)))
    bar = "█" * full + "░" * (BAR_CELLS - full)
    title = f": {words(cause.title)}" if cause.title else ""
    lines = [f"`{bar}` **{percent(cause.probability)}** {code(cause.id)}{title}", "", f"- {words(cause.detail)}"]
    lines += [f"- for: {words(reason)}" for reason in cause.supports]
    return lines + [f"- against: {words(reason)}" for reason in cause.contradicts]


def _quote(block: Quote) -> list[str]:
    return [f"{code(block.where)}", "", *fenced(block.lines)]
