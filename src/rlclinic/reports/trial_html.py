"""A trial as one HTML file: the curves of every run over one another, the effects, the runs."""

from __future__ import annotations

import numpy as np

from rlclinic.model.trial import BASELINE, OutcomeState, Trial
from rlclinic.reports.curves import Chart, Line, svg
from rlclinic.reports.html_blocks import document, fragment, legend_key, section_html, text_html
from rlclinic.reports.html_style import MANY_CURVES
from rlclinic.reports.trial_sections import TONES, change_words, trial_sections

FOOT = "Made by rlclinic from runs it trained on paired seeds."
# Every run of an arm has the arm's colour; thin lines, because there are several.
STYLE = MANY_CURVES + ".trial path.line{stroke-width:1.1;opacity:.85}.trial circle.dot{display:none}"


def trial_html(trial: Trial) -> str:
    """The trial as a whole HTML document."""
    lead = trial.leading
    title = f"{trial.environment} {trial.algorithm}: {lead.verdict.value}"
    verdict = f'<span class="verdict {TONES[lead.verdict]}">{lead.verdict.value}</span>'
    head = (
        f"<header><h1>{text_html(f'{trial.environment} {trial.algorithm}')} {verdict}</h1>"
        f'<p class="reason">{text_html(change_words(lead.changes))}</p></header>'
    )
    sections = "\n".join(map(section_html, trial_sections(trial)))
    return document(title, fragment(head, _curves(trial) + sections, FOOT, STYLE))


def _curves(trial: Trial) -> str:
    names = [BASELINE, *(arm.name for arm in trial.arms)]
    shown = [outcome for outcome in trial.outcomes if outcome.state is OutcomeState.DONE and outcome.curve]
    lines = tuple(
        Line(
            outcome.arm,
            np.array([step for step, _ in outcome.curve]),
            np.array([value for _, value in outcome.curve]),
            colour=names.index(outcome.arm),
        )
        for outcome in shown
    )
    picture = svg(Chart("return", lines, threshold=trial.threshold, width=720, height=300))
    keys = "".join(legend_key(f"line line-{index}", name) for index, name in enumerate(names))
    figure = f'<figure class="wide trial"><figcaption>return of every run</figcaption>{picture}</figure>'
    return f'{figure}<ul class="legend">{keys}</ul>'
