"""Stable-Baselines3: `model.learn(100_000, callback=ClinicCallback())`.

It measures what the library does not log, on states that were collected anyway: no random number is used up, no weight
is touched, so training is the same bit for bit.
"""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Any

import numpy as np
from stable_baselines3.common.callbacks import BaseCallback

from rlclinic.lab.instruments.episodes import MAX_COMPONENTS, components_in
from rlclinic.lab.sb3.measures import COLUMNS, Measures
from rlclinic.live.allowance import Allowance
from rlclinic.live.guard import LOGGER
from rlclinic.live.monitor import Monitor, monitor
from rlclinic.live.names import canonical, tracked
from rlclinic.live.phases import Turns, system_metrics
from rlclinic.live.publish import Publisher
from rlclinic.live.record import About, scalar
from rlclinic.reference.framework import framework

# Share of the time that measuring may take, the diagnosis not counted.
SHARE = 0.002
# Rows of a run, at most: more points say nothing new.
MOST_ROWS = 2_000
# Env steps of which one is asked for the parts of its reward.
ASKED = 20
# Algorithms whose networks are known; of others what they log themselves is followed.
MEASURED = frozenset({"PPO", "A2C", "DQN", "SAC", "TD3", "TRPO", "QRDQN", "TQC"})
# The library records them anew at every update and forgets them at every dump.
_RECORDED = ("train/", "rollout/")


class ClinicCallback(BaseCallback):
    """Follows a training and raises alerts. Takes the options of `rlclinic.monitor`.

    With `on_error="stop"` training ends cleanly while an error holds, after the model is saved to `checkpoint`.
    """

    def __init__(self, *, checkpoint: str | Path = "rlclinic-stopped.zip", name: str = "live", **options: Any) -> None:
        super().__init__()
        self.monitor: Monitor = monitor(name=name, framework="sb3", **options)
        self._about = self.monitor.record.about
        self._checkpoint = Path(checkpoint)
        # Loads the tables of names now, and not in the first row.
        _as_canonical({canonical("train/opt/q/mean"): 0.0})
        self._measures: Measures | None = None
        self._publisher = Publisher(self.monitor.guard)
        self._row_at, self._due, self._allowance = 0, False, Allowance(SHARE)
        self._turns = Turns(self.monitor.phases)
        self._parts: dict[str, tuple[float, int]] = {}
        self._stopped = False

    def _on_training_start(self) -> None:
        self.monitor.guard.call("the callback", self._start)

    def _on_rollout_start(self) -> None:
        self.monitor.guard.call("the callback", self._updated)

    def _on_rollout_end(self) -> None:
        self.monitor.guard.call("the callback", self._collected)

    def _on_step(self) -> bool:
        if self.n_calls % ASKED == 0:
            self.monitor.guard.call("the parts of the reward", self._ask)
        if self.monitor.on_error == "stop" and self.monitor.should_stop:
            self.monitor.guard.call("the checkpoint", self._save)
            return False
        return True

    def _on_training_end(self) -> None:
        self.monitor.guard.call("the callback", self._row)
        self._turns.close()
        if self._measures is not None:
            self.monitor.guard.call("the callback", self._measures.close)
        self.monitor.close()

    def _start(self) -> None:
        model = self.model
        # A process that waits for others, or for a busy machine, must not take more of what is left to it.
        self._allowance = Allowance(SHARE, time.thread_time)
        self.monitor.reckon_by(time.thread_time)
        self._turns = Turns(self.monitor.phases)
        algorithm = type(model).__name__.upper()
        told = self._about
        self.monitor.describe(
            About(
                name=told.name,
                framework="sb3",
                algorithm=told.algorithm or algorithm,
                environment=told.environment or _environment(model),
                budget=told.budget or float(model._total_timesteps),
                goal=told.goal,
                config={**_settings(model), **told.config},
            )
        )
        if algorithm in MEASURED:
            self._measures = Measures(model, algorithm)

    def _ask(self) -> None:
        for info in self.locals.get("infos", ()):
            for name, value in components_in(info):
                if name in self._parts or len(self._parts) < MAX_COMPONENTS:
                    total, count = self._parts.get(name, (0.0, 0))
                    self._parts[name] = total + value, count + 1

    def _collected(self) -> None:
        self._turns.collected()
        self._due = self._is_due()
        if self._measures is not None and self._due:
            with self._allowance.work():
                self._measures.rollout_ended()

    def _updated(self) -> None:
        self._turns.learned()
        if self._due:
            self._row()
        self._turns.collecting(_acting(self.model) if self._measures is not None else None)

    def _is_due(self) -> bool:
        budget = self.monitor.record.about.budget or 0.0
        enough = self.model.num_timesteps - self._row_at >= budget / MOST_ROWS
        return enough and self._allowance.left

    def _row(self) -> None:
        model = self.model
        if model.num_timesteps <= self._row_at:
            return
        with self._allowance.work():
            row, metrics = self._measured()
            self._publish(metrics)
        self.monitor.log(row, model.num_timesteps)

    def _measured(self) -> tuple[dict[str, float], dict[str, float]]:
        """A row as it is logged, and under canonical names."""
        model = self.model
        # The library's values are taken under its own names, ours under canonical ones.
        logged = {key: value for key, value in model.logger.name_to_value.items() if key.startswith(_RECORDED)}
        row = {key: number for key, value in logged.items() if (number := scalar(value)) is not None}
        row |= _episodes(model)
        # A policy of NaN cannot be measured, but what the library logs of it can still be followed.
        measured = self.monitor.guard.call("the measures", self._measures.take) if self._measures is not None else None
        own = {canonical(key): value for key, value in (measured or {}).items()}
        known = {canonical(COLUMNS[key][0]) for key in row if key in COLUMNS}
        self._row_at = model.num_timesteps
        extra = {key: value for key, value in own.items() if key not in known}
        extra |= self.monitor.phases.take() | system_metrics()
        extra |= {f"reward/{name}": total / count for name, (total, count) in self._parts.items()}
        self._parts.clear()
        if hasattr(model, "_n_updates") and hasattr(model, "replay_buffer"):
            extra["update_to_data"] = model._n_updates / model.num_timesteps
        entropy, most = {**_as_canonical(row), **own}.get("entropy"), _greatest_entropy(model.action_space)
        if entropy is not None and most > 0:
            extra["entropy_share"] = entropy / most
        return {**row, **extra}, {**_as_canonical(row), **own, **extra}

    def _publish(self, metrics: dict[str, float]) -> None:
        named = tracked(metrics)
        for key, value in named.items():
            # Only TensorBoard takes them: tables of the console and of files keep the columns that the user knows.
            self.model.logger.record(key, value, exclude=("stdout", "log", "csv", "json"))
        self._publisher.write(named, self.model.num_timesteps)

    def _save(self) -> None:
        if not self._stopped:
            self._stopped = True
            self.model.save(self._checkpoint)
            LOGGER.error("training is stopped (%s); saved to %s", self.monitor.stop_reason, self._checkpoint)


