"""A comparison as plain text for a terminal."""

from __future__ import annotations

from rlclinic.model.comparison import Comparison
from rlclinic.reports.compare_sections import comparison_sections, comparison_title
from rlclinic.reports.text_blocks import WIDTH, page_text


def comparison_text(comparison: Comparison, *, width: int = WIDTH, colour: bool = False) -> str:
    """The comparison for a terminal of `width` cells."""
    sections = comparison_sections(comparison)
    title = comparison_title(comparison)
    return page_text(title, "", "good", comparison.summary, sections, width=width, colour=colour)
