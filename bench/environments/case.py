"""One environment of the benchmark: how it is made, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Case:
    """An environment with one known fault, or a healthy one."""

    name: str
    make: Callable[[], Any]
    accepted: tuple[str, ...] = ()
    """Causes that count as right; none for a healthy environment."""
    part: str = "healthy"
    """`seen` while the checks were written, `unseen` after a first freeze, `fresh`, `custom` and `people` after later
    ones; or `healthy`, `fresh healthy`, `custom healthy`, `people healthy`."""


def make(case: str) -> Any:
    """The environment of a case, by its name; what the examiner's process calls."""
    from bench.environments.cases import cases

    return cases()[case].make()
