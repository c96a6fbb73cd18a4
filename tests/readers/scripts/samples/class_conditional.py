import gymnasium as gym
import torch.optim as optim

cfg = {"gamma": 0.99, "batch_size": 32, "tau": 0.01}
cfg["batch_size"] = 64
if gym.__version__ > "1":
    cfg["tau"] = 0.5


class Network:
    def __init__(self, size, lr=1e-2):
        self.lr = lr
        self.optimizer = optim.Adam([], lr=self.lr)


class DQNAgent:
    def __init__(self, gamma, tau, batch_size):
        self.net = Network(64, 5e-4)


agent = DQNAgent(gamma=cfg["gamma"], tau=cfg["tau"], batch_size=cfg["batch_size"])
env = gym.make("Acrobot-v1")
