"""Values that a framework writes in another form than the canonical one, brought to that."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rlclinic.model.numbers import number

# Decimals that survive 1 - value without the noise of binary fractions.
DECIMALS = 12


def complement(value: object) -> object:
    """1 - value: `polyak` of Spinning Up and TorchRL is the share of the target network that stays."""
    return value if number(value) is None else round(1 - value, DECIMALS)  # type: ignore[operator]


def layers(value: object) -> object:
    """The units of a network that is described part by part, as skrl does; the value itself where there are several."""
    part = value[0] if isinstance(value, list) and len(value) == 1 else None
    return part["layers"] if isinstance(part, dict) and "layers" in part else value


FORMS: Mapping[str, Callable[[object], object]] = {form.__name__: form for form in (complement, layers)}
