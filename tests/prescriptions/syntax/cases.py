"""One real-looking config per framework and algorithm, and values to change to."""

from __future__ import annotations

from dataclasses import dataclass

from rlclinic.model.run import Run
from tests.prescriptions.made_runs import made_run

SOLVER = {
    "algo_id": "ppo", "env_id": "CartPole-v1", "n_envs": 8, "n_steps": 32, "batch_size": 256, "n_epochs": 20,
    "max_env_steps": 100000, "policy_lr": 0.001, "gamma": 0.98, "gae_lambda": 0.8, "clip_range": 0.2,
    "clip_range_vf": 0.2, "ent_coef": 0.01, "vf_coef": 0.5, "max_grad_norm": 0.5, "model_id": "mlp_tiny",
    "normalize_obs": False, "target_kl": 0.02, "eval_async": False, "normalize_advantages": "batch",
}  # fmt: skip
ZOO_PPO = {
    "n_timesteps": 100000.0, "n_envs": 8, "n_steps": 32, "batch_size": 256, "n_epochs": 20, "gamma": 0.98,
    "gae_lambda": 0.8, "ent_coef": 0.01, "learning_rate": "lin_0.001", "clip_range": "lin_0.2", "policy": "MlpPolicy",
    "policy_kwargs": "dict(net_arch=[64, 64], log_std_init=-2)",
}  # fmt: skip
ZOO_SAC = {
    "n_timesteps": 20000, "learning_rate": 0.001, "buffer_size": 300000, "batch_size": 256, "ent_coef": "auto",
    "gamma": 0.99, "tau": 0.005, "train_freq": 1, "gradient_steps": 1, "learning_starts": 1000,
}  # fmt: skip
SB3_PPO = {
    "learning_rate": 0.002, "n_steps": 256, "batch_size": 64, "n_epochs": 10, "gamma": 0.99, "gae_lambda": 0.95,
    "clip_range": 0.2, "ent_coef": 0.01, "vf_coef": 0.5, "max_grad_norm": 0.5, "n_envs": 4, "target_kl": 0.03,
}  # fmt: skip
SB3_DQN = {
    "learning_rate": 0.0023, "buffer_size": 10000, "batch_size": 64, "learning_starts": 1000, "gamma": 0.99,
    "tau": 1.0, "train_freq": 4, "gradient_steps": 1, "target_update_interval": 500, "exploration_fraction": 0.2,
    "exploration_final_eps": 0.05, "total_timesteps": 50000,
}  # fmt: skip
SB3_SAC = {
    "learning_rate": 0.001,
    "buffer_size": 10000,
    "batch_size": 128,
    "tau": 0.005,
    "ent_coef": "auto",
    "gamma": 0.99,
}
SB3_TD3 = {"learning_rate": 0.001, "buffer_size": 10000, "batch_size": 128, "tau": 0.005, "gamma": 0.98}
SB3_A2C = {"learning_rate": 0.0007, "n_steps": 5, "gamma": 0.99, "gae_lambda": 1.0, "ent_coef": 0.01, "vf_coef": 0.5}
SB3_TRPO = {"learning_rate": 0.001, "n_steps": 256, "batch_size": 64, "gamma": 0.99, "target_kl": 0.01}
CLEANRL_PPO = {
    "env_id": "CartPole-v1", "total_timesteps": 500000, "learning_rate": 0.00025, "num_envs": 4, "num_steps": 128,
    "anneal_lr": True, "gamma": 0.99, "gae_lambda": 0.95, "num_minibatches": 4, "update_epochs": 4, "norm_adv": True,
    "clip_coef": 0.2, "clip_vloss": True, "ent_coef": 0.01, "vf_coef": 0.5, "max_grad_norm": 0.5, "target_kl": None,
    "batch_size": 512, "minibatch_size": 128, "num_iterations": 976, "seed": 1,
}  # fmt: skip
CLEANRL_DQN = {
    "env_id": "CartPole-v1", "total_timesteps": 500000, "learning_rate": 0.00025, "buffer_size": 10000, "gamma": 0.99,
    "tau": 1.0, "target_network_frequency": 500, "batch_size": 128, "start_e": 1, "end_e": 0.05, "num_envs": 1,
    "exploration_fraction": 0.5, "learning_starts": 10000, "train_frequency": 10,
}  # fmt: skip
CLEANRL_SAC = {
    "env_id": "Hopper-v4", "total_timesteps": 1000000, "buffer_size": 1000000, "gamma": 0.99, "tau": 0.005,
    "batch_size": 256, "learning_starts": 5000, "policy_lr": 0.0003, "q_lr": 0.001, "alpha": 0.2, "autotune": True,
    "policy_frequency": 2, "target_network_frequency": 1,
}  # fmt: skip
RLLIB_PPO = {
    "env": "CartPole-v1", "enable_rl_module_and_learner": True, "lr": 0.001, "train_batch_size_per_learner": 4000,
    "minibatch_size": 250, "num_epochs": 10, "gamma": 0.99, "lambda": 0.95, "clip_param": 0.3, "entropy_coeff": 0.01,
    "vf_loss_coeff": 0.5, "grad_clip": 5.0, "kl_target": 0.01, "kl_coeff": 0.2, "vf_clip_param": 10.0,
    "num_env_runners": 0, "num_envs_per_env_runner": 4, "rollout_fragment_length": 200,
}  # fmt: skip
RLLIB_OLD = {"env": "CartPole-v0", "lr": 0.001, "train_batch_size": 4000, "sgd_minibatch_size": 128, "num_sgd_iter": 30,
             "gamma": 0.99, "lambda": 1.0, "clip_param": 0.3, "entropy_coeff": 0.0}  # fmt: skip
