"""TorchRL behind the probe protocol: `torchrl:PPO`, MM-RKHS, REINFORCE, SAC and DQN.

TorchRL offers losses rather than trainers, so what is probed is its losses inside the lab's own learners, rollouts and
replay: those that `rlclinic train` uses. DQN has no learner in the lab; it is TorchRL's DQNLoss with the lab's replay.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlclinic.model.errors import UsageError
from rlclinic.probes.protocol import EnvFn, UnknownSettings, UnsupportedSpace
from rlclinic.reference.algorithms import algorithm_name

try:
    import torch
    import torchrl  # noqa: F401 - says at once that the library is missing
except ImportError as error:
    raise UsageError("the torchrl adapter needs torchrl", hint="pip install 'rlclinic[train]'") from error

from rlclinic.lab.instruments.episodes import EpisodeLog
from rlclinic.lab.instruments.watch import EpisodeWatch
from rlclinic.lab.recipe import Recipe
from rlclinic.lab.torchrl.on_policy import LEARNERS
from rlclinic.lab.torchrl.options import DEFAULTS, Options
from rlclinic.lab.torchrl.spaces import spaces_of
from rlclinic.lab.torchrl.state_files import seed_everything
from rlclinic.lab.torchrl.vector_env import VectorEnv
from rlclinic.probes.adapters.names import SHARED
from rlclinic.probes.adapters.torchrl_off_policy import DQNTrainer, OffPolicy, SACTrainer
from rlclinic.probes.adapters.torchrl_on_policy import OnPolicy
from rlclinic.probes.adapters.torchrl_trainer import Parts

BUDGET = 10**6
"""Steps that a recipe needs to know; schedules are constant here, so any number above a probe's budget does."""
COLDEST = 1e-6
"""TorchRL keeps the logarithm of alpha, so 0 is not possible; this moves no reading by more than rounding."""
RENAMED: Mapping[str, str] = {
    **SHARED,
    "hidden_sizes": "net_arch",
    "n_envs": "n_envs",
    "normalize_observations": "normalize_obs",
    "normalize_rewards": "normalize_reward",
    "train_every": "train_freq",
}
"""Setting -> canonical hyperparameter of the lab."""
NOT_OFF_POLICY = frozenset({"entropy_coefficient", "n_steps"})
NOT_ON_POLICY = frozenset({"temperature"})
DQN_SETTINGS = frozenset(
    {"learning_rate", "hidden_sizes", "max_grad_norm", "batch_size", "n_envs", "normalize_observations",
     "normalize_rewards", "buffer_size", "learning_starts", "train_every", "tau", "exploration"}
)  # fmt: skip
ALGORITHMS = (*DEFAULTS, "DQN")


def make_trainer_of(name: str) -> TorchRLFactory:
    """The factory of an algorithm, however it is spelt."""
    known = algorithm_name(name)
    if known not in ALGORITHMS:
        raise UsageError(f"TorchRL here has no algorithm {name!r}", hint=", ".join(ALGORITHMS))
    return TorchRLFactory(known)


class TorchRLFactory:
    """Makes trainers of one algorithm."""

    def __init__(self, algorithm: str) -> None:
        self.algorithm = algorithm
        self.family = "on-policy" if algorithm in LEARNERS else "off-policy"

    def __call__(self, env_fn: EnvFn, *, seed: int, gamma: float, **settings: Any) -> OnPolicy | OffPolicy:
        """A trainer with tiny networks on the CPU."""
        unknown = [name for name in settings if not self._knows(name)]
        if unknown:
            raise UnknownSettings(unknown)
        torch.set_num_threads(1)
        seed_everything(seed)
        log = EpisodeLog()
        environments = [EpisodeWatch(env_fn(), log) for _ in range(int(settings.get("n_envs", 1)))]
        try:
            spaces = spaces_of(environments[0].observation_space, environments[0].action_space)
        except UsageError as error:
            raise UnsupportedSpace(error.message) from error
        if self.algorithm == "DQN" and not spaces.is_discrete:
            raise UnsupportedSpace("DQN has discrete actions only")
        exploration = float(settings.pop("exploration", 0.0))
        options = Options(self._recipe({"gamma": gamma, **_translated(settings)}))
        # VectorEnv wants makers, but the spaces of its environments are needed before.
        row = VectorEnv([lambda made=made: made for made in environments], spaces, seed)  # type: ignore[misc]
        parts = Parts(options, spaces, row, log)
        if self.algorithm in LEARNERS:
            return OnPolicy(LEARNERS[self.algorithm](options, spaces), parts)
        return DQNTrainer(parts, exploration) if self.algorithm == "DQN" else SACTrainer(parts)

    def _knows(self, name: str) -> bool:
        if self.algorithm == "DQN":
            return name in DQN_SETTINGS
        if name in (NOT_ON_POLICY if self.family == "on-policy" else NOT_OFF_POLICY):
            return False
        return RENAMED.get(name) in DEFAULTS[self.algorithm]

    def _recipe(self, hyperparameters: Mapping[str, object]) -> Recipe:
        # The loop of DQN takes what that of SAC takes.
        named = "SAC" if self.algorithm == "DQN" else self.algorithm
        return Recipe("torchrl", named, "probe", BUDGET, hyperparameters)


def _translated(settings: Mapping[str, Any]) -> dict[str, object]:
    found: dict[str, object] = {RENAMED[name]: value for name, value in settings.items()}
    if "hidden_sizes" in settings:
        found["net_arch"] = list(settings["hidden_sizes"])
    if "train_every" in settings:
        # One gradient step per so many steps of all environments together.
        found["train_freq"] = max(1, int(settings["train_every"]) // int(settings.get("n_envs", 1)))
    if not isinstance(settings.get("temperature", "auto"), str):
        found["ent_coef"] = max(settings["temperature"], COLDEST)
    return found
