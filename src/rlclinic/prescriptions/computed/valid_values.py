"""Values inside their ranges, for a config that could not run."""

from __future__ import annotations

from rlclinic.model.numbers import number_in
from rlclinic.prescriptions.case import Case
from rlclinic.prescriptions.constraints import RANGES, dividing_batch
from rlclinic.prescriptions.turn import Turn


def valid_values(case: Case) -> tuple[Turn, ...]:
    """Text that is a number as that number; a value outside its range at the reference; a batch that divides."""
    turns = list(possible_values(case))
    batch, rollout = case.number("batch_size"), case.rollout
    if batch and rollout and case.is_on_policy and batch > 1 and rollout % batch:
        turns.append(Turn("batch_size", dividing_batch(batch, rollout)))
    return tuple(turns)


def possible_values(case: Case) -> tuple[Turn, ...]:
    """The same without the batch, which many trainers accept as it is: only what no trainer can work with."""
    turns: list[Turn] = []
    for key, setting in case.run.config.settings.items():
        if setting.is_default or " / " in setting.native_key:
            continue
        if isinstance(setting.value, str) and key in RANGES:
            number = number_in(setting.value)
            if number is not None:
                turns.append(Turn(key, number))
            continue
        value = case.number(key)
        if value is not None and key in RANGES and not RANGES[key].holds(value) and value != -1:
            known = case.reference_number(key)
            if known is not None and RANGES[key].holds(known):
                turns.append(Turn(key, known))
    return tuple(turns)
