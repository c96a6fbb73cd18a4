"""What the trials in the ledger measured, as rows of the table of effects that prescriptions draw on."""

from __future__ import annotations

import math
from typing import Any

from rlclinic.model.effect import REGAINED, Direction, EffectRow
from rlclinic.store.ledger import Ledger

# The measures an expected impact is given in, the preferred one first.
METRICS = ("steps-to-threshold", "final-return")


def measured_effects(ledger: Ledger) -> tuple[EffectRow, ...]:
    """A row for each cause of each trial whose arm changed one mechanism; several keys at once tell them not apart."""
    rows: list[EffectRow] = []
    for result in ledger.results():
        for arm in result["arms"]:
            preferred = [name for name in METRICS if _is_number(arm["effects"].get(name))][:1]
            metrics = preferred + [name for name in (REGAINED,) if _is_number(arm["effects"].get(name))]
            if len(arm["changes"]) != 1:
                continue
            change = arm["changes"][0]
            rows.extend(
                EffectRow(
                    cause=cause,
                    key=change["key"],
                    direction=_direction(change["from"], change["to"]),
                    environment=result["environment"],
                    algorithm=result["algorithm"],
                    metric=metric,
                    effect=arm["effects"][metric],
                    n_seeds=result["seeds"],
                    source=f"trial {result['id']}",
                )
                for cause in arm["causes"]
                for metric in metrics
            )
    return tuple(rows)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def _direction(before: object, after: object) -> Direction:
    if not _is_number(before) or not _is_number(after) or isinstance(before, bool) or isinstance(after, bool):
        return "set"
    return "up" if after > before else "down"  # type: ignore[operator]
