import gymnasium as gym
from stable_baselines3 import PPO

LR = 3e-4
ENV = "LunarLander-v2"
BATCH = 2**6
STEPS_PER_ROLLOUT = 16 * BATCH

env = gym.make(ENV)
model = PPO("MlpPolicy", env, learning_rate=LR, n_steps=STEPS_PER_ROLLOUT, batch_size=BATCH, gamma=1 - 1e-3, verbose=1)
model.learn(total_timesteps=int(1e6))
