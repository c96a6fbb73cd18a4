"""A comparison as GitHub markdown."""

from __future__ import annotations

from rlclinic.model.comparison import Comparison
from rlclinic.reports.compare_sections import comparison_sections, comparison_title
from rlclinic.reports.markdown_blocks import page_markdown


def comparison_markdown(comparison: Comparison) -> str:
    """The comparison as markdown."""
    return page_markdown(comparison_title(comparison), comparison.summary, comparison_sections(comparison))
