import os
import random

import gymnasium as gym
from stable_baselines3 import TD3
from stable_baselines3.common.noise import NormalActionNoise
import numpy as np

FAST = os.environ.get("FAST")
lr = 1e-3
if FAST:
    lr = 1e-2
steps = 1000
steps += 500
seed = random.randint(0, 100)
env = gym.make("Pendulum-v1")
noise = NormalActionNoise(np.zeros(1), 0.1 * np.ones(1))
model = TD3("MlpPolicy", env, learning_rate=lr, learning_starts=steps, seed=seed, action_noise=noise, batch_size=100,
            policy_delay=2, gamma=float(os.getenv("GAMMA", "0.99")))
model.learn(total_timesteps=10 * 1000)
