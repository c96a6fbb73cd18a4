"""What is prescribed first for the fault runs, and whether it undoes the fault: `python -m bench.prescriptions`.

Three shares of the runs whose fault a setting undoes: the first prescription is that change; it is the first change,
behind a test; it is among the three that lead. Beside them the false prescriptions on healthy runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from rlclinic.engine import diagnose
from rlclinic.model.diagnosis import Diagnosis
from rlclinic.model.prescription import Change, Prescription, PrescriptionKind, Priority

RUNS = Path(__file__).parents[1] / "tests" / "fixtures" / "runs"
NAME_WIDTH, TEXT_WIDTH = 30, 70
# Marks of the table, the best first.
FIRST, BEHIND_TEST, LATER, MISSED = "first", "behind a test", "later", "missed"
TREATED, UNTREATED = "treats", "other"
QUIET, ALARM = "quiet", "ALARM"


def main() -> dict[str, float]:
    """Print one line per run and the shares; return the shares."""
    undoing = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
    cases = yaml.safe_load((RUNS / "faults" / "cases.yaml").read_text(encoding="utf-8"))
    marks = []
    for case in cases:
        diagnosis = diagnose(RUNS / case["path"])
        name = Path(case["path"]).name
        marks.append(_mark(diagnosis, case, undoing.get(name)))
        print(f"{name:{NAME_WIDTH}s} {marks[-1]:14s}{diagnosis.verdict.value:14s} {_lead(diagnosis)}")
    shares = {
        "the first prescription undoes the fault": _share(marks, {FIRST}, {BEHIND_TEST, LATER, MISSED}),
        "the first change undoes the fault, a test may precede": _share(marks, {FIRST, BEHIND_TEST}, {LATER, MISSED}),
        "a leading prescription undoes the fault": _share(marks, {FIRST, BEHIND_TEST, LATER}, {MISSED}),
        "a fault of code or task: a leading prescription treats it": _share(marks, {TREATED}, {UNTREATED}),
        "false prescriptions on healthy runs": _share(marks, {ALARM}, {QUIET}),
    }
    for text, share in shares.items():
        print(f"{text}: {share:.3f}")
    return shares


def _mark(diagnosis: Diagnosis, case: dict[str, Any], undoing: dict[str, str] | None) -> str:
    made = diagnosis.prescriptions
    if case["healthy"]:
        return ALARM if len(made) > 1 or any(item.priority is not Priority.LOW for item in made) else QUIET
    if undoing is None:
        return TREATED if any(set(item.causes) & set(case["accepted_causes"]) for item in made) else UNTREATED
    places = [index for index, item in enumerate(made) if _undoes(item, undoing)]
    if not places:
        return MISSED
    tests = [item.kind is PrescriptionKind.CHECK for item in made[: places[0]]]
    return FIRST if not tests else BEHIND_TEST if all(tests) else LATER


def _undoes(item: Prescription, undoing: dict[str, str]) -> bool:
    return any(undoing.get(change.key) in (_direction(change), "set") for change in item.changes)


def _direction(change: Change) -> str:
    before, after = change.before, change.after
    if after is None:
        # A limit that is taken away is as far up as it goes.
        return "up"
    if isinstance(before, int | float) and isinstance(after, int | float):
        return "up" if after > before else "down"
    return "set"


def _lead(diagnosis: Diagnosis) -> str:
    causes = [cause for cause in diagnosis.causes if cause.id not in ("unknown", "nothing-wrong")]
    cause = f"{causes[0].id} {causes[0].probability:.2f}" if causes else "no cause"
    first = diagnosis.prescriptions[0] if diagnosis.prescriptions else None
    told = f"{first.priority.value} {first.kind.value}: {first.instruction}" if first else "nothing"
    return f"{cause:40s} {told[:TEXT_WIDTH]}"


def _share(marks: list[str], good: set[str], others: set[str]) -> float:
    return sum(mark in good for mark in marks) / max(sum(mark in good | others for mark in marks), 1)


if __name__ == "__main__":
    main()