RLLIB_SAC = {"env": "Pendulum-v1", "enable_rl_module_and_learner": True, "actor_lr": 3e-5, "critic_lr": 3e-4,
             "alpha_lr": 3e-4, "train_batch_size_per_learner": 256, "tau": 0.005, "gamma": 0.99}  # fmt: skip
TORCHRL_PPO = {
    "env.env_name": "HalfCheetah-v4", "collector.frames_per_batch": 2048, "collector.total_frames": 1000000,
    "env.num_envs": 1, "optim.lr": 0.0003, "optim.anneal_lr": True, "loss.gamma": 0.99, "loss.mini_batch_size": 64,
    "loss.ppo_epochs": 10, "loss.gae_lambda": 0.95, "loss.clip_epsilon": 0.2, "loss.entropy_coeff": 0.01,
    "loss.critic_coeff": 0.25, "optim.max_grad_norm": 0.5,
}  # fmt: skip
TORCHRL_SAC = {
    "env.name": "HalfCheetah-v4", "collector.total_frames": 1000000, "collector.init_random_frames": 25000,
    "replay_buffer.size": 1000000, "optim.lr": 0.0003, "optim.batch_size": 256, "optim.gamma": 0.99,
    "optim.utd_ratio": 1.0, "optim.target_update_polyak": 0.995, "optim.alpha_init": 1.0,
}  # fmt: skip
RSL_RL = {
    "seed": 7, "num_steps_per_env": 24, "max_iterations": 60, "env.scene.num_envs": 16, "actor.class_name": "MLPModel",
    "actor.hidden_dims": [32, 32], "algorithm.class_name": "PPO", "algorithm.value_loss_coef": 1.0,
    "algorithm.use_clipped_value_loss": True, "algorithm.clip_param": 0.2, "algorithm.entropy_coef": 0.005,
    "algorithm.num_learning_epochs": 5, "algorithm.num_mini_batches": 4, "algorithm.learning_rate": 0.001,
    "algorithm.schedule": "adaptive", "algorithm.gamma": 0.99, "algorithm.lam": 0.95, "algorithm.desired_kl": 0.01,
    "algorithm.max_grad_norm": 1.0,
}  # fmt: skip
SKRL = {
    "seed": 42, "agent.class": "PPO", "agent.rollouts": 32, "agent.learning_epochs": 8, "agent.mini_batches": 8,
    "agent.discount_factor": 0.99, "agent.lambda": 0.95, "agent.learning_rate": 0.0005, "agent.grad_norm_clip": 1.0,
    "agent.ratio_clip": 0.2, "agent.value_clip": 0.2, "agent.entropy_loss_scale": 0.01, "agent.value_loss_scale": 2.0,
    "agent.kl_threshold": 0.008, "trainer.timesteps": 4800, "env.scene.num_envs": 64,
}  # fmt: skip
SPINUP_PPO = {
    "algo": "ppo", "env_name": "HalfCheetah-v4", "steps_per_epoch": 4000, "epochs": 50, "gamma": 0.99,
    "clip_ratio": 0.2, "pi_lr": 0.0003, "vf_lr": 0.001, "train_pi_iters": 80, "train_v_iters": 80, "lam": 0.97,
    "max_ep_len": 1000, "target_kl": 0.01, "seed": 0, "ac_kwargs.hidden_sizes": [64, 64], "num_cpu": 1,
}  # fmt: skip
SPINUP_TD3 = {
    "algo": "td3", "env_name": "Hopper-v4", "steps_per_epoch": 4000, "epochs": 100, "replay_size": 1000000,
    "gamma": 0.99, "polyak": 0.995, "pi_lr": 0.001, "q_lr": 0.001, "batch_size": 100, "update_after": 1000,
    "update_every": 50, "act_noise": 0.1, "target_noise": 0.2, "policy_delay": 2,
}  # fmt: skip
VERL = {
    "actor_rollout_ref.actor.optim.lr": 1e-6, "data.train_batch_size": 256, "actor_rollout_ref.rollout.n": 8,
    "actor_rollout_ref.actor.ppo_mini_batch_size": 64, "actor_rollout_ref.actor.clip_ratio": 0.2,
    "actor_rollout_ref.actor.entropy_coeff": 0.001, "actor_rollout_ref.actor.kl_loss_coef": 0.001,
    "actor_rollout_ref.rollout.temperature": 1.0,
}  # fmt: skip
RLCLINIC = {
    "framework": "sb3", "algorithm": "PPO", "env_id": "CartPole-v1", "total_steps": 20000, "learning_rate": 0.001,
    "n_steps": 128, "n_envs": 4, "batch_size": 64, "rlclinic_version": "0.1",
}  # fmt: skip
HYDRA = {"env_id": "Acrobot-v1", "total_timesteps": 15360, "algo.learning_rate": 0.001, "algo.n_steps": 512,
         "algo.batch_size": 128, "algo.gamma": 0.99, "algo.ent_coef": 0.01, "algo.clip_range": 0.2}  # fmt: skip
