"""A diagnosis as GitHub markdown, for a comment or a report.md."""

from __future__ import annotations

from rlclinic.model.diagnosis import Diagnosis
from rlclinic.reports.markdown_blocks import page_markdown
from rlclinic.reports.page import Detail
from rlclinic.reports.sections import page_of


def diagnosis_markdown(diagnosis: Diagnosis, *, detail: Detail = "normal") -> str:
    """The report as markdown: the answer first."""
    page = page_of(diagnosis)
    sections = () if detail == "brief" else page.sections
    return page_markdown(f"{page.run_id}: {page.verdict.value}", page.answer, sections)
