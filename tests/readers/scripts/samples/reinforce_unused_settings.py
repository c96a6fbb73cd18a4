import argparse

import gymnasium as gym
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--gamma", type=float, default=0.97)
parser.add_argument("--tau", type=float, default=0.01)
parser.add_argument("--seed", type=int, default=543)
args = parser.parse_args()
BUFFER_SIZE = 100000


class Config:
    batch_size = 512
    n_epochs = 8


env = gym.make("CartPole-v1")
print("tau", args.tau, Config.n_epochs)
optimizer = torch.optim.Adam([], lr=1e-2)
returns = 1.0 + args.gamma * env.reset(seed=args.seed)[0]
