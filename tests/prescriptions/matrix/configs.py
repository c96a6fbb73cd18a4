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
from tests.prescriptions.syntax.parsers import flatten

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
RLLIB_CQL = {
    "env": "Pendulum-v1", "enable_rl_module_and_learner": True, "actor_lr": 3e-5, "critic_lr": 3e-4, "alpha_lr": 3e-4,
    "train_batch_size_per_learner": 256, "tau": 0.005, "gamma": 0.99, "min_q_weight": 5.0,
}  # fmt: skip
HYDRA_DQN = {
    "env_id": "CartPole-v1", "total_timesteps": 50000, "algo.learning_rate": 0.001, "algo.buffer_size": 50000,
    "algo.learning_starts": 1000, "algo.batch_size": 64, "algo.gamma": 0.99, "algo.tau": 1.0, "algo.train_freq": 4,
    "algo.gradient_steps": 1, "algo.target_update_interval": 500, "algo.exploration_fraction": 0.2,
    "algo.exploration_initial_eps": 1.0, "algo.exploration_final_eps": 0.05, "algo.learning_rate_schedule": "constant",
}  # fmt: skip
HYDRA_SAC = {
    "env_id": "Pendulum-v1", "total_timesteps": 20000, "algo.learning_rate": 0.001, "algo.buffer_size": 50000,
    "algo.learning_starts": 1000, "algo.batch_size": 256, "algo.gamma": 0.99, "algo.tau": 0.005, "algo.ent_coef": 0.1,
    "algo.train_freq": 1, "algo.gradient_steps": 1,
}  # fmt: skip
SEARCH_R1 = {
    "actor_rollout_ref.actor.optim.lr": 1e-6, "data.train_batch_size": 512, "actor_rollout_ref.rollout.n_agent": 5,
    "actor_rollout_ref.actor.ppo_mini_batch_size": 256, "actor_rollout_ref.actor.use_kl_loss": True,
    "actor_rollout_ref.actor.kl_loss_coef": 0.001, "data.max_response_length": 500, "data.max_obs_length": 500,
    "max_turns": 4, "actor_rollout_ref.actor.state_masking": True, "reward_model.structure_format_score": 0.2,
}  # fmt: skip
SPINUP_SAC = {
    "algo": "sac", "env_name": "Hopper-v4", "steps_per_epoch": 4000, "epochs": 100, "replay_size": 1000000,
    "gamma": 0.99, "polyak": 0.995, "lr": 0.001, "alpha": 0.2, "batch_size": 100, "start_steps": 10000,
    "update_after": 1000, "update_every": 50,
}  # fmt: skip
# As the examples of skrl's documentation describe them, the models in their list form.
_SKRL_NET = [{"name": "net", "input": "OBSERVATIONS", "layers": [32, 32], "activations": "elu"}]
_SKRL_PAIR = [{"name": "net", "input": "concatenate([OBSERVATIONS, ACTIONS])", "layers": [32], "activations": "relu"}]
_SKRL_MODEL = {"class": "DeterministicMixin", "clip_actions": False, "network": _SKRL_NET}
_SKRL_ROUTINE = {"trainer.class": "SequentialTrainer", "trainer.timesteps": 20000, "env.scene.num_envs": 2, "seed": 42}
SKRL_PPO = flatten({
    **_SKRL_ROUTINE,
    "models": {
        "separate": True,
        "policy": {"class": "GaussianMixin", "initial_log_std": 0.0, "network": _SKRL_NET, "output": "ACTIONS"},
        "value": {**_SKRL_MODEL, "output": "ONE"},
    },
    "memory": {"class": "RandomMemory", "memory_size": -1},
    "agent": {
        "class": "PPO", "rollouts": 32, "learning_epochs": 8, "mini_batches": 8, "discount_factor": 0.99,
        "gae_lambda": 0.95, "learning_rate": 5.0e-4, "learning_rate_scheduler": None, "grad_norm_clip": 1.0,
        "ratio_clip": 0.2, "value_clip": 0.2, "entropy_loss_scale": 0.01, "value_loss_scale": 2.0,
        "kl_threshold": 0.008, "rewards_shaper_scale": 1.0, "observation_preprocessor": None,
    },
})  # fmt: skip
SKRL_SAC = flatten({
    **_SKRL_ROUTINE,
    "models": {
        "separate": True,
        "policy": {"class": "GaussianMixin", "initial_log_std": 0.0, "network": _SKRL_NET, "output": "ACTIONS"},
        **{
            role: {**_SKRL_MODEL, "network": _SKRL_PAIR, "output": "ONE"}
            for role in ("critic_1", "critic_2", "target_critic_1", "target_critic_2")
        },
    },
    "memory": {"class": "RandomMemory", "memory_size": 20000},
    "agent": {
        "class": "SAC", "gradient_steps": 1, "batch_size": 256, "discount_factor": 0.99, "polyak": 0.005,
        "learning_rate": 1.0e-3, "learning_starts": 100, "grad_norm_clip": 0.5, "learn_entropy": True,
        "initial_entropy_value": 0.2, "rewards_shaper_scale": 1.0, "observation_preprocessor": None,
    },
})  # fmt: skip
SKRL_DQN = flatten({
    **_SKRL_ROUTINE,
    "models": {
        "separate": True,
        **{role: {**_SKRL_MODEL, "output": "ACTIONS"} for role in ("q_network", "target_q_network")},
    },
    "memory": {"class": "RandomMemory", "memory_size": 20000},
    "agent": {
        "class": "DQN", "gradient_steps": 1, "batch_size": 64, "discount_factor": 0.99, "polyak": 0.005,
        "learning_rate": 1.0e-3, "learning_starts": 100, "update_interval": 1, "target_update_interval": 10,
        "exploration_scheduler": "max(0.05, 1.0 - timestep / 2000)",
    },
})  # fmt: skip
# Frameworks that train language models.
LANGUAGE_MODELS = ("verl", "search-r1")


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
        return _own_run(self.syntax, self.framework, self.algorithm)

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
        Config("rllib-python", "rllib", "CQL", "Pendulum-v1", RLLIB_CQL),
        Config("torchrl-overrides", "torchrl", "PPO", "HalfCheetah-v4", cases.TORCHRL_PPO),
        Config("torchrl-overrides", "torchrl", "SAC", "HalfCheetah-v4", cases.TORCHRL_SAC),
        Config("torchrl-overrides", "torchrl", "DQN", "CartPole-v1", TORCHRL_DQN),
        _recorded("hydra/ppo_acrobot", "hydra-overrides"),
        Config("hydra-overrides", "sb3", "DQN", "CartPole-v1", HYDRA_DQN, source="hydra"),
        Config("hydra-overrides", "sb3", "SAC", "Pendulum-v1", HYDRA_SAC, source="hydra"),
        Config("hydra-overrides", "verl", "GRPO", "", cases.VERL, source="hydra"),
        Config("hydra-overrides", "search-r1", "GRPO", "", SEARCH_R1, source="hydra"),
        _recorded("rsl_rl/cartpole", "rsl_rl-yaml"),
        Config("skrl-yaml", "skrl", "PPO", "Pendulum-v1", SKRL_PPO),
        Config("skrl-yaml", "skrl", "SAC", "Pendulum-v1", SKRL_SAC),
        Config("skrl-yaml", "skrl", "DQN", "CartPole-v1", SKRL_DQN),
        _recorded("spinningup/ppo", "spinningup-flags"),
        Config("spinningup-flags", "spinningup", "TD3", "Hopper-v4", cases.SPINUP_TD3),
        Config("spinningup-flags", "spinningup", "SAC", "Hopper-v4", SPINUP_SAC),
    )


def _recorded(path: str, syntax: str) -> Config:
    run = read(next(iter(find(RUNS / path))).path)
    native = {key: setting.value for key, setting in run.config.native.items()}
    return Config(syntax, run.framework, run.algorithm, run.environment or "CartPole-v1", native, run.source)


@cache
def _own_run(*identity: str) -> Run:
    return next(item for item in configs() if (item.syntax, item.framework, item.algorithm) == identity).run()
