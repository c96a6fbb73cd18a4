"""One training session: the connection between a backend and the run's folder.

The backend trains; the session writes rows, evaluates, saves, watches the budget of attention (log, evaluation and
checkpoint intervals), tells the progress, and says when to stop.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from rlclinic.lab.checkpoints import Save, Saved, save_checkpoint
from rlclinic.lab.evaluation import Act, Evaluation, evaluate
from rlclinic.lab.folder import RunFolder
from rlclinic.lab.instruments.episodes import EpisodeLog
from rlclinic.lab.progress import Listener, Progress
from rlclinic.lab.recipe import Recipe
from rlclinic.model.numbers import number
from rlclinic.model.run import Status
from rlclinic.readers.state import RunState

Measure = Callable[[], Mapping[str, float]]
"""What the backend measured since the last row, by column of metrics.csv (`train/opt/...`, `train/roll/...`)."""

# No more than this is lost when a slow run is killed; in seconds.
SAVE_SECONDS = 300.0
# Seconds between two calls of the progress listener.
TELL_EVERY = 0.5
ENV_STEPS = "train/cnt/total_env_steps"
BEST = "best_eval_return"


class Session:
    """What a backend sees of the lab."""

    def __init__(
        self, recipe: Recipe, folder: RunFolder, state: RunState, resumed: Saved | None, listener: Listener | None
    ) -> None:
        self.recipe = recipe
        self.folder = folder
        self.resumed = resumed
        """Where to go on from; None for a fresh start."""
        self.episodes = EpisodeLog()
        """Pass it to `make_environments`: it fills itself."""
        self.episodes.recorder = _recorder(folder)
        self.env_steps = resumed.env_steps if resumed else 0
        self.stop_after: int | None = None
        """Env steps after which nobody wants to know more of this run."""
        self.stop_reason: tuple[Status, str] | None = None
        self.last_evaluation: Evaluation | None = None
        self.is_listened_to = listener is not None
        """Whether every step is to be told; where it is not, setting `env_steps` does."""
        self._state = state
        self._listener = listener
        self._began = time.monotonic()
        self._began_at = self.env_steps
        self._seconds_before = state.seconds
        self._told = 0.0
        self._row_at = self._evaluated_at = self._saved_at = self.env_steps
        self._row_time = self._saved_time = self._began
        self._epoch = folder.metrics.last_epoch() + 1
        self._best: float | None = number(resumed.state.get(BEST)) if resumed else None
        self._is_best = False
        self._last_row: Mapping[str, float] = {}
        self._last_save: Save | None = None

    @property
    def seconds(self) -> float:
        """Time spent on this run, earlier sessions included."""
        return self._seconds_before + time.monotonic() - self._began

    def step(self, env_steps: int) -> bool:
        """Say how many env steps have been taken; False when training should stop."""
        self.env_steps = env_steps
        if self._listener is not None and time.monotonic() - self._told >= TELL_EVERY:
            self._told = time.monotonic()
            self._listener(self._progress())
        return self.stop_reason is None

    def should_stop(self) -> bool:
        """Whether a signal, a threshold or the user asks for the end."""
        return self.stop_reason is not None

    def request_stop(self, status: Status, reason: str) -> None:
        """Ask for the end; the first reason stays."""
        if self.stop_reason is None:
            self.stop_reason = status, reason

    def state(self) -> RunState:
        """The state for status.json at this moment."""
        return self._state.beat(self.env_steps, self.seconds)

    def end_state(self, status: Status, reason: str) -> RunState:
        """The state for status.json when the run is over."""
        return self._state.end(status, reason, self.env_steps, self.seconds)

    def rescue(self) -> None:
        """Save once more after environment or expert failed: the weights are whole, only the next step is missing."""
        if self._last_save is None or self.env_steps <= self._saved_at:
            return
        try:
            self._save(self._last_save)
        except OSError as error:
            self.folder.log(f"no last checkpoint: {error}")

    def after_update(self, env_steps: int, measure: Measure, act: Act, save: Save) -> None:
        """Write a row, evaluate and save, each where it is due. Call it when weights and counters are consistent."""
        self.step(env_steps)
        self._last_save = save
        recipe = self.recipe
        evaluation_due = recipe.eval_every and env_steps - self._evaluated_at >= recipe.eval_every
        # An evaluation row takes its step from the training row of its epoch, so there must be one.
        if env_steps - self._row_at >= (1 if evaluation_due else recipe.log_every or 1):
            self._write_row(measure())
        if evaluation_due:
            self._evaluate(act)
        if recipe.checkpoint_every and self._save_due():
            self._save(save)
        if self.stop_after is not None and env_steps >= self.stop_after:
            self.request_stop(Status.INTERRUPTED, f"asked to stop after {self.stop_after:,} steps")

    def finish(self, env_steps: int, measure: Measure, act: Act, save: Save) -> None:
        """The last row and evaluation, unless the run stops early and has them, and the last checkpoint."""
        self.step(env_steps)
        solved = self.stop_reason is not None and self.stop_reason[0] is Status.FINISHED
        if env_steps > self._row_at and not solved:
            self._write_row(measure())
        if self.recipe.eval_every and env_steps > self._evaluated_at and self.stop_reason is None:
            self._evaluate(act)
        if env_steps > self._saved_at:
            self._save(save)
        if self._listener is not None:
            self._listener(self._progress())

    def _write_row(self, measured: Mapping[str, float]) -> None:
        now = time.monotonic()
        steps = self.env_steps - self._row_at
        row = {
            "time": time.time(),
            "total_timesteps": self.env_steps // self.recipe.n_envs,
            "epoch": self._epoch,
            ENV_STEPS: self.env_steps,
            "train/cnt/total_vec_steps": self.env_steps // self.recipe.n_envs,
            "train/sys/timing/fps_instant": steps / max(now - self._row_time, 1e-9),
            "train/sys/timing/fps": (self.env_steps - self._began_at) / max(now - self._began, 1e-9),
            "train/sys/timing/time_elapsed": self.seconds,
            "train/progress": self.env_steps / self.recipe.total_steps,
            **self.episodes.take(),
            **measured,
        }
        self.folder.metrics.append(row)
        self._last_row = row
        self._epoch += 1
        self._row_at, self._row_time = self.env_steps, now

    def _evaluate(self, act: Act) -> None:
        # Evaluation is no training time: the throughput of the next row must not pay for it.
        began = time.monotonic()
        found = evaluate(self.recipe, act)
        self.last_evaluation = found
        self._evaluated_at = self.env_steps
        self.folder.metrics.append(
            {
                "time": time.time(),
                "total_timesteps": self.env_steps // self.recipe.n_envs,
                "epoch": self._epoch - 1,
                "val/roll/ep_rew/mean": found.mean,
                "val/roll/ep_rew/std": float(found.returns.std()),
                "val/roll/ep_len/mean": float(found.lengths.mean()),
                "val/roll/truncation_rate": float(found.truncated.mean()),
                "val/roll/episodes": float(found.returns.size),
            }
        )
        self._is_best = self._best is None or found.mean > self._best
        self._best = found.mean if self._is_best else self._best
        threshold = self.recipe.threshold
        told = f"step {self.env_steps:,}: evaluation return {found.mean:.2f} over {found.returns.size} episodes"
        self.folder.log(told)
        if threshold is not None and self.recipe.stop_at_threshold and found.mean >= threshold:
            self._confirm(act, found.mean, threshold)
        self._row_time += time.monotonic() - began

    def _confirm(self, act: Act, mean: float, threshold: float) -> None:
        """Stop where other episodes agree: one evaluation may be lucky."""
        again = evaluate(self.recipe, act, seed=self.recipe.seed + self.recipe.eval_episodes).mean
        both = f"{mean:.2f} and {again:.2f}"
        if again >= threshold:
            self.request_stop(Status.FINISHED, f"evaluation returns {both} reached the threshold {threshold:g}")
        else:
            self.folder.log(f"step {self.env_steps:,}: the threshold {threshold:g} is not confirmed ({both})")

    def _save_due(self) -> bool:
        if self.env_steps - self._saved_at >= self.recipe.checkpoint_every:
            return True
        return self.env_steps > self._saved_at and time.monotonic() - self._saved_time >= SAVE_SECONDS

    def _save(self, save: Save) -> None:
        state = {"seconds": self.seconds, BEST: self._best}
        metrics = {**self._last_row, ENV_STEPS: self.env_steps}
        if self.last_evaluation is not None:
            metrics["val/roll/ep_rew/mean"] = self.last_evaluation.mean
        save_checkpoint(self.folder, save, self.env_steps, state, metrics, best=self._is_best)
        self._is_best = False
        self._saved_at, self._saved_time = self.env_steps, time.monotonic()

    def _progress(self) -> Progress:
        spent = max(time.monotonic() - self._began, 1e-9)
        speed = (self.env_steps - self._began_at) / spent
        left = max(self.recipe.total_steps - self.env_steps, 0)
        return Progress(
            self.folder.id,
            self.env_steps,
            self.recipe.total_steps,
            self.episodes.mean_return,
            self.last_evaluation.mean if self.last_evaluation else None,
            speed,
            left / speed if speed > 0 else None,
        )


def _recorder(folder: RunFolder) -> Any:
    """What keeps a sample of the training environments' steps; needs gymnasium, as their makers do."""
    from rlclinic.lab.instruments.observe import Recorder

    return Recorder(folder.path)
