"""What a cause means and what speaks for and against it, for `explain` and the docs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlclinic.causes.catalogue import CauseEntry
from rlclinic.causes.weights import CauseWeights, weights

NOTHING = "nothing in logs alone; it needs a probe of the trainer or a look at the environment"


def cause_page(entry: CauseEntry) -> dict[str, Any]:
    """The page of one cause."""
    row = weights().causes.get(entry.id)
    speaks = {"Speaks for it": NOTHING} if row is None or not row.has_evidence else _speaks(row, weights().words)
    return {
        "id": entry.id,
        "class": entry.cause_class,
        "kind": entry.kind,
        "meaning": entry.meaning,
        "speaks": speaks,
    }


def _speaks(row: CauseWeights, words: Mapping[str, str]) -> dict[str, str]:
    """The strongest first, rules before conditions."""
    ranked = sorted(row.weights.items(), key=lambda item: -abs(item[1]))
    ranked = [(name.replace("verdict:", "the verdict "), weight) for name, weight in ranked]
    ranked += [(words[name], weight) for name, weight in row.when.items()]
    found = {
        "Speaks for it": "; ".join(name for name, weight in ranked if weight > 0),
        "Speaks against it": "; ".join(name for name, weight in ranked if weight < 0),
        "Expected if it is so": ", ".join(row.expects),
        "Hyperparameter": ", or ".join(f"{suspect.key}, too {suspect.direction}" for suspect in row.settings),
    }
    return {head: text for head, text in found.items() if text}