def _acting(model: Any) -> Any:
    """The network that chooses actions during a rollout."""
    names = ("actor", "q_net", "quantile_net", "policy")
    return next(getattr(model, name) for name in names if hasattr(model, name))


def _greatest_entropy(space: Any) -> float:
    """Of a uniform policy, in nats; 0 for continuous actions, which have none."""
    if hasattr(space, "nvec"):
        return float(np.log(space.nvec).sum())
    count = getattr(space, "n", 1)
    # Of a MultiBinary space it is the number of bits, or the shape of an array of them.
    return float(math.log(2) * np.prod(count)) if type(space).__name__ == "MultiBinary" else math.log(count)


def _episodes(model: Any) -> dict[str, float]:
    """The mean of the last hundred episodes, as the library computes it when it writes a row of its own."""
    episodes = [episode for episode in model.ep_info_buffer or () if "r" in episode]
    if not episodes:
        return {}
    return {
        "rollout/ep_rew_mean": float(np.mean([episode["r"] for episode in episodes])),
        "rollout/ep_len_mean": float(np.mean([episode["l"] for episode in episodes])),
    }


def _as_canonical(row: dict[str, float]) -> dict[str, float]:
    names = framework("sb3").metrics
    found: dict[str, float] = {}
    for key, value in row.items():
        hit = names.find(key)
        if hit is not None:
            entry = hit[1][0]
            found[entry.name.replace("*", hit[2])] = value * (entry.sign or 1)
    return found


def _environment(model: Any) -> str:
    specs = model.get_env().get_attr("spec")
    return str(specs[0].id) if specs and specs[0] is not None else ""


_SETTINGS = (
    "n_steps", "batch_size", "n_epochs", "gamma", "gae_lambda", "ent_coef", "vf_coef", "max_grad_norm", "target_kl",
    "buffer_size", "learning_starts", "tau", "gradient_steps", "target_update_interval", "exploration_fraction",
    "exploration_initial_eps", "exploration_final_eps", "policy_delay", "normalize_advantage", "use_sde", "n_envs",
    "seed",
)  # fmt: skip


def _settings(model: Any) -> dict[str, Any]:
    """What the model was made with, under the library's own names; schedules by their first value."""
    found = {key: getattr(model, key) for key in _SETTINGS if hasattr(model, key)}
    for key in ("lr_schedule", "clip_range"):
        schedule = getattr(model, key, None)
        if callable(schedule):
            found["learning_rate" if key == "lr_schedule" else key] = float(schedule(1.0))
    if isinstance(getattr(model, "ent_coef", None), str):
        found["ent_coef"] = model.ent_coef
    if hasattr(model.action_space, "n"):
        found["action_space.n"] = int(model.action_space.n)
    return {key: value for key, value in found.items() if isinstance(value, int | float | str)}
