"""How rules write steps, counts and quotations."""

from __future__ import annotations

import re

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.return_curve import ReturnCurve
from rlclinic.model.run import Run
from rlclinic.model.series import StepAxis

# Longest quotation from a log inside a one-line summary, in characters.
QUOTED = 140

_NOUNS: dict[StepAxis, str] = {
    "env_steps": "env steps",
    "updates": "updates",
    "iterations": "iterations",
    "epochs": "epochs",
    "episodes": "episodes",
    "tokens": "tokens",
    "seconds": "seconds",
    "rows": "logged rows",
}


def steps_text(facts: RunFacts, steps: float) -> str:
    """A number of steps of the main axis: `40,960 env steps`."""
    whole = steps >= 1 or not steps
    return f"{steps:,.0f} {_NOUNS[axis_of(facts)]}" if whole else f"{steps:.3g} {_NOUNS[axis_of(facts)]}"


def axis_of(facts: RunFacts) -> StepAxis:
    """What the steps of the return count; the run's own axis where there is no return."""
    returns = facts.run.returns
    return returns.axis if returns is not None else facts.run.step_axis


def first_level_words(curve: ReturnCurve) -> str:
    """The level that a return began with, as the rest of a sentence."""
    level = curve.first_level
    held = level <= curve.established
    return f"was at {level:.4g} or above for the first fifth of the run" if held else f"began at {level:.4g}"


def quoted(text: str) -> str:
    """A passage of a log on one line, cut where it is long, without control characters."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return f'"{line}"' if len(line) <= QUOTED else f'"{line[: QUOTED - 3]}..."'


def words_at_the_end(run: Run, pattern: re.Pattern[str]) -> tuple[str, str] | None:
    """The line that fits in what ended the run or, beside it, in the errors of its log, and where that is."""
    line, where = _first(pattern, run.status.reason), "why the run ended"
    for excerpt in run.logs:
        found = _first(pattern, excerpt.text) if excerpt.kind != "warning" else None
        if found is not None and line in {None, found}:
            return found, f"{excerpt.file}, line {excerpt.line}"
    return (line, where) if line is not None else None


def _first(pattern: re.Pattern[str], text: str) -> str | None:
    return next((line for line in text.splitlines() if pattern.search(line)), None)
