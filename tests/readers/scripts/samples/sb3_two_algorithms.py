from stable_baselines3 import A2C, PPO

for name in ("a", "b"):
    a2c = A2C("MlpPolicy", "CartPole-v1", learning_rate=7e-4, n_steps=5)
    a2c.learn(50_000)
    ppo = PPO("MlpPolicy", "CartPole-v1", learning_rate=1e-4, n_steps=256, n_epochs=20)
    ppo.learn(50_000)
