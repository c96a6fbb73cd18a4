import gymnasium as gym
from stable_baselines3 import PPO
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import SubprocVecEnv, VecFrameStack, VecNormalize

NUM_CPU = 4


def make_env(env_id, rank, seed=0):
    def _init():
        env = Monitor(gym.make(env_id), "logs")
        env.reset(seed=seed + rank)
        return env

    return _init


def main():
    env = SubprocVecEnv([make_env("HalfCheetah-v4", i) for i in range(NUM_CPU)])
    env = VecNormalize(env, norm_obs=True, norm_reward=False, clip_obs=10.0, gamma=0.9)
    env = VecFrameStack(env, n_stack=3)
    model = PPO("MlpPolicy", env, n_steps=512, gamma=0.99, gae_lambda=0.95, max_grad_norm=0.5, vf_coef=0.5)
    model.learn(1_000_000)


if __name__ == "__main__":
    main()
