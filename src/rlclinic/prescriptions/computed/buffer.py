"""A replay buffer that keeps enough of the run."""

from __future__ import annotations

from rlclinic.prescriptions.case import Case
from rlclinic.prescriptions.turn import Turn

# Transitions that suffice wherever nothing else is known (Mnih et al. 2015; defaults of SB3, CleanRL, RLlib's SAC).
USUAL = 1_000_000
# A buffer never needs to hold more than the run collects, and less than this share forgets.
SHARE_OF_RUN = 1.0


def larger_buffer(case: Case) -> tuple[Turn, ...]:
    """The reference size, or the whole run where that is smaller."""
    size = case.number("buffer_size")
    wanted = case.reference_number("buffer_size") or USUAL
    if case.budget:
        wanted = min(wanted, SHARE_OF_RUN * case.budget)
    if size is not None and wanted <= size:
        return ()
    return (Turn("buffer_size", round(wanted)),)
