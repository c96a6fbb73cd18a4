"""One config per syntax and algorithm: recorded with the framework where there is a recording, else written by hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache

from rlclinic.model.run import Run
from rlclinic.prescriptions.syntax import Dialect, dialects
from rlclinic.readers.discover import find
from rlclinic.readers.open import read
from tests.conftest import RUNS
from tests.prescriptions import made_runs
from tests.prescriptions.syntax import cases

ZOO_DQN = {
    "n_timesteps": 50000.0, "policy": "MlpPolicy", "learning_rate": 0.0023, "batch_size": 64, "buffer_size": 100000,
    "learning_starts": 1000, "gamma": 0.99, "target_update_interval": 10, "train_freq": 256, "gradient_steps": 128,
    "exploration_fraction": 0.16, "exploration_final_eps": 0.04, "policy_kwargs": "dict(net_arch=[256, 256])",
}  # fmt: skip
RLLIB_DQN = {
    "env": "CartPole-v1", "enable_rl_module_and_learner": True, "lr": 0.0005, "train_batch_size_per_learner": 32,
    "gamma": 0.99, "tau": 1.0, "target_network_update_freq": 500, "num_steps_sampled_before_learning_starts": 1000,
    "training_intensity": 1.0, "double_q": False, "grad_clip": 40.0, "replay_buffer_config.capacity": 50000,
}  # fmt: skip
TORCHRL_DQN = {
    "env.env_name": "CartPole-v1", "collector.total_frames": 500100, "collector.frames_per_batch": 10,
    "collector.eps_start": 1.0, "collector.eps_end": 0.05, "collector.annealing_frames": 250000,
    "collector.init_random_frames": 10000, "buffer.buffer_size": 10000, "buffer.batch_size": 128, "optim.lr": 0.00025,
    "loss.gamma": 0.99, "loss.hard_update_freq": 50, "loss.num_updates": 1,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Config:
    """A config of one framework and algorithm, and the syntax in which it is changed."""

    syntax: str
    """The id of the dialect."""
    framework: str
    algorithm: str
    environment: str
    native: Mapping[str, object]
    source: str = "files"

    def own_run(self) -> Run:
        """The run of the config as it is."""
        return _own_run(self.syntax, self.algorithm)

    def run(self, native: Mapping[str, object] | None = None) -> Run:
        """The run that such a config belongs to."""
        made = made_runs.made_run(
            self.framework, self.algorithm, self.native if native is None else native,
            source=self.source, environment=self.environment,
        )  # fmt: skip
        return replace(made, budget=made.config.number("total_steps") or 100_000.0)

    @property
    def dialect(self) -> Dialect:
        """How it is written."""
        return next(item for item in dialects() if item.id == self.syntax)


@cache
def configs() -> tuple[Config, ...]:
    """All of them, several algorithms per syntax where the framework has them."""
    solver = _recorded("gymnasium_solver/runs/local-20260115-103000", "gymnasium-solver-yaml")
    zoo = _recorded("zoo/ppo_cartpole/logs/ppo/CartPole-v1_1", "rl-zoo-yaml")
    others = (
        Config("rl-zoo-yaml", "sb3-zoo", "SAC", "Pendulum-v1", cases.ZOO_SAC),
        Config("rl-zoo-yaml", "sb3-zoo", "DQN", "CartPole-v1", ZOO_DQN),
    )
    return (
        solver,
        replace(solver, syntax="gymnasium-solver-flags"),
        *(replace(item, syntax=name) for item in (zoo, *others) for name in ("rl-zoo-yaml", "rl-zoo-flags")),
        _recorded("sb3/ppo_cartpole", "sb3-python"),
        _recorded("faults/high_lr_sac_pendulum", "sb3-python"),
        _recorded("faults/healthy_dqn_cartpole", "sb3-python"),
        _recorded("cleanrl/ppo_cartpole", "cleanrl-flags"),
        _recorded("cleanrl/dqn_cartpole", "cleanrl-flags"),
        Config("cleanrl-flags", "cleanrl", "SAC", "Pendulum-v1", cases.CLEANRL_SAC),
        _recorded("rllib/ppo_cartpole", "rllib-python"),
        Config("rllib-python", "rllib", "SAC", "Pendulum-v1", cases.RLLIB_SAC),
        Config("rllib-python", "rllib", "DQN", "CartPole-v1", RLLIB_DQN),
        Config("torchrl-overrides", "torchrl", "PPO", "HalfCheetah-v4", cases.TORCHRL_PPO),
        Config("torchrl-overrides", "torchrl", "SAC", "HalfCheetah-v4", cases.TORCHRL_SAC),
        Config("torchrl-overrides", "torchrl", "DQN", "CartPole-v1", TORCHRL_DQN),
        _recorded("hydra/ppo_acrobot", "hydra-overrides"),
        Config("hydra-overrides", "verl", "GRPO", "", cases.VERL, source="hydra"),
        _recorded("rsl_rl/cartpole", "rsl_rl-yaml"),
        Config("skrl-yaml", "skrl", "PPO", "CartPole-v1", cases.SKRL),
        _recorded("spinningup/ppo", "spinningup-flags"),
        Config("spinningup-flags", "spinningup", "TD3", "Hopper-v4", cases.SPINUP_TD3),
    )


def _recorded(path: str, syntax: str) -> Config:
    run = read(next(iter(find(RUNS / path))).path)
    native = {key: setting.value for key, setting in run.config.native.items()}
    return Config(syntax, run.framework, run.algorithm, run.environment or "CartPole-v1", native, run.source)


@cache
def _own_run(syntax: str, algorithm: str) -> Run:
    return next(item for item in configs() if (item.syntax, item.algorithm) == (syntax, algorithm)).run()
