"""A diagnosis as GitHub markdown, for a comment or a report.md."""

from __future__ import annotations

from rlclinic.model.diagnosis import Diagnosis
from rlclinic.reports.markdown_blocks import page_markdown
from rlclinic.reports.sections import page_of


def diagnosis_markdown(diagnosis: Diagnosis) -> str:
    """The report as markdown."""
    page = page_of(diagnosis)
    return page_markdown(f"{page.run_id}: {page.verdict.value}", page.reason, page.sections)
