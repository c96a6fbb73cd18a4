"""A diagnosis as one HTML file that needs nothing else: no script, no font, no network.

Everything that comes from the run goes through `_text`, and the page forbids scripts and loading as a second lock.
"""

from __future__ import annotations

from html import escape

from rlclinic.model.diagnosis import Diagnosis
from rlclinic.reports.diagnosis_charts import Picture, marked, metric_pictures, return_picture
from rlclinic.reports.html_style import STYLE
from rlclinic.reports.page import (
    Block,
    Candidate,
    Card,
    Code,
    Facts,
    Inline,
    Listing,
    Page,
    Quote,
    Section,
    Table,
    Words,
    percent,
    pieces,
)
from rlclinic.reports.sections import SEVERITY_WORDS, page_of
from rlclinic.reports.text import number, printable

POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def diagnosis_html(diagnosis: Diagnosis) -> str:
    """The report as a whole HTML document."""
    title = _text(f"{diagnosis.run.id}: {diagnosis.verdict.value}")
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        '<meta name="color-scheme" content="light dark"><meta name="referrer" content="no-referrer">'
        f"<title>{title}</title><style>html,body{{margin:0}}"
        "@media (prefers-color-scheme:dark){html{background:#14171b}}@media print{html{background:#fff}}</style></head>"
        f"<body>{diagnosis_fragment(diagnosis)}</body></html>\n"
    )


def diagnosis_fragment(diagnosis: Diagnosis) -> str:
    """The same as a piece of HTML that can stand inside a page, such as the output of a notebook cell."""
    page = page_of(diagnosis)
    sections = "\n".join(_section(section, diagnosis) for section in page.sections)
    return f'<div class="rlclinic"><style>{STYLE}</style>\n{_head(page)}\n{sections}\n{_foot()}</div>'


def _head(page: Page) -> str:
    verdict = f'<span class="verdict {page.tone}">{page.verdict.value}</span>'
    return f'<header><h1>{_text(page.run_id)} {verdict}</h1><p class="reason">{_text(page.reason)}</p></header>'


def _foot() -> str:
    return "<footer>Made by rlclinic from the files of the run. Text of logs is quoted, not checked.</footer>"


def _section(section: Section, diagnosis: Diagnosis) -> str:
    blocks = "".join(_block(block) for block in section.blocks)
    if section.appendix:
        return f'<details id="{section.key}"><summary>{section.title}</summary>{blocks}</details>'
    if section.key == "performance":
        blocks = _returns(diagnosis) + blocks
    if section.key == "metrics":
        blocks += _metrics(diagnosis)
    return f'<section id="{section.key}"><h2>{section.title}</h2>{blocks}</section>'


def _block(block: Block) -> str:
    if isinstance(block, Words):
        return f'<p class="{"lead" if block.leads else "note"}">{_inline(block.text)}</p>'
    if isinstance(block, Facts):
        rows = "".join(f"<dt>{_text(label)}</dt><dd>{_inline(value)}</dd>" for label, value in block.rows)
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
    return _quote(block)


def _table(block: Table) -> str:
    styles = [' class="num"' if index in block.right else "" for index in range(len(block.header))]
    head = "".join(f"<th{styles[index]}>{_text(cell)}</th>" for index, cell in enumerate(block.header))
    rows = "".join(
        f"<tr>{''.join(f'<td{styles[index]}>{_inline(cell)}</td>' for index, cell in enumerate(row))}</tr>"
        for row in block.rows
    )
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'


def _card(card: Card) -> str:
    style = card.severity.value
    evidence = "".join(f"<li>{_inline(item)}</li>" for item in card.evidence)
    return (
        f'<article class="card {style}"><h3><span class="tag {style}">{SEVERITY_WORDS[card.severity]} '
        f"{_text(card.code)}</span>{_text(card.title)}</h3><p>{_text(card.summary)}</p>"
        f"<ul><li>{_text(card.detail)}</li>{evidence}</ul></article>"
    )


def _candidate(cause: Candidate) -> str:
    width = 100 * min(1.0, max(0.0, cause.probability)) if cause.probability == cause.probability else 0.0
    reasons = "".join(f'<li class="for">{_text(reason)}</li>' for reason in cause.supports)
    reasons += "".join(f'<li class="against">{_text(reason)}</li>' for reason in cause.contradicts)
    title = f"<p>{_text(cause.title)}</p>" if cause.title else ""
    return (
        f'<div class="cause"><h3><span class="bar"><span style="width:{width:.1f}%"></span></span>'
        f'<span class="share">{percent(cause.probability)}</span><code>{_text(cause.id)}</code></h3>{title}'
        f'<p class="note">{_text(cause.detail)}</p>{f"<ul>{reasons}</ul>" if reasons else ""}</div>'
    )


def _quote(block: Quote) -> str:
    lines = "\n".join(escape(printable(line), quote=True) for line in block.lines)
    return f'<p class="note"><code>{_text(block.where)}</code></p><pre>{lines}</pre>'


def _returns(diagnosis: Diagnosis) -> str:
    picture = return_picture(diagnosis)
    if picture is None:
        return ""
    entries = [_key(f"line line-{index}", name) for index, name in enumerate(picture.logged_as)]
    if diagnosis.run.threshold is not None:
        entries.append(_key("goal", "threshold"))
    entries += [
        _key(f"mark {item.severity.value}", f"{item.code} since step {number(item.onset_step)}: {item.title}")
        for item in marked(diagnosis)
    ]
    caption = f"<figcaption>{_text(picture.title)} <span>{_text(picture.remark)}</span></figcaption>"
    return f'<figure class="wide">{caption}{picture.svg}</figure><ul class="legend">{"".join(entries)}</ul>'


def _metrics(diagnosis: Diagnosis) -> str:
    pictures = metric_pictures(diagnosis)
    if not pictures:
        return ""
    note = "Vertical lines mark where a finding began; red ticks at the bottom are values that are not finite."
    return f'<div class="charts">{"".join(_figure(picture) for picture in pictures)}</div><p class="note">{note}</p>'


def _figure(picture: Picture) -> str:
    names = ", ".join(f"<code>{_text(name)}</code>" for name in picture.logged_as)
    remark = f", {_text(picture.remark)}" if picture.remark else ""
    return f"<figure><figcaption>{_text(picture.title)} <span>{names}{remark}</span></figcaption>{picture.svg}</figure>"


def _key(style: str, words: str) -> str:
    sample = "M13 0V10" if style.startswith("mark") else "M0 5H26"
    return (
        f'<li><svg viewBox="0 0 26 10" aria-hidden="true"><path class="{style}" d="{sample}"/></svg>{_text(words)}</li>'
    )


def _inline(text: Inline) -> str:
    return "".join(
        f"<code>{_text(piece)}</code>" if isinstance(piece, Code) else _text(piece) for piece in pieces(text) if piece
    )


def _text(text: str) -> str:
    """Text that is only text: no markup, no attribute end, no invisible or direction-changing character."""
    begins, ends = text[:1].isspace(), text[-1:].isspace()
    flat = printable(" ".join(text.split()))
    return f"{' ' if begins else ''}{escape(flat, quote=True)}{' ' if ends else ''}"
