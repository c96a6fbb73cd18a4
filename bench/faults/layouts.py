"""Train with SB3's own loop and loggers: runs as people have them who do not use rlclinic.

Imported by the training process alone, after its patches. `csv` and `tensorboard` are SB3's formats, `wandb` is an
offline run that gets what SB3 logs, and `cleanrl` is an event file with the names and the hyperparameter table of a
CleanRL script; its returns are SB3's means over episodes, where CleanRL has single ones.
"""

from __future__ import annotations

import io
import os
import socket
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stable_baselines3.common import logger as sb3
from stable_baselines3.common.callbacks import BaseCallback

from rlclinic.lab.recipe import Recipe, Wrapper

MONITOR = Wrapper("stable_baselines3.common.monitor:Monitor")
ROWS = 60
"""Of a whole run."""
FINAL_EPISODES = 20
"""Played at the end for the label; no log shows them."""
CLEANRL_NAMES = {
    "train/value_loss": "losses/value_loss",
    "train/policy_gradient_loss": "losses/policy_loss",
    "train/policy_loss": "losses/policy_loss",
    "train/entropy_loss": "losses/entropy",
    "train/approx_kl": "losses/approx_kl",
    "train/clip_fraction": "losses/clipfrac",
    "train/explained_variance": "losses/explained_variance",
    "train/learning_rate": "charts/learning_rate",
    "time/fps": "charts/SPS",
}
"""SB3's names -> CleanRL's."""
TD_LOSS = {"train/loss": "losses/td_loss"}
"""Of Q-learning; elsewhere SB3 means the sum of all losses by it, which CleanRL does not log."""
LEFT_OUT = (".log", "requirements.txt")
"""Endings of files that say more about the machine than about the run."""
MACHINE = "host"
QUIET = 2.0
"""Seconds without a written byte after which an offline run is whole."""


def train_as(layout: str, recipe: Recipe, folder: Path) -> dict[str, bytes]:
    """The files that such a run leaves, by path."""
    # File names of event files carry the machine's name.
    socket.gethostname = lambda: MACHINE
    from rlclinic.lab.evaluation import evaluate
    from rlclinic.lab.instruments.episodes import EpisodeLog
    from rlclinic.lab.sb3.model import build_model, policy_function

    watched = recipe.with_changes({"env_wrappers": (*recipe.wrappers, MONITOR)}).trusted()
    model = build_model(watched, EpisodeLog())
    place = folder / _name(layout, recipe)
    place.mkdir(parents=True)
    before = Path.cwd()
    model.set_logger(_logger(layout, recipe, place))
    try:
        model.learn(recipe.total_steps, log_interval=_interval(recipe, model), callback=_rows(recipe, model))
    finally:
        model.logger.close()
        os.chdir(before)
    evaluate(recipe, policy_function(model, deterministic=True), episodes=FINAL_EPISODES)
    if layout == "csv":
        (place / "config.yml").write_text(_yaml(recipe), encoding="utf-8")
    found = {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
    return {path: data for path, data in found.items() if not path.endswith(LEFT_OUT)}


def _name(layout: str, recipe: Recipe) -> str:
    if layout == "cleanrl":
        return f"runs/{recipe.environment}__{recipe.algorithm.lower()}__{recipe.seed}__1794700000"
    return f"{recipe.algorithm.lower()}_{recipe.environment.rpartition(':')[2]}_1"


def _interval(recipe: Recipe, model: Any) -> int | None:
    if not hasattr(model, "rollout_buffer"):
        # Off-policy algorithms count episodes; rows come by steps instead.
        return None
    return max(1, recipe.total_steps // (ROWS * int(model.n_steps) * recipe.n_envs))


def _rows(recipe: Recipe, model: Any) -> Any:
    class Rows(BaseCallback):  # type: ignore[misc]
        """A row every so many steps for algorithms that have no rollouts."""

        def _on_step(self) -> bool:
            if not hasattr(model, "rollout_buffer") and self.num_timesteps % (recipe.total_steps // ROWS) == 0:
                model.dump_logs()
            return True

    return Rows()


def _logger(layout: str, recipe: Recipe, place: Path) -> Any:
    if layout in ("csv", "tensorboard"):
        return sb3.configure(str(place), [layout])
    writer = _Wandb(recipe, place) if layout == "wandb" else _CleanRL(recipe, place)
    return sb3.Logger(str(place), [writer])


class _Wandb(sb3.KVWriter):  # type: ignore[misc]
    """SB3's rows as the history of an offline W&B run."""

    def __init__(self, recipe: Recipe, place: Path) -> None:
        import wandb

        os.environ["WANDB_SILENT"] = "true"
        self._place = place
        self._run = wandb.init(
            mode="offline",
            project="control",
            name=place.name,
            dir=str(place),
            config=_settings(recipe),
            settings=wandb.Settings(
                host=MACHINE,
                username="user",
                x_disable_stats=True,
                x_disable_meta=True,
                console="off",
                disable_git=True,
            ),
        )

    def write(self, values: Mapping[str, Any], excluded: Any, step: int = 0) -> None:
        """One row."""
        self._run.log({**values, "global_step": step})

    def close(self) -> None:
        """The end of the run."""
        self._run.finish()
        # W&B's own process writes on after that.
        size = -1
        while size != (now := sum(path.stat().st_size for path in self._place.rglob("*.wandb"))):
            size = now
            time.sleep(QUIET)


class _CleanRL(sb3.KVWriter):  # type: ignore[misc]
    """SB3's rows as the scalars of a CleanRL script."""

    def __init__(self, recipe: Recipe, place: Path) -> None:
        from torch.utils.tensorboard import SummaryWriter

        self._writer = SummaryWriter(str(place))
        self._has_policy = recipe.algorithm != "DQN"
        settings = {"exp_name": recipe.algorithm.lower(), "env_id": recipe.environment, **_settings(recipe)}
        rows = "\n".join(f"|{key}|{value}|" for key, value in settings.items())
        self._writer.add_text("hyperparameters", f"|param|value|\n|-|-|\n{rows}")

    def write(self, values: Mapping[str, Any], excluded: Any, step: int = 0) -> None:
        """One row: losses by CleanRL's names; its entropy is positive."""
        names = CLEANRL_NAMES if self._has_policy else {**CLEANRL_NAMES, **TD_LOSS}
        for name, value in values.items():
            if name in names:
                self._writer.add_scalar(names[name], -value if name.endswith("entropy_loss") else value, step)
        for name, tag in (("rollout/ep_rew_mean", "episodic_return"), ("rollout/ep_len_mean", "episodic_length")):
            if name in values:
                self._writer.add_scalar(f"charts/{tag}", values[name], step)

    def close(self) -> None:
        """The end of the run."""
        self._writer.close()


def _settings(recipe: Recipe) -> dict[str, Any]:
    """Every setting but the wrappers: nobody's log names the bug in his environment."""
    hidden = {"env_wrappers", "framework", "log_freq", "checkpoint_freq", "device", "stop_at_threshold", "env_kwargs"}
    config = {key: value for key, value in recipe.to_config().items() if key not in hidden and value is not None}
    return {**config, "algo": recipe.algorithm.lower(), "total_timesteps": config.pop("total_steps")}


def _yaml(recipe: Recipe) -> str:
    import yaml

    text = io.StringIO()
    yaml.safe_dump(_settings(recipe), text, sort_keys=True)
    return text.getvalue()
