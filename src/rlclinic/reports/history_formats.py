"""A history as text, markdown and HTML."""

from __future__ import annotations

from rlclinic.model.history import History
from rlclinic.reports.history_sections import history_sections, history_summary, history_title
from rlclinic.reports.html_blocks import page_html
from rlclinic.reports.markdown_blocks import page_markdown
from rlclinic.reports.text_blocks import WIDTH, page_text

FOOT = "Made by rlclinic from the files of the runs."


def history_text(history: History, *, width: int = WIDTH, colour: bool = False) -> str:
    """The history for a terminal of `width` cells."""
    title, reason = history_title(history), history_summary(history)
    return page_text(title, "", "good", reason, history_sections(history), width=width, colour=colour)


def history_markdown(history: History) -> str:
    """The history as markdown."""
    return page_markdown(history_title(history), history_summary(history), history_sections(history))


def history_html(history: History) -> str:
    """The history as a whole HTML document."""
    return page_html(history_title(history), history_summary(history), history_sections(history), FOOT)
