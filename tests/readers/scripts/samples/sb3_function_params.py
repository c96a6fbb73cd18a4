from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_atari_env


def train(env_id, total=int(1e7), lr=2.5e-4, ent=0.01):
    env = make_atari_env(env_id, n_envs=8, seed=0)
    model = PPO("CnnPolicy", env, learning_rate=lr, ent_coef=ent, n_steps=128, n_epochs=4, batch_size=256)
    model.learn(total_timesteps=total)


train("BreakoutNoFrameskip-v4", ent=0.02)
