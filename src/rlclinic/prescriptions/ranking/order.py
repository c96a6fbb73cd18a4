"""Which proposals are acted on, and in the order of a careful expert."""

from __future__ import annotations

from collections.abc import Sequence

from rlclinic.model.diagnosis import Cause
from rlclinic.model.prescription import Priority
from rlclinic.prescriptions.assessment import Assessment
from rlclinic.prescriptions.checks.decisive_evidence import did_badly
from rlclinic.prescriptions.proposals.proposal import STUCK, Proposal
from rlclinic.prescriptions.remedies.table import Stage

# A proposal this much less probable than the first, or this improbable, is not acted on.
COMPARABLE = 2.5
LEAST = 0.08
# Mechanisms without which a run cannot be judged at all.
BLIND = frozenset({"logging", "evaluation"})


def comparable(proposals: Sequence[Proposal]) -> list[Proposal]:
    """The proposals that are about as probable as the first; they come by probability."""
    if not proposals:
        return []
    least = max(LEAST, proposals[0].probability / COMPARABLE)
    return [item for item in proposals if item.probability >= least] or list(proposals[:1])


def ordered(assessment: Assessment, proposals: Sequence[Proposal]) -> list[Proposal]:
    """One per mechanism, by priority, then by the stages of an expert. Facts come first: all judgement needs them.

    So is a setting that no working config comes near, if it is the likelier cause. Then comes a lead that its evidence
    singles out: what follows waits for it.
    """
    kept = _one_per_mechanism(proposals)
    if not kept:
        return []
    top = min((item.priority for item in kept), key=lambda priority: priority.rank)
    lead = kept[0].cause if did_badly(assessment) and kept[0].is_decisive else None
    far_off = max((item.probability for item in kept if item.is_far_off), default=0.0)
    first = [_raised(assessment, item, top) for item in kept if _is_first(item, lead, far_off)]
    rest = [item for item in kept if not _is_first(item, lead, far_off)]
    # Of equal priority, those that come first stay in front.
    by_stage = [sorted(group, key=lambda item: (item.stage.rank, -item.probability)) for group in (first, rest)]
    return sorted([*by_stage[0], *by_stage[1]], key=lambda item: item.priority.rank)


def _one_per_mechanism(proposals: Sequence[Proposal]) -> list[Proposal]:
    """The most probable of each mechanism, unless it would change a setting that another already changes."""
    kept: list[Proposal] = []
    for item in proposals:
        keys = {change.key for change in item.changes}
        taken = {change.key for other in kept for change in other.changes}
        if item.remedy.mechanism not in {other.remedy.mechanism for other in kept} and not keys & taken:
            kept.append(item)
    return kept


def _is_first(item: Proposal, lead: Cause | None, far_off: float) -> bool:
    return item.cause is lead or (item.stage is Stage.FACTS and item.probability >= far_off)


def _raised(assessment: Assessment, item: Proposal, top: Priority) -> Proposal:
    """What comes first, with the priority of what depends on it.

    Without a return or a sound evaluation nothing can be judged; and a run that is stuck saves all its steps by what
    its evidence singles out.
    """
    stuck = item.stage is not Stage.FACTS and assessment.verdict in STUCK
    least = Priority.MEDIUM if item.remedy.mechanism in BLIND or stuck else Priority.LOW
    return item.reworded(priority=min(top, item.priority, least, key=lambda priority: priority.rank))
