"""A network twice as wide, or the reference one."""

from __future__ import annotations

from rlclinic.prescriptions.case import Case
from rlclinic.prescriptions.turn import Turn

# gymnasium-solver knows its networks by name.
PRESETS = ("mlp_tiny", "mlp_small", "mlp_medium", "mlp_large")
WIDEST = 512


def wider_network(case: Case) -> tuple[Turn, ...]:
    """The next preset; else the reference layers; else each layer twice as wide, up to 512 units. The critic's too."""
    here = case.run.config.get("net_arch")
    if isinstance(here, str):
        if here not in PRESETS[:-1]:
            return ()
        return (Turn("net_arch", PRESETS[PRESETS.index(here) + 1]),)
    wider = {key: _wider(case, case.run.config.get(key)) for key in ("net_arch", "net_arch_critic")}
    return tuple(Turn(key, layers) for key, layers in wider.items() if layers)


def _wider(case: Case, here: object) -> list[int]:
    """Empty where the layers are not known or as wide as they may be."""
    if not isinstance(here, list) or not here or not all(isinstance(width, int) for width in here):
        return []
    known = case.reference.get("net_arch")
    if isinstance(known, list) and len(known) >= len(here) and sum(known) > sum(here):
        return list(known)
    wider = [min(WIDEST, 2 * width) for width in here]
    return wider if wider != here else []
