"""The blocks of a page as HTML, and the document around them: no script, no font, no network.

Everything that comes from a run goes through `text_html`, and the page forbids scripts and loading as a second lock.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from rlclinic.model.numbers import percent
from rlclinic.reports.html_style import STYLE
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
    Words,
    coded,
)
from rlclinic.reports.sections import SEVERITY_WORDS
from rlclinic.reports.text import printable

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"


def document(title: str, body: str) -> str:
    """A whole HTML document around a fragment; the title is plain text."""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        '<meta name="color-scheme" content="light dark"><meta name="referrer" content="no-referrer">'
        f"<title>{text_html(title)}</title><style>html,body{{margin:0}}"
        "@media (prefers-color-scheme:dark){html{background:#14171b}}@media print{html{background:#fff}}</style></head>"
        f"<body><main>{body}</main></body></html>\n"
    )


def page_html(title: str, reason: str, sections: Iterable[Section], foot: str) -> str:
    """A whole HTML document of plain sections."""
    return document(title, fragment(header_html(title, reason), "\n".join(map(section_html, sections)), foot))


def header_html(title: str, reason: str) -> str:
    """The head of a page: its title and one sentence."""
    return f'<header><h1>{text_html(title)}</h1><p class="reason">{text_html(reason)}</p></header>'


def section_html(section: Section, before: str = "", after: str = "") -> str:
    """A section, with pictures before or after its blocks."""
    blocks = "".join(map(block_html, section.blocks))
    return f'<section id="{section.key}"><h2>{text_html(section.title)}</h2>{before}{blocks}{after}</section>'


def fragment(head: str, sections: str, foot: str, style: str = "") -> str:
    """A piece of HTML that can stand inside a page, such as the output of a notebook cell."""
    return f'<div class="rlclinic"><style>{STYLE}{style}</style>\n{head}\n{sections}\n<footer>{foot}</footer></div>'


def block_html(block: Block) -> str:
    """One block."""
    if isinstance(block, Words):
        return f'<p class="{"lead" if block.leads else "note"}">{_inline(block.text)}</p>'
    if isinstance(block, Facts):
        rows = "".join(f"<dt>{text_html(label)}</dt><dd>{_inline(value)}</dd>" for label, value in block.rows)
        return f"<dl>{rows}</dl>"
    if isinstance(block, Table):
        return _table(block)
    if isinstance(block, Listing):
        tag = "ol" if block.numbered else "ul"
        return f"<{tag}>{''.join(f'<li>{_inline(item)}</li>' for item in block.items)}</{tag}>"
    if isinstance(block, Card):
        return _card(block)
    if isinstance(block, Candidate):
        return _candidate(block)
    if isinstance(block, Snippet):
        return f'<p class="note">{text_html(block.title)}</p>{_lines(block.lines)}'
    return _quote(block)


def _table(block: Table) -> str:
    styles = [' class="num"' if index in block.right else "" for index in range(len(block.header))]
    head = "".join(f'<th scope="col"{styles[index]}>{text_html(cell)}</th>' for index, cell in enumerate(block.header))
    rows = "".join(
        f"<tr>{''.join(f'<td{styles[index]}>{_inline(cell)}</td>' for index, cell in enumerate(row))}</tr>"
        for row in block.rows
    )
    return f'<div class="scroll" tabindex="0"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'


def _card(card: Card) -> str:
    style = card.severity.value
    evidence = "".join(f"<li>{_inline(item)}</li>" for item in card.evidence)
    return (
        f'<article class="card {style}"><h3><span class="tag {style}">{SEVERITY_WORDS[card.severity]} '
        f"{text_html(card.code)}</span>{_inline(card.title)}</h3><p>{_inline(card.summary)}</p>"
        f"<ul><li>{_inline(card.detail)}</li>{evidence}</ul></article>"
    )


def _candidate(cause: Candidate) -> str:
    width = 100 * min(1.0, max(0.0, cause.probability)) if cause.probability == cause.probability else 0.0
    reasons = "".join(f'<li class="for">{_inline(reason)}</li>' for reason in cause.supports)
    reasons += "".join(f'<li class="against">{_inline(reason)}</li>' for reason in cause.contradicts)
    title = f"<p>{text_html(cause.title)}</p>" if cause.title else ""
    return (
        f'<div class="cause"><h3><span class="bar"><span style="width:{width:.1f}%"></span></span>'
        f'<span class="share">{percent(cause.probability)}</span><code>{text_html(cause.id)}</code></h3>{title}'
        f'<p class="note">{text_html(cause.detail)}</p>{f"<ul>{reasons}</ul>" if reasons else ""}</div>'
    )


def _quote(block: Quote) -> str:
    return f'<p class="note"><code>{text_html(block.where)}</code></p>{_lines(block.lines)}'


def _lines(lines: tuple[str, ...]) -> str:
    shown = "\n".join(escape(printable(line), quote=True) for line in lines)
    return f"<pre>{shown}</pre>"


def legend_key(style: str, words: str) -> str:
    """One entry of a legend: a sample of the line and what it is."""
    sample = "M13 0V10" if style.startswith("mark") else "M0 5H26"
    picture = f'<svg viewBox="0 0 26 10" aria-hidden="true"><path class="{style}" d="{sample}"/></svg>'
    return f"<li>{picture}{text_html(words)}</li>"


def _inline(text: Inline) -> str:
    return "".join(
        f"<code>{text_html(piece)}</code>" if isinstance(piece, Code) else text_html(piece) for piece in coded(text)
    )


def text_html(text: str) -> str:
    """Text that is only text: no markup, no attribute end, no invisible or direction-changing character."""
    begins, ends = text[:1].isspace(), text[-1:].isspace()
    flat = printable(" ".join(text.split()))
    return f"{' ' if begins else ''}{escape(flat, quote=True)}{' ' if ends else ''}"
