"""What a report says of a return, a goal and steps are the fields of its diagnosis, in every sentence and format."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from rlclinic.engine import FAILURES
from rlclinic.model.answer import GO_ON, TRAIN_LONGER
from rlclinic.model.diagnosis import Diagnosis
from rlclinic.model.prescription import Priority
from rlclinic.readers.discover import find
from rlclinic.reports.formats import Context, find_format, render
from rlclinic.reports.text import number
from tests.conftest import RUNS, diagnosis_of
from tests.test_sentences import NUMBER, sentences

CLOSE = 6e-3
"""Relative: sentences round to three or four digits."""
RECORDED = sorted(str(Path(ref.name).relative_to(RUNS)) for ref in find(RUNS))


def fields(told: Diagnosis) -> Iterator[tuple[str, set[float]]]:
    """How sentences name a number of a return, and the values that it may have."""
    curves = told.curves.values()
    start, final = {curve.start for curve in curves}, {curve.final for curve in curves}
    goal = {told.goal.level} if told.goal is not None else set()
    names = "|".join(re.escape(told.run.series[name].logged_as) for name in told.curves) or "$^"
    # Beside another metric that moved from a step on, the return is told from there on.
    whole = "(?<!at the end while )the return"
    yield rf"(?:{names}|{whole}) (?:went|climbed|rose) from {NUMBER} (?:and|to)", start
    yield rf"(?:{names}) began at {NUMBER}", start
    yield rf"(?:{names}|last third of the run \([^)]*\) and) ended at {NUMBER}", final
    yield rf"{whole} went from {NUMBER} to {NUMBER}(?! and)", final
    yield rf"the evaluations end at {NUMBER}", final
    yield rf"\(best {NUMBER}\)", {curve.best for curve in curves}
    yield rf"(?:below|above) the goal of {NUMBER}", goal
    yield rf"the goal is {NUMBER}", goal
    yield rf"this one took {NUMBER}", {told.run.steps}


def disagreements(told: Diagnosis, text: str) -> list[str]:
    """Numbers in a text that are no field of the diagnosis."""
    found = []
    for pattern, values in fields(told):
        for match in re.finditer(pattern, text):
            said = float(match[match.re.groups].replace(",", "").rstrip("."))
            if not any(abs(said - value) <= CLOSE * max(abs(value), 1e-3) for value in values):
                found.append(f"{match[0]} (not {', '.join(f'{value:.4g}' for value in values)})")
    return found


def test_a_disagreement_is_found() -> None:
    told = diagnosis_of("sb3/ppo_cartpole_high_lr")
    assert disagreements(told, "the return went from 25.58 (best 87.31) to 9.377; below the goal of 475") == []
    assert len(disagreements(told, "KL is 1 and the return went from 25.58 to 12.1")) == 1
    assert len(disagreements(told, "rollout/ep_rew_mean ended at 9.9, below the goal of 500")) == 2


@pytest.mark.parametrize("run", RECORDED)
def test_every_sentence_about_the_return_tells_the_fields_of_the_diagnosis(run: str) -> None:
    told = diagnosis_of(run)
    assert [wrong for text in sentences(told) for wrong in disagreements(told, text)] == []


@pytest.mark.parametrize("run", RECORDED)
def test_no_report_contradicts_itself(run: str) -> None:
    """Levels, verdict, cause, change and what comes after it are of one mind."""
    told = diagnosis_of(run)
    for curve in told.curves.values():
        assert curve.best >= max(curve.start, curve.final)
    lines = {line.label: line.text for line in told.answer.lines}
    change = lines.get("Change", lines.get("Test first", ""))
    assert change.rstrip(".").lower() != lines.get("If not that", "").rstrip(".").lower()
    assert len(set(told.next_steps)) == len(told.next_steps)
    if told.finds_nothing:
        assert told.verdict not in FAILURES
        assert not change.startswith(("Lower", "Raise", "Set"))
    if told.is_healthy:
        assert not any(item.priority in (Priority.CRITICAL, Priority.HIGH) for item in told.prescriptions)
    if change in (GO_ON, TRAIN_LONGER):
        assert told.finds_nothing
    ways: dict[str, set[bool]] = {}
    for item in (one for prescription in told.prescriptions for one in prescription.changes):
        if isinstance(item.before, int | float) and isinstance(item.after, int | float):
            ways.setdefault(item.key, set()).add(item.after > item.before)
    assert [key for key, directions in ways.items() if len(directions) > 1] == []


@pytest.mark.parametrize("run", ["sb3/ppo_cartpole_high_lr", "faults/low_lr_dqn_cartpole", "trl/console_v0.17"])
def test_all_formats_tell_the_same_levels_goal_and_steps(run: str) -> None:
    told = diagnosis_of(run)
    data = json.loads(render(find_format("json"), [told], Context()))
    assert data["run"]["steps"] == told.run.steps
    assert (data["goal"] or {}).get("level") == (told.goal.level if told.goal is not None else None)
    levels = {item["metric"]: (item["start"], item["best"], item["final"]) for item in data["curves"]}
    assert levels == {name: (curve.start, curve.best, curve.final) for name, curve in told.curves.items()}
    for format_name in ("text", "markdown", "html"):
        page = render(find_format(format_name), [told], replace(Context(), detail="full"))
        shown = " ".join(re.sub(r"<[^>]*>|[|*`]", " ", page).replace("&#x27;", "'").split())
        for curve in told.curves.values():
            expected = [number(value) for value in (curve.start, curve.best, curve.best_step, curve.final)]
            assert " ".join(expected) in shown, (format_name, expected)
        assert disagreements(told, shown) == []
