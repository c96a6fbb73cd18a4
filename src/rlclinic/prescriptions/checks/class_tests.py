"""The test of each class of causes: what separates its members where the evidence does not."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from rlclinic.causes.catalogue import UNKNOWN, catalogue
from rlclinic.prescriptions.assessment import Assessment
from rlclinic.prescriptions.wording import fill
from rlclinic.reference.table_file import load_table

# Language models have no environment to examine and no trainer to probe: their samples are read.
READING = "language-model"
# What is tried where no change is at hand: what another seed does tells the spread that a change must beat.
UNCHANGED = "unchanged with another seed"


@cache
def class_tests() -> Mapping[str, str]:
    """The instruction of each class's test."""
    table = load_table(Path(__file__).with_name("class_tests.toml"))
    known = {entry.cause_class for entry in catalogue().values()}
    if set(table) - known:
        raise ValueError(f"class_tests.toml: unknown classes {', '.join(sorted(set(table) - known))}")
    return {name: str(text) for name, text in table.items()}


def class_test(
    assessment: Assessment, cause_class: str, names: str, arms: str = UNCHANGED, *, several: bool = False
) -> str:
    """The test for causes of one class, in this run's terms."""
    table = class_tests()
    chosen = READING if assessment.is_language_model and cause_class != "process" else cause_class
    task = f"Tell {names} apart" if several else f"Test for {names} before acting on it"
    task = task if names else "Look before you change anything"
    return fill(table.get(chosen, table[UNKNOWN]), assessment, task=task, arms=arms)
