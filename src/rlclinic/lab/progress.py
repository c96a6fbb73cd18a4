"""What a training run tells while it goes on."""

from __future__ import annotations

from collections.abc import Callable

from rlclinic.model.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """The state of a run at one moment."""

    run: str
    env_steps: int
    total_steps: int
    train_return: float | None
    """Mean of the last 100 episodes; None until one has ended."""
    eval_return: float | None
    """Mean return of the last evaluation."""
    steps_per_second: float
    seconds_left: float | None


Listener = Callable[[Progress], None]
