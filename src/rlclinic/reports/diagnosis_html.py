"""A diagnosis as one HTML file that needs nothing else: no script, no font, no network.

Everything that comes from the run goes through `text_html`, and the page forbids scripts and loading as a second lock.
"""

from __future__ import annotations

from collections.abc import Sequence

from rlclinic.model.diagnosis import Diagnosis
from rlclinic.reports.diagnosis_charts import Picture, constant_metrics, marked, metric_pictures, return_picture
from rlclinic.reports.examination_charts import environment_pictures
from rlclinic.reports.html_blocks import block_html, document, fragment, legend_key, text_html
from rlclinic.reports.page import Page, Section, Words, pieces
from rlclinic.reports.sections import page_of
from rlclinic.reports.text import number, shorten

# Parts that are open at first: curves, and what a log says of a crash.
SHOWN = frozenset({"performance", "outlook", "environment", "logs"})
# Letters of what a folded part begins with.
HELD_WIDTH = 90
FOOT = "Made by rlclinic from the files of the run. Text of logs is quoted, not checked."


def diagnosis_html(diagnosis: Diagnosis) -> str:
    """The report as a whole HTML document."""
    return document(f"{diagnosis.run.id}: {diagnosis.verdict.value}", diagnosis_fragment(diagnosis))


def diagnosis_fragment(diagnosis: Diagnosis) -> str:
    """The same as a piece of HTML that can stand inside a page, such as the output of a notebook cell."""
    page = page_of(diagnosis)
    sections = "\n".join(_section(section, diagnosis) for section in page.sections)
    return fragment(_head(page) + _contents(page.sections), sections, FOOT)


def _head(page: Page) -> str:
    verdict = f'<span class="verdict {page.tone}">{page.verdict.value}</span>'
    answer = f'<div class="answer">{block_html(page.answer)}</div>'
    return f"<header><h1>{text_html(page.run_id)} {verdict}</h1>{answer}</header>"


def _contents(sections: Sequence[Section]) -> str:
    entries = "".join(f'<li><a href="#{section.key}">{section.title}</a></li>' for section in sections)
    return f'<nav aria-label="Contents"><ul>{entries}</ul></nav>' if entries else ""


def _section(section: Section, diagnosis: Diagnosis) -> str:
    """A part below the answer: open at first is what shows how the run went; the rest says what it holds.

    The link of the contents leads into the part, which makes a browser open it.
    """
    blocks = "".join(block_html(block) for block in section.blocks)
    if section.key == "performance":
        blocks = _returns(diagnosis) + blocks
    if section.key == "environment":
        blocks = environment_pictures(diagnosis.environment) + blocks
    if section.key == "metrics":
        blocks += _metrics(diagnosis)
    # Of a language model the metrics are its performance, and no appendix.
    shown = section.key in SHOWN or (section.key == "metrics" and not section.appendix)
    state, held = (" open", "") if shown else ("", _held(section))
    head = f"<summary><h2>{section.title}</h2>{held}</summary>"
    return f'<details{state}>{head}<div id="{section.key}">{blocks}</div></details>'


def _held(section: Section) -> str:
    """What a folded part begins with, where that is a sentence."""
    first = section.blocks[0]
    if not isinstance(first, Words):
        return ""
    told = "".join(pieces(first.text))
    # The number of a recommendation is no sentence of its own.
    whole = told if first.leads else told.partition(". ")[0]
    return f' <span class="held">{text_html(shorten(whole.rstrip("."), HELD_WIDTH))}</span>'


def _returns(diagnosis: Diagnosis) -> str:
    picture = return_picture(diagnosis)
    if picture is None:
        return ""
    entries = [legend_key(f"line line-{index}", name) for index, name in enumerate(picture.logged_as)]
    if diagnosis.goal is not None:
        entries.append(legend_key("goal", f"goal: {diagnosis.goal.origin}"))
    entries += [
        legend_key(f"mark {item.severity.value}", f"{item.code} since step {number(item.onset_step)}: {item.title}")
        for item in marked(diagnosis)
    ]
    caption = f"<figcaption>{text_html(picture.title)} <span>{text_html(picture.remark)}</span></figcaption>"
    both = f'<div class="wide">{picture.svg}</div><div class="phone">{picture.on_phone}</div>'
    return f'<figure>{caption}{both}</figure><ul class="legend">{"".join(entries)}</ul>'


def _metrics(diagnosis: Diagnosis) -> str:
    pictures, constant = metric_pictures(diagnosis), constant_metrics(diagnosis)
    flat = f'<p class="note">Constant: {text_html(", ".join(constant))}.</p>' if constant else ""
    if not pictures:
        return flat
    note = "Vertical lines mark where a finding began; red ticks at the bottom are values that are not finite."
    charts = "".join(_figure(picture) for picture in pictures)
    return f'<div class="charts">{charts}</div><p class="note">{note}</p>{flat}'


def _figure(picture: Picture) -> str:
    names = ", ".join(f"<code>{text_html(name)}</code>" for name in picture.logged_as)
    remark = f", {text_html(picture.remark)}" if picture.remark else ""
    caption = f"<figcaption>{text_html(picture.title)} <span>{names}{remark}</span></figcaption>"
    return f"<figure>{caption}{picture.svg}</figure>"
