"""Probes: tiny environments whose right answer is known, run against a trainer to find its broken component."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rlclinic.probes.protocol import MakeTrainer, Trainer, UnknownSettings, UnsupportedSpace

if TYPE_CHECKING:
    from rlclinic.probes.testing import assert_probes, probe

__all__ = ["MakeTrainer", "Trainer", "UnknownSettings", "UnsupportedSpace", "assert_probes", "probe"]


def __getattr__(name: str) -> Any:
    # Probing needs gymnasium; the exceptions and types of the protocol do not.
    if name in ("assert_probes", "probe"):
        from rlclinic.probes import testing

        return getattr(testing, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
