"""The second and third candidate behind what leads, each with the observation that would choose it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import islice
from pathlib import Path

from rlclinic.causes.catalogue import OF_CONTROL, UNKNOWN, catalogue
from rlclinic.facts.offline import is_offline
from rlclinic.model.diagnosis import Cause, Verdict
from rlclinic.model.prescription import Prescription, PrescriptionKind, Priority, Safety
from rlclinic.prescriptions.assessment import Assessment
from rlclinic.prescriptions.checks.class_tests import class_test
from rlclinic.prescriptions.checks.decisive_evidence import did_badly
from rlclinic.prescriptions.proposals.effects import Effects
from rlclinic.prescriptions.proposals.far_off import reported_experiments
from rlclinic.prescriptions.proposals.proposal import ESTABLISHED, Proposal, proposal_of
from rlclinic.prescriptions.ranking.order import LEAST
from rlclinic.prescriptions.ranking.separating_test import is_open
from rlclinic.prescriptions.remedies.table import remedies
from rlclinic.reference.table_file import load_table

OUTSIDE = "The logs of a trainer do not show its environment: what is wrong there looks like a bad setting."
# Prescriptions that lead a report; more are not read, and not done.
LEADING = 3


def with_candidates(
    assessment: Assessment, chosen: Sequence[Prescription], proposals: Sequence[Proposal], effects: Effects
) -> list[Prescription]:
    """What was chosen, and what else would explain the run: other mechanisms, others of the leading cause's class, and
    the environment where it is open."""
    kept = list(chosen[:LEADING])
    acts = any(item.changes for item in kept)
    named = {cause for item in kept[:1] for cause in item.causes if cause != UNKNOWN}
    sure = max((assessment.probability(cause) for cause in named), default=0.0)
    badly_open = sure < ESTABLISHED and did_badly(assessment)
    if is_open(assessment, proposals):
        # Nothing else explains the run: what the report itself calls far off is tried before what is merely possible.
        kept += islice(_reported(assessment, kept, effects), max(min(LEADING - len(kept), 1), 0))
    for proposal in proposals:
        if len(kept) == LEADING:
            break
        if not _is_other(proposal, kept):
            continue
        item = replace(proposal.prescription, priority=max(proposal.priority, Priority.MEDIUM, key=_rank))
        # Behind a test that nobody has made, an unlikely change is no more than an experiment.
        if not item.changes or acts or proposal.probability >= LEAST:
            kept.append(item)
    kept += islice(_reported(assessment, kept, effects), LEADING - len(kept)) if badly_open else []
    kept += islice(_siblings(assessment, kept, effects), LEADING - len(kept)) if acts else []
    leads = bool(kept) and bool(kept[0].changes) and assessment.verdict is not Verdict.CRASHED
    is_examined = assessment.run.is_environment or assessment.facts.environment is not None
    has_room = len(kept) < LEADING or (len(chosen) < LEADING and badly_open)
    may_lie_outside = sure < ESTABLISHED or (leads and not is_offline(assessment.facts))
    if has_room and may_lie_outside and not is_examined and not any(looks_outside(item) for item in kept):
        # It costs minutes and may find what no setting shows: a mere candidate gives way to it.
        kept = [*kept[: LEADING - 1], _look(assessment, UNKNOWN, OUTSIDE)]
    if leads and len(kept) < LEADING:
        kept.insert(1, _look(assessment, kept[0].causes[0], "What is still seen tells this cause from its like."))
    return kept


def observation(causes: Sequence[str]) -> str:
    """What would be seen if the first of these causes were at work."""
    return observations()[causes[0]]


@cache
def observations() -> Mapping[str, str]:
    """The observation that chooses each cause."""
    table = load_table(Path(__file__).with_name("observations.toml"))
    treated = {UNKNOWN, *(name for name, remedy in remedies().items() if remedy.options)}
    if set(table) != treated:
        raise ValueError(f"observations.toml: missing or no cause: {', '.join(sorted(set(table) ^ treated))}")
    return table


def looks_outside(item: Prescription) -> bool:
    """Whether it sends its reader to the environment and its reward."""
    classes = {catalogue()[cause].cause_class for cause in item.causes if cause in catalogue()}
    return UNKNOWN in item.causes or bool(classes & {"no-signal", "reward-design", "environment", "implementation"})


def _reported(assessment: Assessment, kept: Sequence[Prescription], effects: Effects) -> Iterator[Prescription]:
    """Experiments for what the report itself calls far from working configs, as long as the cause is open."""
    taken = list(kept)
    for made in reported_experiments(assessment, effects):
        if _is_other(made, taken):
            taken.append(_experiment(made))
            yield taken[-1]


def _siblings(assessment: Assessment, kept: Sequence[Prescription], effects: Effects) -> Iterator[Prescription]:
    """Experiments for causes that look like the leading one in a log and have no probability of their own."""
    lead = catalogue().get(kept[0].causes[0])
    taken = list(kept)
    for name, entry in catalogue().items():
        if lead is None or entry.cause_class != lead.cause_class or name in assessment.causes:
            continue
        if assessment.is_language_model and name in OF_CONTROL:
            continue
        made = proposal_of(assessment, Cause(name, entry.cause_class, entry.kind, entry.meaning, 0.0), effects)
        if made is not None and made.changes and _is_other(made, taken):
            taken.append(_experiment(made))
            yield taken[-1]


def _experiment(made: Proposal) -> Prescription:
    """A change that nothing points to yet: told with its values, and nothing that a tool should write."""
    return replace(
        made.prescription,
        kind=PrescriptionKind.CHECK,
        safety=Safety.ADVICE,
        priority=Priority.LOW,
        expected_impact=None,
        changes=(),
        native=None,
    )


def _is_other(proposal: Proposal, kept: Sequence[Prescription]) -> bool:
    """Whether it is about other causes and other settings than what is kept."""
    causes = {cause for item in kept for cause in item.causes}
    keys = {change.key for item in kept for change in item.changes}
    instructions = {item.instruction for item in kept}
    touched = {change.key for change in proposal.changes}
    return (
        not causes & set(proposal.prescription.causes)
        and not keys & touched
        and proposal.prescription.instruction not in instructions
    )


def _look(assessment: Assessment, cause: str, why: str) -> Prescription:
    """The test of a cause's class, for when the change before it did not do."""
    known = catalogue().get(cause)
    return Prescription(
        priority=Priority.LOW,
        kind=PrescriptionKind.CHECK,
        instruction=class_test(assessment, known.cause_class if known and cause != UNKNOWN else UNKNOWN, ""),
        rationale=why,
        expected_impact=None,
        risk="None: it only looks.",
        safety=Safety.ADVICE,
        causes=(cause,),
        watch=("return/train",),
    )


def _rank(priority: Priority) -> int:
    return priority.rank
