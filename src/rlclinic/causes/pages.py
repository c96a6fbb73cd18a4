"""What a cause means and what speaks for and against it, for `explain` and the docs."""

from __future__ import annotations

from typing import Any

from rlclinic.causes.catalogue import CauseEntry
from rlclinic.causes.likelihoods import likelihoods


def cause_page(entry: CauseEntry) -> dict[str, Any]:
    """The page of one cause."""
    row = likelihoods().get(entry.id)
    speaks: dict[str, str] = {}
    if row is not None:
        pro = sorted((name for name, weight in row.weights.items() if weight > 0), key=lambda name: -row.weights[name])
        con = sorted((name for name, weight in row.weights.items() if weight < 0), key=lambda name: row.weights[name])
        if pro:
            speaks["Speaks for it"] = ", ".join(pro)
        if con:
            speaks["Speaks against it"] = ", ".join(con)
        if row.expects:
            speaks["Expected if it is so"] = ", ".join(row.expects)
        if row.knobs:
            speaks["Hyperparameter"] = ", or ".join(f"{knob.key}, too {knob.direction}" for knob in row.knobs)
    else:
        speaks["Speaks for it"] = "nothing in logs alone; it needs a probe of the trainer or a look at the environment"
    return {
        "id": entry.id,
        "class": entry.cause_class,
        "kind": entry.kind,
        "meaning": entry.meaning,
        "speaks": speaks,
    }
