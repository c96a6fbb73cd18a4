"""A diagnosis as plain text for a terminal, with colours where they are wanted."""

from __future__ import annotations

from rlclinic.model.diagnosis import Diagnosis
from rlclinic.reports.sections import page_of
from rlclinic.reports.text_blocks import WIDTH, page_text


def diagnosis_text(diagnosis: Diagnosis, *, width: int = WIDTH, colour: bool = False) -> str:
    """The report for a terminal of `width` cells."""
    page = page_of(diagnosis)
    word = page.verdict.value.upper()
    return page_text(page.run_id, word, page.tone, page.reason, page.sections, width=width, colour=colour)
