from isaaclab_rl.rsl_rl import RslRlOnPolicyRunnerCfg, RslRlPpoActorCriticCfg, RslRlPpoAlgorithmCfg
from isaaclab.utils import configclass


@configclass
class AntPPORunnerCfg(RslRlOnPolicyRunnerCfg):
    num_steps_per_env = 32
    max_iterations = 1000
    policy = RslRlPpoActorCriticCfg(init_noise_std=1.0, actor_hidden_dims=[400, 200, 100])
    algorithm = RslRlPpoAlgorithmCfg(
        value_loss_coef=1.0, clip_param=0.2, entropy_coef=0.0, num_learning_epochs=5, num_mini_batches=4,
        learning_rate=5.0e-4, gamma=0.99, lam=0.95, desired_kl=0.01, max_grad_norm=1.0,
    )
