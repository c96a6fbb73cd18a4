"""What to halve when memory ran out: the buffer off policy, the batch or the cap of language models, else the batch."""

from __future__ import annotations

from rlclinic.prescriptions.case import Case
from rlclinic.prescriptions.turn import Turn

# A replay buffer below this many transitions is not what fills a machine, unless observations are images.
SMALL_BUFFER = 50_000


def less_memory(case: Case) -> tuple[Turn, ...]:
    """Half of what is likely to be the largest; nothing where that is not known."""
    if case.is_language_model:
        for key in ("mini_batch_size", "batch_size", "prompts_per_batch"):
            value = case.number(key)
            if value and value >= 2 and value % 2 == 0:
                return (Turn(key, round(value / 2)),)
        return ()
    buffer = case.number("buffer_size")
    if buffer is not None and buffer > SMALL_BUFFER and not case.is_on_policy:
        return (Turn("buffer_size", round(buffer / 2)),)
    batch = case.number("batch_size")
    return (Turn("batch_size", round(batch / 2)),) if batch and batch >= 2 else ()