TRL = {"learning_rate": 1e-6, "num_generations": 8, "beta": 0.04, "epsilon": 0.2, "temperature": 0.9, "max_steps": 500}
OPENRLHF = {"actor_learning_rate": 1e-6, "eps_clip": 0.2, "init_kl_coef": 0.01, "train_batch_size": 128}


@dataclass(frozen=True, slots=True)
class Case:
    """A run to prescribe for."""

    name: str
    framework: str
    algorithm: str
    native: dict[str, object]
    source: str = "files"

    def run(self, native: dict[str, object] | None = None) -> Run:
        """The run, with its own config or another."""
        config = self.native if native is None else native
        return made_run(self.framework, self.algorithm, config, source=self.source, budget=1_000_000.0)


CASES = [
    Case("solver", "gymnasium-solver", "PPO", SOLVER),
    Case("rlclinic", "rlclinic", "PPO", RLCLINIC),
    Case("zoo_ppo", "sb3-zoo", "PPO", ZOO_PPO),
    Case("zoo_ppo_flags", "sb3-zoo", "PPO", {**ZOO_PPO, "hyperparams.gamma": 0.98}),
    Case("zoo_sac", "sb3-zoo", "SAC", ZOO_SAC),
    Case("sb3_ppo", "sb3", "PPO", SB3_PPO),
    Case("sb3_a2c", "sb3", "A2C", SB3_A2C),
    Case("sb3_dqn", "sb3", "DQN", SB3_DQN),
    Case("sb3_sac", "sb3", "SAC", SB3_SAC),
    Case("sb3_td3", "sb3", "TD3", SB3_TD3),
    Case("sb3_tqc", "sb3", "TQC", SB3_SAC),
    Case("sb3_crossq", "sb3", "CROSSQ", SB3_SAC),
    Case("sb3_qrdqn", "sb3", "QRDQN", SB3_DQN),
    Case("sb3_trpo", "sb3", "TRPO", SB3_TRPO),
    Case("cleanrl_ppo", "cleanrl", "PPO", CLEANRL_PPO),
    Case("cleanrl_dqn", "cleanrl", "DQN", CLEANRL_DQN),
    Case("cleanrl_sac", "cleanrl", "SAC", CLEANRL_SAC),
    Case("rllib_ppo", "rllib", "PPO", RLLIB_PPO),
    Case("rllib_old", "rllib", "PPO", RLLIB_OLD),
    Case("rllib_sac", "rllib", "SAC", RLLIB_SAC),
    Case("torchrl_ppo", "torchrl", "PPO", TORCHRL_PPO),
    Case("torchrl_sac", "torchrl", "SAC", TORCHRL_SAC),
    Case("hydra", "sb3", "PPO", HYDRA, source="hydra"),
    Case("rsl_rl", "rsl_rl", "PPO", RSL_RL),
    Case("skrl", "skrl", "PPO", SKRL),
    Case("spinup_ppo", "spinningup", "PPO", SPINUP_PPO),
    Case("spinup_td3", "spinningup", "TD3", SPINUP_TD3),
    Case("verl", "verl", "GRPO", VERL),
    Case("trl", "trl", "GRPO", TRL),
    Case("openrlhf", "openrlhf", "GRPO", OPENRLHF),
]
BY_NAME = {case.name: case for case in CASES}

