"""A wider upper clip for language models, so that rare tokens may become more likely (DAPO, arXiv 2503.14476)."""

from __future__ import annotations

from rlclinic.prescriptions.case import Case
from rlclinic.prescriptions.turn import Turn

UPPER = 0.28
# Frameworks in which the upper clip is a setting of its own.
FRAMEWORKS = frozenset({"verl", "trl", "openrlhf", "slime", "nemo-rl", "areal"})


def clip_higher(case: Case) -> tuple[Turn, ...]:
    """The upper ratio clip at 0.28; the lower one stays."""
    here = case.number("clip_range_high") or case.number("clip_range")
    if case.run.framework not in FRAMEWORKS or (here is not None and here >= UPPER):
        return ()
    return (Turn("clip_range_high", UPPER),)
