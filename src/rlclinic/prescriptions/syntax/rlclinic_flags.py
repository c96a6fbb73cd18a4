"""rlclinic's own training: `--override name=value` with canonical names."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from rlclinic.model.run import Run
from rlclinic.prescriptions.syntax.assignment import Assignment, Dialect, Names, Rate
from rlclinic.prescriptions.syntax.spelling import json_text
from rlclinic.reference.hyperparameters import hyperparameters


def _rate(run: Run, before: Rate, after: Rate) -> Sequence[Assignment]:
    pairs = (
        ("learning_rate", before.start, after.start),
        ("learning_rate_schedule", before.kind, after.kind),
        ("learning_rate_final", before.final, after.final),
    )
    return [Assignment(name, was, value) for name, was, value in pairs if was != value]


NAMES = Names(always={name: name for name in hyperparameters()}, rate=_rate)


def write(run: Run, assignments: Sequence[Assignment]) -> str:
    """Flags of `rlclinic train`."""
    return " ".join(f"--override {item.key}={_value(item.after)}" for item in assignments)


def _value(value: object) -> str:
    return shlex.quote(value if isinstance(value, str) else json_text(value))


DIALECT = Dialect("rlclinic-flags", "rlclinic: flags", NAMES, write)
