"""Which hyperparameters an algorithm has at all, so that no constructor is told of one it does not know."""

from __future__ import annotations

# Algorithms by what they keep: rollouts that are thrown away, or a buffer from which they replay.
ROLLOUT = frozenset(
    {"PPO", "MASKABLEPPO", "RECURRENTPPO", "PPG", "RPO", "APPO", "A2C", "A3C", "TRPO", "VPG", "REINFORCE", "MM-RKHS"}
)
CLIPPED = frozenset({"PPO", "MASKABLEPPO", "RECURRENTPPO", "PPG", "RPO", "APPO"})
GREEDY = frozenset({"DQN", "QRDQN", "C51", "RAINBOW", "IQN"})
CONSERVATIVE = frozenset({"CQL"})
ENTROPIC = CONSERVATIVE | {"SAC", "TQC", "CROSSQ", "REDQ", "DROQ", "DISCRETESAC"}
NOISY = frozenset({"TD3", "DDPG"})
REPLAY = GREEDY | ENTROPIC | NOISY
KNOWN = ROLLOUT | REPLAY

# Hyperparameters that only some of the known algorithms have; all others have the rest.
HOLDERS = {
    **dict.fromkeys(("n_steps", "rollout_size", "gae_lambda", "vf_coef", "normalize_advantage"), ROLLOUT),
    **dict.fromkeys(("clip_range", "clip_range_vf", "clip_value_loss"), CLIPPED),
    **dict.fromkeys(("n_epochs", "n_minibatches"), ROLLOUT - {"A2C", "A3C"}),
    "target_kl": CLIPPED | {"TRPO"},
    "kl_coef": CLIPPED,
    **dict.fromkeys(("buffer_size", "learning_starts", "train_freq", "gradient_steps", "update_to_data"), REPLAY),
    **dict.fromkeys(("tau", "n_step_return", "prioritized_replay"), REPLAY),
    "target_update_interval": GREEDY | ENTROPIC,
    **dict.fromkeys(("exploration_initial", "exploration_final"), GREEDY),
    **dict.fromkeys(("exploration_fraction", "exploration_steps", "double_q"), GREEDY),
    **dict.fromkeys(("target_entropy", "autotune_alpha", "learning_rate_alpha"), ENTROPIC),
    **dict.fromkeys(("ent_coef", "log_std_init", "init_std"), ROLLOUT | ENTROPIC),
    "action_noise": NOISY | ENTROPIC,
    "target_noise": frozenset({"TD3"}),
    "conservative_weight": CONSERVATIVE,
    "policy_delay": NOISY | ENTROPIC,
}


def applies(name: str, algorithm: str) -> bool:
    """Whether an algorithm has a hyperparameter; true where the algorithm is not known."""
    holders = HOLDERS.get(name)
    return holders is None or algorithm not in KNOWN or algorithm in holders
