"""PyTorch Lightning: `Trainer(callbacks=[ClinicLightningCallback()])`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lightning.pytorch import Callback

from rlclinic.live.monitor import Monitor, monitor

# Batches between two rows.
EVERY = 10


class ClinicLightningCallback(Callback):
    """Follows what modules log with `self.log`. With `on_error="stop"` the trainer saves and stops."""

    def __init__(self, *, checkpoint: str | Path = "rlclinic-stopped.ckpt", every: int = EVERY, **options: Any) -> None:
        self.monitor: Monitor = monitor(**options)
        self._checkpoint = Path(checkpoint)
        self._every = every
        self._saved = False

    def on_train_batch_end(self, trainer: Any, module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        """One row now and then, by env steps where the module counts them."""
        if trainer.is_global_zero and batch_idx % self._every == 0:
            self.monitor.guard.call("the callback", self._row, trainer, module)
        if self.monitor.on_error == "continue" or self._saved:
            return
        # All processes save and stop at the same batch: one that goes on would wait for the others.
        if trainer.strategy.reduce_boolean_decision(self.monitor.should_stop, all=False):
            self._saved = True
            self.monitor.guard.call("the checkpoint", trainer.save_checkpoint, self._checkpoint)
            trainer.should_stop = True

    def on_train_end(self, trainer: Any, module: Any) -> None:
        """The end."""
        self.monitor.close()

    def _row(self, trainer: Any, module: Any) -> None:
        step = getattr(module, "env_steps", None)
        self.monitor.log(dict(trainer.callback_metrics), float(trainer.global_step if step is None else step))
