"""One run that all peers are asked about."""

from __future__ import annotations

from dataclasses import dataclass

from rlclinic.model.run import Run


@dataclass(frozen=True, slots=True)
class Case:
    """A run and what is known of it."""

    name: str
    run: Run
    faulty: bool
    classes: frozenset[str]
    """Of the accepted causes."""
