"""How sure the table is: one exponent for runs whose config is known and one for others, fitted to recorded runs."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class Sharpness:
    """Exponents of the probabilities."""

    with_config: float
    without_config: float

    def __post_init__(self) -> None:
        if min(self.with_config, self.without_config) <= 0.0:
            raise ValueError("sharpness.toml: an exponent must be above 0")


@cache
def sharpness() -> Sharpness:
    """The fitted values."""
    return Sharpness(**tomllib.loads(files(__package__).joinpath("sharpness.toml").read_text(encoding="utf-8")))
