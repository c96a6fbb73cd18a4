import gymnasium as gym
import wandb
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import DummyVecEnv
from wandb.integration.sb3 import WandbCallback

config = {
    "policy_type": "MlpPolicy",
    "total_timesteps": 25000,
    "env_name": "CartPole-v1",
    "lr": 1e-3,
}
run = wandb.init(project="sb3", config=config, sync_tensorboard=True)


def make_env():
    return gym.make(config["env_name"])


env = DummyVecEnv([make_env])
model = PPO(config["policy_type"], env, learning_rate=wandb.config.lr, tensorboard_log=f"runs/{run.id}")
model.learn(total_timesteps=config["total_timesteps"], callback=WandbCallback())
