"""RLlib: `config.callbacks(clinic_callbacks())`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ray.rllib.callbacks.callbacks import RLlibCallback

from rlclinic.live.guard import Guard
from rlclinic.live.monitor import Monitor, monitor
from rlclinic.live.record import scalar

# Where RLlib says how many env steps were taken, in its new and its old shape.
_STEPS = ("num_env_steps_sampled_lifetime", "env_runners/num_env_steps_sampled_lifetime", "num_env_steps_sampled")


def clinic_callbacks(**options: Any) -> type[RLlibCallback]:
    """A class of callbacks that follows the results of `train()`. Takes the options of `rlclinic.monitor`.

    With `on_error="stop"` the result is marked as done, which ends a trial of Tune; a loop of one's own looks at
    `result["done"]`.
    """

    # A wrong option is refused now, and not after the first iteration.
    monitor(**options)

    class ClinicCallbacks(RLlibCallback):
        """Made by `clinic_callbacks`."""

        def __init__(self) -> None:
            super().__init__()
            self.monitor: Monitor | None = None
            self._guard = Guard()

        def on_train_result(self, *, algorithm: Any, result: dict[str, Any], **_: Any) -> None:
            """One row; environment runners have callbacks too, but no results."""
            self._guard.call("the callback", self._row, type(algorithm).__name__, result)
            if self.monitor is not None and self.monitor.should_stop:
                result["done"] = result["should_checkpoint"] = True

        def _row(self, algorithm: str, result: Mapping[str, Any]) -> None:
            if self.monitor is None:
                self.monitor = monitor(**{"framework": "rllib", "algorithm": algorithm, **options})
            row = dict(_flat(result))
            step = next((row[key] for key in _STEPS if key in row), row.get("training_iteration", 0.0))
            self.monitor.log(row, step)

    return ClinicCallbacks


def _flat(result: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, float]]:
    for key, value in result.items():
        if key == "config":
            continue
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}/")
        elif (number := scalar(value)) is not None:
            yield f"{prefix}{key}", number
