"""Diagnoses as GitHub workflow commands: annotations on the config lines that a finding traces to.

GitHub shows at most ten annotations of a level per step and drops the rest silently, so the worst come first and what
is left out is said. The whole report belongs into the step summary, see `step_summary`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from rlclinic.model.diagnosis import Diagnosis
from rlclinic.model.finding import Severity
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.numbers import percent
from rlclinic.model.prescription import Prescription
from rlclinic.model.words import sentence
from rlclinic.reports.diagnosis_markdown import diagnosis_markdown
from rlclinic.reports.formats import Context
from rlclinic.reports.location import Location, finding_location, prescription_location
from rlclinic.reports.text import printable

# Annotations of one level that GitHub shows per step.
MOST = 10
# Bytes that GitHub accepts as a step summary: 1 MiB.
SUMMARY_BYTES = 1024 * 1024

LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}
ORDER = ("error", "warning", "notice")


@dataclass(frozen=True, slots=True)
class _Annotation:
    level: str
    weight: float
    """Larger is worse within a level."""
    title: str
    message: str
    where: Location | None


def diagnoses_github(diagnoses: Sequence[Diagnosis], context: Context) -> str:
    """One workflow command per line, the worst first."""
    found = [item for diagnosis in diagnoses for item in _annotations(diagnosis, context.root)]
    found.sort(key=lambda item: (ORDER.index(item.level), -item.weight))
    lines: list[str] = []
    for level, group in groupby(found, key=lambda item: item.level):
        members = list(group)
        lines += [_command(item) for item in members[:MOST]]
        if len(members) > MOST:
            lines.append(f"{len(members) - MOST} more of level {level} are in the step summary")
    for diagnosis in diagnoses:
        told = " ".join(map(str, diagnosis.answer.lines[1:]))
        words = f"{diagnosis.run.id}: {diagnosis.verdict.value}. {sentence(diagnosis.reason)} {told}"
        # A line of ours may not begin as a command does, whatever a run is called.
        lines.append(_flat(words).lstrip(": \t"))
    return "\n".join(lines) + "\n"


def step_summary(diagnoses: Sequence[Diagnosis], room: int = SUMMARY_BYTES) -> str:
    """The whole reports as markdown, cut at a line where they exceed what GitHub accepts."""
    text = "\n".join(diagnosis_markdown(diagnosis) for diagnosis in diagnoses)
    if len(text.encode()) <= room:
        return text
    note = "\n\nThe report is longer than a step summary may be: the rest is left out.\n"
    kept = text.encode()[: max(0, room - len(note.encode()))].decode(errors="ignore")
    return kept[: kept.rfind("\n") + 1].rstrip() + note


def _annotations(diagnosis: Diagnosis, root: str) -> list[_Annotation]:
    name = diagnosis.run.id
    found = [
        _Annotation(
            LEVELS[item.severity],
            item.confidence,
            f"{item.code} {item.title.rstrip('.')} ({name})",
            f"{sentence(item.summary, item.names)} Confidence {percent(item.confidence)}.",
            finding_location(diagnosis, item, root),
        )
        for item in diagnosis.findings
    ]
    return found + [_change(diagnosis, item, root) for item in diagnosis.prescriptions if item.changes]


def _change(diagnosis: Diagnosis, item: Prescription, root: str) -> _Annotation:
    """What to change comes before the notes: weights above any confidence, by priority."""
    return _Annotation(
        "notice",
        10.0 - item.priority.rank,
        f"{item.priority.value} priority: what to change ({diagnosis.run.id})",
        f"{sentence(item.instruction)} {sentence(item.rationale)}",
        prescription_location(diagnosis, item, root),
    )


def _command(item: _Annotation) -> str:
    properties = [f"title={_property(item.title)}"]
    if item.where is not None:
        properties = [f"file={_property(item.where.file)}", f"line={item.where.line}", *properties]
    return f"::{item.level} {','.join(properties)}::{_data(item.message)}"


def _data(text: str) -> str:
    """The escaping of actions/toolkit for the text of a command."""
    return _harmless(printable(text.replace("\r", "\n"))).replace("%", "%25").replace("\n", "%0A")


def _property(text: str) -> str:
    """The same for a property, where a colon or a comma would end it."""
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _flat(text: str) -> str:
    return _harmless(printable(" ".join(text.split())))


def _harmless(text: str) -> str:
    """The runner's older form of a command counts anywhere in a line."""
    return text.replace("##[", "# #[")
