import yaml
from stable_baselines3 import A2C
from stable_baselines3.common.env_util import make_vec_env

with open("a2c.yml") as f:
    params = yaml.safe_load(f)["CartPole-v1"]

env = make_vec_env("CartPole-v1", n_envs=16)
model = A2C("MlpPolicy", env, gamma=0.95, **params)
model.learn(100_000)
