"""Which of several close causes the config speaks for: the one whose setting lies on the wrong side of what works."""

from __future__ import annotations

from collections.abc import Sequence

from rlclinic.facts.unusual_settings import unusual
from rlclinic.model.numbers import number
from rlclinic.prescriptions.assessment import Assessment
from rlclinic.prescriptions.proposals.proposal import Proposal
from rlclinic.prescriptions.remedies.table import Stage
from rlclinic.reference.usual import Basis

# Within this factor two probabilities do not tell their causes apart.
ALIKE = 2.0
# Rules about the environment under an untrained policy.
UNTRAINED = frozenset({"untrained-policy-earns-far-less", "episodes-of-other-length"})
# Decades beyond the entry for the task (a factor of 1.5) from which on a setting is implicated; below it is ordinary.
BEYOND = 0.176


def far_off_first(likely: Sequence[Proposal], proposals: Sequence[Proposal]) -> list[Proposal]:
    """The likely ones behind the one of all proposals whose setting no working config comes near, if it is one.

    What holds before anything is learned, no setting of the trainer makes: the run is explained without it.
    """
    if likely and any(finding.name in UNTRAINED for finding in likely[0].evidence):
        return list(likely)
    far_off = [item for item in proposals if item.is_far_off]
    if len({item.remedy.mechanism for item in far_off}) != 1 or likely[0].stage is Stage.FACTS:
        return list(likely)
    return _in_front(far_off[0], likely)


def implicated_first(assessment: Assessment, proposals: Sequence[Proposal]) -> list[Proposal]:
    """The proposals with an implicated one in front of a close rival of its class whose setting is ordinary."""
    if not proposals:
        return []
    lead = proposals[0]
    close = [other for other in proposals[1:] if _is_close(lead, other)]
    front = None
    if lead.is_check and not lead.is_decisive:
        # No setting shows the lead; a close rival with a sign of its own and a change at hand goes before it.
        front = next((other for other in close if other.is_decisive and other.changes), None)
    if front is None and assessment.has_entry and _is_implicated(assessment, lead) is False:
        front = next((other for other in close if _is_implicated(assessment, other)), None)
    return list(proposals) if front is None else _in_front(front, proposals)


def _in_front(first: Proposal, proposals: Sequence[Proposal]) -> list[Proposal]:
    return [first, *(item for item in proposals if item is not first)]


def _is_close(lead: Proposal, other: Proposal) -> bool:
    return other.cause.cause_class == lead.cause.cause_class and ALIKE * other.probability >= lead.probability


def _is_implicated(assessment: Assessment, proposal: Proposal) -> bool | None:
    """Whether the change leads towards the entry for this environment; None where that cannot be said."""
    changes = proposal.changes
    if not changes:
        return None
    key, after, here = changes[0].key, number(changes[0].after), assessment.number(changes[0].key)
    found = unusual(assessment.facts, key, here) if here is not None else None
    if found is None or here is None or after is None or found.basis is not Basis.TASK:
        return None
    return (found.decades if after < here else -found.decades) > BEYOND
