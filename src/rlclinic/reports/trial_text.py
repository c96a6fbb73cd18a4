"""A trial for the terminal."""

from __future__ import annotations

from rlclinic.model.trial import Trial
from rlclinic.reports.text_blocks import WIDTH, page_text
from rlclinic.reports.trial_sections import TONES, change_words, trial_sections


def trial_text(trial: Trial, *, width: int = WIDTH, colour: bool = False) -> str:
    """The trial as lines of at most `width` cells."""
    lead = trial.leading
    name = f"{trial.environment} {trial.algorithm}: {change_words(lead.changes)}"
    return page_text(
        name, lead.verdict.value, TONES[lead.verdict], "", trial_sections(trial), width=width, colour=colour
    )
