from typing import Callable

from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env


def linear_schedule(initial: float) -> Callable[[float], float]:
    return lambda remaining: remaining * initial


if __name__ == "__main__":
    vec_env = make_vec_env("CartPole-v1", n_envs=8, seed=7)
    model = PPO(
        "MlpPolicy",
        vec_env,
        learning_rate=linear_schedule(3e-4),
        clip_range=0.2,
        n_epochs=4,
        ent_coef=0.0,
        tensorboard_log="./tb/",
    )
    model.learn(500_000)
