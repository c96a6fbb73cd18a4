from ray import tune
from ray.rllib.algorithms.ppo import PPOConfig

config = (
    PPOConfig()
    .environment("CartPole-v1")
    .env_runners(num_env_runners=2, num_envs_per_env_runner=4)
    .training(
        lr=5e-5,
        gamma=0.99,
        lambda_=0.95,
        clip_param=0.2,
        train_batch_size_per_learner=4000,
        minibatch_size=128,
        num_epochs=30,
        entropy_coeff=0.0,
        model={"fcnet_hiddens": [256, 256]},
    )
    .debugging(seed=3)
)
algo = config.build()
for _ in range(10):
    algo.train()
