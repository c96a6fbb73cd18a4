"""A diagnosis as plain text for a terminal, with colours where they are wanted."""

from __future__ import annotations

from rlclinic.model.diagnosis import Diagnosis
from rlclinic.reports.page import Detail
from rlclinic.reports.sections import page_of
from rlclinic.reports.text_blocks import WIDTH, page_text


def diagnosis_text(diagnosis: Diagnosis, *, width: int = WIDTH, colour: bool = False, detail: Detail = "normal") -> str:
    """The report for a terminal of `width` cells: the answer first."""
    page = page_of(diagnosis)
    return page_text(
        page.run_id,
        page.verdict.value.upper(),
        page.tone,
        page.answer,
        () if detail == "brief" else page.sections,
        width=width,
        colour=colour,
        everything=detail == "full",
    )
