import gym
from agent import PPOAgent

env = gym.make("BipedalWalker-v3")
K_epochs = 80
agent = PPOAgent(state_dim=24, action_dim=4, lr_actor=0.0003, lr_critic=0.001, gamma=0.99, K_epochs=K_epochs, eps_clip=0.2)
for episode in range(1000):
    agent.update()
