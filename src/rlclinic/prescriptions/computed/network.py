"""A network twice as wide, or the reference one."""

from __future__ import annotations

from rlclinic.prescriptions.case import Case
from rlclinic.prescriptions.turn import Turn

# gymnasium-solver knows its networks by name.
PRESETS = ("mlp_tiny", "mlp_small", "mlp_medium", "mlp_large")
WIDEST = 512


def wider_network(case: Case) -> tuple[Turn, ...]:
    """The next preset; else the reference layers; else each layer twice as wide, up to 512 units."""
    here = case.run.config.get("net_arch")
    if isinstance(here, str):
        if here not in PRESETS[:-1]:
            return ()
        return (Turn("net_arch", PRESETS[PRESETS.index(here) + 1]),)
    if not isinstance(here, list) or not here or not all(isinstance(width, int) for width in here):
        return ()
    known = case.reference.get("net_arch")
    if isinstance(known, list) and len(known) >= len(here) and sum(known) > sum(here):
        return (Turn("net_arch", list(known)),)
    wider = [min(WIDEST, 2 * width) for width in here]
    return (Turn("net_arch", wider),) if wider != here else ()
