"""Which of several close causes the config speaks for: the one whose setting lies on the wrong side of what works."""

from __future__ import annotations

from collections.abc import Sequence

from rlclinic.prescriptions.candidate import Candidate
from rlclinic.prescriptions.case import Case
from rlclinic.prescriptions.remedies import Stage
from rlclinic.reference.reference_configs import NEAR_ONE

# Within this factor two probabilities do not tell their causes apart.
ALIKE = 2.0
# A setting this many times beyond the reference is implicated; below it is ordinary.
BEYOND = 1.5


def far_off_first(likely: Sequence[Candidate], candidates: Sequence[Candidate]) -> list[Candidate]:
    """The likely ones behind the one of all candidates whose setting no working config comes near, if it is one."""
    far_off = [item for item in candidates if item.is_far_off]
    if len({item.mechanism for item in far_off}) != 1 or likely[0].stage is Stage.FACTS:
        return list(likely)
    return [far_off[0], *(item for item in likely if item is not far_off[0])]


def implicated_first(case: Case, candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates with an implicated one in front of a close rival of its class whose setting is ordinary."""
    if not candidates:
        return []
    lead = candidates[0]
    if lead.is_check and not lead.is_convicted:
        # No setting shows the lead; a close rival with a sign of its own and a change at hand goes before it.
        for other in candidates[1:]:
            if _is_close(lead, other) and other.is_convicted and other.prescription.changes:
                return [other, *(item for item in candidates if item is not other)]
    if not case.has_entry:
        return list(candidates)
    if _is_implicated(case, lead) is not False:
        return list(candidates)
    for other in candidates[1:]:
        if _is_close(lead, other) and _is_implicated(case, other):
            return [other, *(item for item in candidates if item is not other)]
    return list(candidates)


def _is_close(lead: Candidate, other: Candidate) -> bool:
    return other.cause_class == lead.cause_class and ALIKE * other.probability >= lead.probability


def _is_implicated(case: Case, candidate: Candidate) -> bool | None:
    """Whether the change leads towards the entry for this environment; None where that cannot be said."""
    changes = candidate.prescription.changes
    if not changes:
        return None
    key, after = changes[0].key, changes[0].after
    known, here = case.reference_number(key), case.number(key)
    if known is None or here is None or isinstance(after, bool) or not isinstance(after, int | float):
        return None
    if key in NEAR_ONE:
        known, here, after = 1.0 - known, 1.0 - here, 1.0 - after
    return here > BEYOND * known if after < here else known > BEYOND * here
