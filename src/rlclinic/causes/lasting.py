"""Causes that no further training fixes, and why."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from rlclinic.causes.catalogue import catalogue


@cache
def lasting() -> Mapping[str, str]:
    """By cause id why it lasts, as a clause."""
    text = files(__package__).joinpath("lasting.toml").read_text(encoding="utf-8")
    table: dict[str, str] = tomllib.loads(text)["lasting"]
    unknown = sorted(set(table) - set(catalogue()))
    if unknown:
        raise ValueError(f"lasting.toml: not causes: {', '.join(unknown)}")
    return MappingProxyType(table)
