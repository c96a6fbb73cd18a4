"""A diagnosis as GitHub markdown, for a comment or a report.md."""

from __future__ import annotations

from rlclinic.model.diagnosis import Diagnosis
from rlclinic.model.finding import Severity
from rlclinic.reports.markdown_words import cell, code, fenced, paragraph, words
from rlclinic.reports.page import Block, Candidate, Card, Facts, Listing, Quote, Section, Table, Words, percent
from rlclinic.reports.sections import SEVERITY_WORDS, page_of

BAR_CELLS = 20
MARKS = {Severity.ERROR: "❌", Severity.WARNING: "⚠️", Severity.INFO: "ℹ️"}


def diagnosis_markdown(diagnosis: Diagnosis) -> str:
    """The report as markdown."""
    page = page_of(diagnosis)
    parts = [f"# {words(page.run_id)}: {page.verdict.value}", paragraph(page.reason)]
    for section in page.sections:
        parts += _folded(section) if section.appendix else _open(section)
    return "\n\n".join(parts) + "\n"


def _open(section: Section) -> list[str]:
    return [f"## {section.title}", *_blocks(section)]


def _folded(section: Section) -> list[str]:
    return [f"<details><summary>{section.title}</summary>", *_blocks(section), "</details>"]


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
