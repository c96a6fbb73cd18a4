import argparse

import gymnasium as gym
from stable_baselines3 import DQN

parser = argparse.ArgumentParser()
parser.add_argument("--env", type=str, default="MountainCar-v0")
parser.add_argument("--lr", "--learning-rate", dest="lr", type=float, default=4e-3)
parser.add_argument("--batch-size", type=int, default=128)
parser.add_argument("--timesteps", type=int, default=120000)
parser.add_argument("--seed", type=int)
args = parser.parse_args()

model = DQN(
    "MlpPolicy",
    gym.make(args.env),
    learning_rate=args.lr,
    batch_size=args.batch_size,
    buffer_size=10000,
    learning_starts=1000,
    target_update_interval=600,
    train_freq=16,
    exploration_fraction=0.2,
    exploration_final_eps=0.07,
    seed=args.seed,
)
model.learn(total_timesteps=args.timesteps)
