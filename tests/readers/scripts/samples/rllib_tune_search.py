from ray import tune
from ray.rllib.algorithms.dqn import DQNConfig

config = DQNConfig()
config.environment(env="LunarLander-v2")
config.training(lr=tune.grid_search([1e-3, 1e-4]), gamma=0.99, n_step=3, double_q=True)
tune.Tuner("DQN", param_space=config.to_dict()).fit()
