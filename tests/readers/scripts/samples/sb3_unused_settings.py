import argparse

from stable_baselines3 import PPO


class Cfg:
    gamma = 0.9
    gae_lambda = 0.5


def get_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--n_epochs", type=int, default=77)
    parser.add_argument("--ent-coef", type=float, default=0.3)
    parser.add_argument("--lr", type=float, default=0.05)
    return parser.parse_args()


args = get_args()
NET = {"n_steps": 256}
print(f"entropy bonus {args.ent_coef}")
model = PPO("MlpPolicy", "CartPole-v1", learning_rate=args.lr, gamma=Cfg.gamma, n_steps=NET.get("n_steps", 1),
            batch_size=NET.get("batch", 32))
model.learn(1000)
for epoch in range(args.n_epochs):
    model.predict(model.env.reset())
