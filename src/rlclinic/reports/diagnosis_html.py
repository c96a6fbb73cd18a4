"""A diagnosis as one HTML file that needs nothing else: no script, no font, no network.

Everything that comes from the run goes through `text_html`, and the page forbids scripts and loading as a second lock.
"""

from __future__ import annotations

from rlclinic.model.diagnosis import Diagnosis
from rlclinic.reports.diagnosis_charts import Picture, marked, metric_pictures, return_picture
from rlclinic.reports.examination_charts import environment_pictures
from rlclinic.reports.html_blocks import block_html, document, fragment, legend_key, text_html
from rlclinic.reports.page import Page, Section
from rlclinic.reports.sections import page_of
from rlclinic.reports.text import number

FOOT = "Made by rlclinic from the files of the run. Text of logs is quoted, not checked."


def diagnosis_html(diagnosis: Diagnosis) -> str:
    """The report as a whole HTML document."""
    return document(f"{diagnosis.run.id}: {diagnosis.verdict.value}", diagnosis_fragment(diagnosis))


def diagnosis_fragment(diagnosis: Diagnosis) -> str:
    """The same as a piece of HTML that can stand inside a page, such as the output of a notebook cell."""
    page = page_of(diagnosis)
    sections = "\n".join(_section(section, diagnosis) for section in page.sections)
    return fragment(_head(page), sections, FOOT)


def _head(page: Page) -> str:
    verdict = f'<span class="verdict {page.tone}">{page.verdict.value}</span>'
    return f'<header><h1>{text_html(page.run_id)} {verdict}</h1><p class="reason">{text_html(page.reason)}</p></header>'


def _section(section: Section, diagnosis: Diagnosis) -> str:
    blocks = "".join(block_html(block) for block in section.blocks)
    if section.appendix:
        return f'<details id="{section.key}"><summary>{section.title}</summary>{blocks}</details>'
    if section.key == "performance":
        blocks = _returns(diagnosis) + blocks
    if section.key == "environment":
        blocks = environment_pictures(diagnosis.environment) + blocks
    if section.key == "metrics":
        blocks += _metrics(diagnosis)
    return f'<section id="{section.key}"><h2>{section.title}</h2>{blocks}</section>'


def _returns(diagnosis: Diagnosis) -> str:
    picture = return_picture(diagnosis)
    if picture is None:
        return ""
    entries = [legend_key(f"line line-{index}", name) for index, name in enumerate(picture.logged_as)]
    if diagnosis.run.threshold is not None:
        entries.append(legend_key("goal", "threshold"))
    entries += [
        legend_key(f"mark {item.severity.value}", f"{item.code} since step {number(item.onset_step)}: {item.title}")
        for item in marked(diagnosis)
    ]
    caption = f"<figcaption>{text_html(picture.title)} <span>{text_html(picture.remark)}</span></figcaption>"
    return f'<figure class="wide">{caption}{picture.svg}</figure><ul class="legend">{"".join(entries)}</ul>'


def _metrics(diagnosis: Diagnosis) -> str:
    pictures = metric_pictures(diagnosis)
    if not pictures:
        return ""
    note = "Vertical lines mark where a finding began; red ticks at the bottom are values that are not finite."
    return f'<div class="charts">{"".join(_figure(picture) for picture in pictures)}</div><p class="note">{note}</p>'


def _figure(picture: Picture) -> str:
    names = ", ".join(f"<code>{text_html(name)}</code>" for name in picture.logged_as)
    remark = f", {text_html(picture.remark)}" if picture.remark else ""
    caption = f"<figcaption>{text_html(picture.title)} <span>{names}{remark}</span></figcaption>"
    return f"<figure>{caption}{picture.svg}</figure>"
