"""The causes that a diagnosis may name."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.reference.table_file import load_table

KINDS = frozenset({"root", "mechanism", "process", "none"})

NOTHING_WRONG = "nothing-wrong"
UNKNOWN = "unknown"
# What only a policy has that acts in a simulation or on numbers: language models have none of it.
OF_CONTROL = frozenset({
    "action-space-degenerate", "action-space-unnormalised", "action-std-explosion", "autoreset-mishandled",
    "exploration-missing", "exploration-never-ends", "exploration-too-short", "initial-action-std-wrong",
    "learning-starts-too-early", "learning-starts-too-late", "normaliser-statistics-wrong", "observation-dead",
    "observations-unnormalised", "physics-unstable", "q-overestimation", "replay-buffer-too-small",
    "target-network-too-fast", "target-network-too-slow", "temperature-wrong",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class CauseEntry:
    """One cause."""

    id: str
    cause_class: str
    kind: str
    meaning: str


@cache
def catalogue() -> Mapping[str, CauseEntry]:
    """All causes by id, `nothing-wrong` and `unknown` included."""
    entries: dict[str, CauseEntry] = {
        NOTHING_WRONG: CauseEntry(NOTHING_WRONG, NOTHING_WRONG, "none", "no fault that these logs could show"),
        UNKNOWN: CauseEntry(UNKNOWN, UNKNOWN, "none", "something else, or not enough to tell"),
    }
    for cause_class, members in load_table(Path(__file__).with_name("catalogue.toml")).items():
        for cause_id, entry in members.items():
            if entry["kind"] not in KINDS or cause_id in entries:
                raise ValueError(f"catalogue.toml: {cause_id} is not a valid entry")
            entries[cause_id] = CauseEntry(cause_id, cause_class, entry["kind"], entry["meaning"])
    return entries
