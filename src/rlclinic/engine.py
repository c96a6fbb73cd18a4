"""From a run to its diagnosis: the only wiring of rules and causes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rlclinic.causes.catalogue import NOTHING_WRONG, UNKNOWN
from rlclinic.causes.decision_path import decision_path
from rlclinic.causes.posterior import causes_of
from rlclinic.model.diagnosis import Cause, Diagnosis
from rlclinic.model.finding import Finding, Severity
from rlclinic.model.run import Run, Status
from rlclinic.rules.documentation import find_rule, page_of
from rlclinic.rules.patient import Patient
from rlclinic.rules.registry import ROWS, Row, examine
from rlclinic.rules.verdict import verdict

# Findings whose advice leads the next steps.
LEADING = 3


def diagnose(run: Run | str | Path, *, select: Sequence[str] = (), ignore: Sequence[str] = ()) -> Diagnosis:
    """Examine a run, given as such or named as for `read`. `select` and `ignore` take rule codes, names or families."""
    if not isinstance(run, Run):
        from rlclinic.store.reading import read

        run = read(run)
    patient = Patient(run)
    rows = tuple(row for row in ROWS if (not select or _named(row, select)) and not _named(row, ignore))
    findings, not_checked = examine(patient, rows)
    skipped = {item.code for item in not_checked}
    checked = frozenset(row.name for row in rows if row.code not in skipped and row.applies(patient))
    word, reason = verdict(patient, findings)
    causes, classes = causes_of(run, word, findings, checked)
    return Diagnosis(
        run=run,
        verdict=word,
        reason=reason,
        findings=findings,
        not_checked=not_checked,
        causes=causes,
        classes=classes,
        decision_path=decision_path(findings, not_checked, checked),
        next_steps=_next_steps(findings, causes),
        unknowns=_unknowns(run),
    )


def _named(row: Row, names: Sequence[str]) -> bool:
    return any(name.lower() in (row.code.lower(), row.name, row.family) for name in names)


def _next_steps(findings: Sequence[Finding], causes: Sequence[Cause]) -> tuple[str, ...]:
    """The advice of the findings that support the leading causes, in their order."""
    if causes and causes[0].id == NOTHING_WRONG:
        return ("Nothing needs to change as far as these logs tell.",)
    wanted = [reason.split()[0] for cause in causes if cause.id != UNKNOWN for reason in cause.supports]
    by_code = {finding.code: finding for finding in findings if finding.severity is not Severity.INFO}
    codes = [code for code in dict.fromkeys(wanted) if code in by_code] or list(by_code)
    steps = []
    for code in codes[:LEADING]:
        row = find_rule(code)
        if row is not None:
            steps.append(f"{by_code[code].title}. {page_of(row).sections['What to change']}")
    return tuple(steps)


def _unknowns(run: Run) -> tuple[str, ...]:
    """What the files do not tell and a diagnosis would want."""
    lines = []
    if not run.config.settings:
        lines.append("No config was found, so no hyperparameter could be checked.")
    if not run.algorithm:
        lines.append("The algorithm is not known, so rules for single algorithms were tried on the names alone.")
    if not run.environment:
        lines.append("The environment is not known, so returns could not be held against published ones.")
    if run.budget is None:
        lines.append("The budget is not known, so progress is measured against the log's own length.")
    if run.status.state is Status.UNKNOWN:
        lines.append("Nothing says how the run ended.")
    if run.returns is not None and run.threshold is None:
        lines.append("No threshold is known, so `solved` can only be judged by reference scores.")
    return tuple(lines)
