import gymnasium as gym
import torch.nn as nn
from stable_baselines3 import SAC

hyperparams = {
    "learning_rate": 7.3e-4,
    "buffer_size": 300_000,
    "batch_size": 256,
    "ent_coef": "auto",
    "gamma": 0.98,
    "tau": 0.02,
    "train_freq": 8,
    "gradient_steps": 8,
    "learning_starts": 10_000,
    "use_sde": True,
    "policy_kwargs": dict(log_std_init=-3, net_arch=[400, 300], activation_fn=nn.ReLU),
}

env = gym.make("BipedalWalker-v3", hardcore=False)
model = SAC("MlpPolicy", env, verbose=1, **hyperparams)
model.learn(total_timesteps=5e5, log_interval=4)
