"""rl-zoo3: the manager of an experiment reads the hyperparameter file and the flags, and builds the model."""

from __future__ import annotations

import argparse
import inspect
import shlex
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml
from rl_zoo3.exp_manager import ExperimentManager
from rl_zoo3.utils import ALGOS, StoreDict

from tests.prescriptions.syntax.parsers import flatten, nested

# What the manager takes out of a section before the constructor sees it.
OWN = {"n_timesteps", "n_envs", "normalize", "noise_type", "noise_std", "frame_stack", "env_wrapper", "callback"}
# What the manager is told on the command line.
TYPED = {"env", "device", "seed", "verbose", "tensorboard_log"}
# What a model holds under the name of its argument.
HELD = (
    "gamma", "gae_lambda", "n_steps", "batch_size", "ent_coef", "vf_coef", "max_grad_norm", "target_kl", "n_epochs",
    "tau", "buffer_size", "learning_starts", "exploration_fraction", "exploration_final_eps", "normalize_advantage",
)  # fmt: skip


def load(algorithm: str, environment: str, native: dict[str, Any], text: str, syntax: str) -> dict[str, Any]:
    """The hyperparameters that the zoo records for the run, as its config.yml holds them."""
    takes = (OWN | set(inspect.signature(ALGOS[algorithm.lower()]).parameters)) - TYPED
    section = {key: value for key, value in nested(native).items() if key in takes}
    flags = None
    if syntax == "rl-zoo-yaml":
        ((_, changed),) = yaml.safe_load(text).items()
        section.update(changed)
    else:
        parser = argparse.ArgumentParser()
        parser.add_argument("-params", dest="hyperparams", nargs="+", action=StoreDict)
        flags = parser.parse_args(shlex.split(text)).hyperparams
    with TemporaryDirectory() as folder:
        file = Path(folder, "hyperparams.yml")
        file.write_text(yaml.safe_dump({environment: {"policy": "MlpPolicy", **section}}), encoding="utf-8")
        manager = ExperimentManager(
            argparse.Namespace(), algorithm.lower(), environment, folder,
            hyperparams=flags, config=str(file), eval_freq=-1, device="cpu", verbose=0,
        )  # fmt: skip
        experiment = manager.setup_experiment()
        assert experiment is not None
        model, saved = experiment
    for key in HELD:
        if isinstance(saved.get(key), int | float):
            assert getattr(model, key) == saved[key], key
    return flatten(dict(saved))
