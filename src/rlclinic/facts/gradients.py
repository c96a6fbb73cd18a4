"""Gradient norms as logged: of the whole network and of its parts."""

from __future__ import annotations

from collections.abc import Iterator

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.series import Series

PREFIX = "grad_norm/"


def gradient_norms(facts: RunFacts) -> Iterator[Series]:
    """The whole first, then each part; a norm taken after clipping says nothing about size and is left out."""
    names = ["grad_norm", *sorted(name for name in facts.run.series if name.startswith(PREFIX))]
    for name in names:
        series = facts.series(name)
        if series is not None and "after clipping" not in series.caveat:
            yield series
