"""A trial as sections of a page: the verdict on each change, its effects, every run, and what went wrong."""

from __future__ import annotations

import math

import numpy as np

from rlclinic.model.numbers import percent
from rlclinic.model.prescription import Change
from rlclinic.model.trial import BASELINE, ArmResult, Effect, Outcome, OutcomeState, Trial, TrialVerdict
from rlclinic.model.vocabulary import steps_of
from rlclinic.model.words import sentence
from rlclinic.reports.page import Block, Code, Facts, Inline, Listing, Section, Table, Tone, Words
from rlclinic.reports.text import number, sparkline

TONES: dict[TrialVerdict, Tone] = {
    TrialVerdict.PROVED: "good",
    TrialVerdict.REFUTED: "bad",
    TrialVerdict.INCONCLUSIVE: "caution",
}
EFFECT_WORDS = {
    "auc": "mean return over the budget",
    "final-return": "final return",
    "steps-to-threshold": "steps to the threshold",
    "wall-time": "wall time (s)",
}
CURVE_WIDTH = 24


def trial_sections(trial: Trial) -> tuple[Section, ...]:
    """The sections of a trial's page."""
    sections = [Section("setup", "Experiment", (_setup(trial),))]
    for arm in trial.arms:
        title = "Effect of the change" if len(trial.arms) == 1 else f"Effect of {arm.name}"
        sections.append(Section(arm.name, title, tuple(_arm(arm))))
    sections.append(Section("runs", "Runs", (_runs(trial),)))
    if trial.notes:
        sections.append(Section("notes", "Notes", (Listing(tuple(trial.notes)),)))
    return tuple(sections)


def change_words(changes: tuple[Change, ...]) -> str:
    """The changes in one line."""
    return ", ".join(f"{change.key} {_value(change.before)} -> {_value(change.after)}" for change in changes)


def _setup(trial: Trial) -> Facts:
    goal = number(trial.threshold) if trial.threshold is not None else "not known"
    return Facts(
        (
            ("trial", trial.id),
            ("run", trial.run),
            ("task", ", ".join(part for part in (trial.environment, trial.algorithm) if part) or "not known"),
            ("budget", f"{number(trial.budget)} {steps_of(trial.algorithm)} for every run"),
            ("seeds", f"{len(trial.seeds)}, the same for every arm"),
            ("threshold", goal),
        )
    )


def _arm(arm: ArmResult) -> list[Block]:
    rows = tuple(_effect_row(effect) for effect in arm.effects)
    header = ("measure", "before", "after", "95% interval of the difference", "P(better)")
    return [
        Words((f"{arm.verdict.value}: ", Code(change_words(arm.changes))), leads=True),
        Words(sentence(arm.reason)),
        Table(header, rows, right=frozenset({1, 2, 4})),
    ]


def _effect_row(effect: Effect) -> tuple[Inline, ...]:
    return (
        EFFECT_WORDS.get(effect.metric, effect.metric),
        number(effect.before),
        number(effect.after),
        f"{number(effect.low)} to {number(effect.high)}",
        percent(effect.improvement) if math.isfinite(effect.improvement) else "",
    )


def _runs(trial: Trial) -> Table:
    names = [BASELINE, *(arm.name for arm in trial.arms)]
    ordered = sorted(trial.outcomes, key=lambda outcome: (names.index(outcome.arm), outcome.seed))
    header = ("arm", "seed", "final", "mean", "to threshold", "curve")
    return Table(
        header,
        tuple(_run_row(outcome, trial.threshold) for outcome in ordered),
        right=frozenset({1, 2, 3, 4}),
        drop=(5,),
    )


def _run_row(outcome: Outcome, threshold: float | None) -> tuple[Inline, ...]:
    if outcome.state is not OutcomeState.DONE:
        return (outcome.arm, str(outcome.seed), outcome.state.value, "", "", "")
    missed = "never" if threshold is not None else ""
    reached = number(outcome.steps_to_threshold) if outcome.steps_to_threshold is not None else missed
    curve = sparkline(np.array([value for _, value in outcome.curve]), CURVE_WIDTH)
    return (outcome.arm, str(outcome.seed), number(outcome.final_return), number(outcome.auc), reached, curve)


def _value(value: object) -> str:
    return number(value) if isinstance(value, float) else str(value)
