"""Gradient norms as logged: of the whole network and of its parts."""

from __future__ import annotations

from collections.abc import Iterator

from rlclinic.model.series import Series
from rlclinic.rules.patient import Patient

PREFIX = "grad_norm/"


def gradient_norms(patient: Patient) -> Iterator[Series]:
    """The whole first, then each part; a norm taken after clipping says nothing about size and is left out."""
    names = ["grad_norm", *sorted(name for name in patient.run.series if name.startswith(PREFIX))]
    for name in names:
        series = patient.series(name)
        if series is not None and "after clipping" not in series.caveat:
            yield series
