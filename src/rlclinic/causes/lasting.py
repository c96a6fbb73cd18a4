"""Causes that no further training fixes, and why."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from rlclinic.causes.catalogue import catalogue
from rlclinic.reference.table_file import load_table


@cache
def lasting() -> Mapping[str, str]:
    """By cause id why it lasts, as a clause."""
    table: dict[str, str] = load_table(Path(__file__).with_name("lasting.toml"))["lasting"]
    unknown = sorted(set(table) - set(catalogue()))
    if unknown:
        raise ValueError(f"lasting.toml: not causes: {', '.join(unknown)}")
    return MappingProxyType(table)