# Every hyperparameter that a remedy may change, with a value that differs from all configs above.
AFTER: dict[str, object] = {
    "learning_rate": 0.00007, "learning_rate_critic": 0.0007, "batch_size": 32, "n_steps": 96, "n_envs": 12,
    "n_epochs": 7, "n_minibatches": 2, "rollout_size": 768, "clip_range": 0.13, "clip_range_vf": 0.37,
    "clip_value_loss": False, "target_kl": 0.017, "ent_coef": 0.0031, "vf_coef": 0.73, "max_grad_norm": 0.77,
    "gamma": 0.9973, "gae_lambda": 0.93, "buffer_size": 77777, "learning_starts": 777, "train_freq": 3,
    "gradient_steps": 3, "tau": 0.011, "target_update_interval": 333, "exploration_fraction": 0.31,
    "exploration_final": 0.031, "exploration_initial": 0.91, "exploration_steps": 3100, "total_steps": 1234560,
    "normalize_obs": True, "normalize_reward": True, "net_arch": [256, 256], "activation": "tanh", "log_std_init": -1.5,
    "init_std": 0.5, "normalize_advantage": False, "adam_epsilon": 1e-6, "reward_scale": 0.1, "action_noise": 0.21,
    "policy_delay": 3, "target_noise": 0.27, "autotune_alpha": True, "eval_async": True, "kl_coef": 0.07,
    "kl_loss_coef": 0.0077, "temperature": 0.77, "group_size": 16, "mini_batch_size": 32, "max_response_length": 999,
    "learning_rate_schedule": "linear", "n_step_return": 3, "frame_stack": 3, "eval_episodes": 33,
}  # fmt: skip
