"""A DQN written by hand, after the PyTorch tutorial."""
import gymnasium as gym
import torch.optim as optim

env = gym.make("CartPole-v1")
BATCH_SIZE = 128
GAMMA = 0.99
EPS_START = 0.9
TAU = 0.005
LR = 1e-4
policy_net = None
optimizer = optim.AdamW(policy_net.parameters(), lr=LR, amsgrad=True)


def optimize(memory, step):
    epsilon = EPS_START * 0.99**step
    for reward, value in memory.sample(BATCH_SIZE):
        target = reward + GAMMA * value
    return TAU * target + (1 - TAU) * epsilon
