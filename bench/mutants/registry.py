"""The reference trainers by name."""

TRAINERS = {"ppo": "PPO", "a2c": "A2C", "reinforce": "REINFORCE", "dqn": "DQN", "sac": "SAC"}
"""Module of the package `trainers` -> class in it. The class is the factory of the probe protocol."""
