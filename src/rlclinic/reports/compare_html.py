"""A comparison as one HTML file that needs nothing else, with the curves of all runs in one picture."""

from __future__ import annotations

import math

import numpy as np

from rlclinic.model.comparison import AgainstReference, Comparison, RunOutcome
from rlclinic.model.series import Series
from rlclinic.reports.compare_sections import comparison_sections, comparison_title
from rlclinic.reports.curves import Chart, Line, Mark, svg
from rlclinic.reports.html_blocks import document, fragment, header_html, legend_key, section_html, text_html
from rlclinic.reports.html_style import MANY_CURVES
from rlclinic.reports.page import Section
from rlclinic.reports.performance import axis_words

# Curves in one picture; more cannot be told apart.
MOST_CURVES = 8
# Metrics that moved first and get a picture of their own.
MOST_METRICS = 6
WIDE, TALL = 1040, 280
FOOT = "Made by rlclinic from the files of the runs."


def comparison_html(comparison: Comparison) -> str:
    """The comparison as a whole HTML document."""
    title = comparison_title(comparison)
    head = header_html(title, comparison.summary)
    sections = "\n".join(_section(section, comparison) for section in comparison_sections(comparison))
    return document(title, fragment(head, sections, FOOT, MANY_CURVES))


def _section(section: Section, comparison: Comparison) -> str:
    beside = [item for at, item in enumerate(comparison.references) if section.key == f"reference-{at}-curve"]
    before = _returns(comparison) if section.key == "outcomes" else "".join(map(_in_band, beside))
    return section_html(section, before, _metrics(comparison) if section.key == "partings" else "")


def _returns(comparison: Comparison) -> str:
    found = [(outcome, outcome.run.returns) for outcome in comparison.outcomes]
    shown = [(outcome, series) for outcome, series in found if series is not None and len(series)][:MOST_CURVES]
    if not shown or len(comparison.environments) > 1 or len({series.axis for _, series in shown}) > 1:
        return ""
    levels = {outcome.threshold for outcome, _ in shown if outcome.threshold is not None}
    goal = levels.pop() if len(levels) == 1 else None
    partings = comparison.partings if len(comparison.partings) == 1 else ()
    marks = tuple(Mark(item.step, "part", "info") for item in partings if item.step is not None and not item.from_start)
    lines = tuple(Line(outcome.label, series.steps, series.values) for outcome, series in shown)
    drawn = svg(Chart("returns over steps", lines, marks, goal, width=WIDE, height=TALL))
    if not drawn:
        return ""
    keys = [legend_key(f"line line-{index}", outcome.label) for index, (outcome, _) in enumerate(shown)]
    if goal is not None and math.isfinite(goal):
        keys.append(legend_key("goal", "threshold"))
    left = len(comparison.outcomes) - len(shown)
    more = f"; {left} without a curve or beyond the first {MOST_CURVES} are not drawn" if left else ""
    caption = f"return over {axis_words(shown[0][1].axis)}{more}"
    figure = f'<figure class="wide"><figcaption>{text_html(caption)}</figcaption>{drawn}</figure>'
    return f'{figure}<ul class="legend">{"".join(keys)}</ul>'


def _in_band(item: AgainstReference) -> str:
    """The return of a run and the two ends of its band."""
    steps = np.array([point.step for point in item.curve])
    ends = (("run", "value"), ("band, lower end", "low"), ("band, upper end", "high"))
    lines = tuple(
        Line(name, steps, np.array([getattr(point, key) for point in item.curve]), colour=min(at, 1))
        for at, (name, key) in enumerate(ends)
    )
    drawn = svg(Chart("return beside its band", lines, width=WIDE, height=TALL))
    if not drawn:
        return ""
    keys = legend_key("line line-0", item.label) + legend_key("line line-1", "band of known-good runs")
    return f'<figure class="wide">{drawn}</figure><ul class="legend">{keys}</ul>'


def _metrics(comparison: Comparison) -> str:
    """The metrics that moved first, all runs in one picture each."""
    names = list(dict.fromkeys(move.metric for item in comparison.partings for move in item.moves))[:MOST_METRICS]
    figures = [figure for name in names if (figure := _metric(name, comparison.outcomes[:MOST_CURVES]))]
    return f'<div class="charts">{"".join(figures)}</div>' if figures else ""


def _metric(name: str, outcomes: tuple[RunOutcome, ...]) -> str:
    # A run without the metric keeps its place, so that colours mean the same runs in all pictures.
    lines = tuple(_line(outcome.label, outcome.run.series.get(name)) for outcome in outcomes)
    drawn = svg(Chart(f"{name} over steps", lines))
    return f"<figure><figcaption>{text_html(name)}</figcaption>{drawn}</figure>" if drawn else ""


def _line(label: str, series: Series | None) -> Line:
    return Line(label, np.empty(0), np.empty(0)) if series is None else Line(label, series.steps, series.values)
