"""Where in the user's files a finding or a prescription points to."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath

from rlclinic.model.diagnosis import Diagnosis
from rlclinic.model.finding import Finding
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.prescription import Prescription
from rlclinic.model.run import Run


@dataclass(frozen=True, slots=True)
class Location:
    """A line of a file."""

    file: str
    """Relative to the root where it lies below it, with forward slashes."""
    line: int


def finding_location(diagnosis: Diagnosis, finding: Finding, root: str = "") -> Location | None:
    """The config line of the value that a finding is about, or that treats what it shows; None where there is none."""
    own = _first(diagnosis.run, (item.metric for item in finding.evidence), root)
    if own is not None:
        return own
    causes = {cause.id for cause in diagnosis.causes if any(_names(text, finding) for text in cause.supports)}
    treating = [item for item in diagnosis.prescriptions if causes & set(item.causes)]
    return next((place for item in treating if (place := prescription_location(diagnosis, item, root))), None)


def prescription_location(diagnosis: Diagnosis, prescription: Prescription, root: str = "") -> Location | None:
    """The config line of the first value that a prescription changes."""
    return _first(diagnosis.run, (change.key for change in prescription.changes), root)


def source_file(diagnosis: Diagnosis, finding: Finding, root: str = "") -> str:
    """The file that a finding's numbers were read from, else the run itself."""
    run = diagnosis.run
    names = (run.series[item.metric].source for item in finding.evidence if item.metric in run)
    name = next((name for name in names if name), "")
    return _below(PurePath(_base(run), name) if name else PurePath(run.path), root)


def _first(run: Run, keys: Iterable[str], root: str) -> Location | None:
    for key in keys:
        setting = run.config.settings.get(key)
        origin = setting.origin if setting is not None else None
        if origin is not None and origin.file and origin.line:
            return Location(_below(PurePath(_base(run), origin.file), root), origin.line)
    return None


def _base(run: Run) -> PurePath:
    """The folder that the names of the run's files are relative to."""
    path = PurePath(run.path)
    is_file = any(file.path == path.name for file in run.provenance.files)
    return path.parent if is_file else path


def _below(path: PurePath, root: str) -> str:
    shown = path.relative_to(root) if root and path.is_relative_to(root) else path
    return shown.as_posix()


def _names(reason: str, finding: Finding) -> bool:
    return reason.partition(" ")[0] == finding.code
