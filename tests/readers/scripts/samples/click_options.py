import click
import gymnasium
from stable_baselines3 import PPO


@click.command()
@click.option("--learning-rate", default=1e-3)
@click.option("--env-id", default="Acrobot-v1")
def main(learning_rate, env_id):
    model = PPO("MlpPolicy", gymnasium.make(env_id), learning_rate=learning_rate, n_steps=1024)
    model.learn(2e5)


if __name__ == "__main__":
    main()
