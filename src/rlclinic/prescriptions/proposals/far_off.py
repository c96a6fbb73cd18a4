"""Settings that the report itself calls far off, as experiments for a run that does badly for no other known reason.

A learning rate of 1e-7, a lambda of 0, a buffer of 130 samples, a network of one unit: no metric may show that they are
the cause, and yet nobody trains with them. They are tried first because the change costs one run and is likely to help.
"""

from __future__ import annotations

from collections.abc import Iterator

from rlclinic.causes.catalogue import catalogue
from rlclinic.causes.weights import weights
from rlclinic.facts.derived_settings import value_of
from rlclinic.facts.unusual_settings import unusual
from rlclinic.model.diagnosis import Cause
from rlclinic.prescriptions.assessment import Assessment
from rlclinic.prescriptions.checks.decisive_evidence import FAR_OFF, NEVER_ALONE, is_in_force
from rlclinic.prescriptions.proposals.effects import Effects
from rlclinic.prescriptions.proposals.proposal import Proposal, proposal_of
from rlclinic.reference.usual import Basis

# The rule that lists settings which are unusual, and no more.
FAR_FROM_WORKING = "far-from-reference"


def far_off_experiments(assessment: Assessment, effects: Effects) -> list[Proposal]:
    """A proposal for each setting that the user set far from everything that works; by probability, then distance."""
    found: list[tuple[float, Proposal]] = []
    for name, row in weights().causes.items():
        distances = [
            distance
            for suspect in row.settings
            if (distance := _distance(assessment, suspect.key, suspect.direction)) > 0.0
        ]
        made = proposal_of(assessment, _cause(assessment, name), effects) if distances else None
        if made is None or not made.changes or not _is_set(assessment, made.changes[0].key):
            continue
        change = made.changes[0]
        why = (
            f"{change.native_key} {change.before} lies far from every value that is known to work, the run does badly "
            f"and nothing else explains it. {made.prescription.rationale}"
        )
        found.append((max(distances), made.reworded(rationale=why).as_far_off()))
    return [made for _, made in sorted(found, key=lambda pair: (-pair[1].probability, -pair[0]))]


def reported_experiments(assessment: Assessment, effects: Effects) -> Iterator[Proposal]:
    """The way back from each setting that the report calls far from working configs; that it harms nothing shows."""
    report = assessment.findings.get(FAR_FROM_WORKING)
    for evidence in report.evidence if report is not None else ():
        wrong = "high" if evidence.value > 0.0 else "low"
        suspected = (
            name
            for name, row in weights().causes.items()
            if any((item.key, item.direction) == (evidence.metric, wrong) for item in row.settings)
        )
        made = (proposal_of(assessment, _cause(assessment, name), effects) for name in suspected)
        found = next((item for item in made if item is not None and item.changes), None)
        if report is not None and found is not None:
            yield found.reworded(rationale=f"{report.code} {report.name}: {report.summary.rstrip('.')}.")


def _distance(assessment: Assessment, key: str, direction: str) -> float:
    """Spreads by which a setting lies outside what works; 0 where it is ordinary."""
    value = value_of(assessment.facts, key)
    if value is None or (value <= 0.0 and key in NEVER_ALONE):
        return 0.0
    found = unusual(assessment.facts, key, value)
    if found is None:
        return 0.0
    outside = found.beyond(direction) > 0.0  # type: ignore[arg-type]
    off = found.off(direction)  # type: ignore[arg-type]
    return off if outside or (found.basis is Basis.TASK and off >= FAR_OFF) else 0.0


def _is_set(assessment: Assessment, key: str) -> bool:
    setting = assessment.run.config.settings.get(key)
    return setting is not None and not setting.is_default and is_in_force(assessment.run, key)


def _cause(assessment: Assessment, name: str) -> Cause:
    entry = catalogue()[name]
    return assessment.causes.get(name, Cause(name, entry.cause_class, entry.kind, entry.meaning, 0.0))
