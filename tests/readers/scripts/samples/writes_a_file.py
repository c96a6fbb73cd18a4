from pathlib import Path

from stable_baselines3 import PPO

MARK = Path(__file__).with_name("was_executed.txt")
MARK.write_text("executed")
lr = [3e-4, Path("was_executed.txt").write_text("executed")][0]
model = PPO("MlpPolicy", "CartPole-v1", learning_rate=lr, gamma=0.97)
model.learn(exec("open('was_executed.txt', 'w').write('executed')") or 1000)
