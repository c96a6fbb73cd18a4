"""DQN in one file, after the manner of CleanRL's scripts: flags, TensorBoard scalars, nothing else."""

from __future__ import annotations

import argparse
import copy
import time
from pathlib import Path

import gymnasium
import numpy as np
import torch
from torch import nn
from torch.utils.tensorboard import SummaryWriter

from bench.repair.scripts.tasks import make

HIDDEN = {"fault", "run_dir"}
# Env steps between two rows of losses.
EVERY = 100


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--env-id", default="Desk-v0")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--total-timesteps", type=int, default=15000)
    parser.add_argument("--learning-rate", type=float, default=1e-3)
    parser.add_argument("--buffer-size", type=int, default=10000)
    parser.add_argument("--gamma", type=float, default=0.95)
    parser.add_argument("--tau", type=float, default=1.0)
    parser.add_argument("--target-network-frequency", type=int, default=200)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--start-e", type=float, default=1.0)
    parser.add_argument("--end-e", type=float, default=0.05)
    parser.add_argument("--exploration-fraction", type=float, default=0.4)
    parser.add_argument("--learning-starts", type=int, default=500)
    parser.add_argument("--train-frequency", type=int, default=2)
    parser.add_argument("--run-dir", type=Path, default=Path("runs"))
    parser.add_argument("--fault", default="")
    return parser.parse_args()


def main(args: argparse.Namespace) -> None:
    torch.set_num_threads(1)
    writer = SummaryWriter(str(args.run_dir / f"{args.env_id}__dqn__{args.seed}__{int(time.time())}"))
    shown = {"exp_name": "dqn", **{key: value for key, value in vars(args).items() if key not in HIDDEN}}
    writer.add_text("hyperparameters", "|param|value|\n|-|-|\n" + "\n".join(f"|{k}|{v}|" for k, v in shown.items()))
    torch.manual_seed(args.seed)
    chance = np.random.default_rng(args.seed)
    env = gymnasium.wrappers.RecordEpisodeStatistics(make(args.env_id, args.fault))
    size, actions = env.observation_space.shape[0], int(env.action_space.n)
    online = nn.Sequential(nn.Linear(size, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, actions))
    target = copy.deepcopy(online)
    optimizer = torch.optim.Adam(online.parameters(), lr=args.learning_rate)
    seen_at, next_at = (np.zeros((args.buffer_size, size), dtype=np.float32) for _ in range(2))
    taken, paid, ended = (np.zeros(args.buffer_size, dtype=kind) for kind in (np.int64, np.float32, np.float32))
    env.action_space.seed(args.seed)
    seen, _ = env.reset(seed=args.seed)
    began = time.time()
    for step in range(args.total_timesteps):
        part = min(step / max(args.exploration_fraction * args.total_timesteps, 1.0), 1.0)
        epsilon = args.start_e + part * (args.end_e - args.start_e)
        if chance.random() < epsilon:
            action = int(env.action_space.sample())
        else:
            with torch.no_grad():
                action = int(online(torch.as_tensor(seen)).argmax())
        after, reward, terminated, truncated, info = env.step(action)
        at = step % args.buffer_size
        seen_at[at], next_at[at], taken[at], paid[at], ended[at] = seen, after, action, reward, float(terminated)
        seen = after
        if terminated or truncated:
            writer.add_scalar("charts/episodic_return", float(info["episode"]["r"]), step)
            writer.add_scalar("charts/episodic_length", float(info["episode"]["l"]), step)
            seen, _ = env.reset()
        if step > args.learning_starts and step % args.train_frequency == 0:
            rows = chance.integers(0, min(step + 1, args.buffer_size), args.batch_size)
            with torch.no_grad():
                best = target(torch.as_tensor(next_at[rows])).max(dim=1).values
                wanted = torch.as_tensor(paid[rows]) + args.gamma * best * (1.0 - torch.as_tensor(ended[rows]))
            values = online(torch.as_tensor(seen_at[rows])).gather(1, torch.as_tensor(taken[rows])[:, None]).squeeze(1)
            loss = nn.functional.mse_loss(values, wanted)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if step % EVERY == 0:
                writer.add_scalar("losses/td_loss", loss.item(), step)
                writer.add_scalar("losses/q_values", values.mean().item(), step)
                writer.add_scalar("charts/SPS", int(step / (time.time() - began)), step)
        if step > args.learning_starts and step % args.target_network_frequency == 0:
            for new, old in zip(online.parameters(), target.parameters(), strict=True):
                old.data.copy_(args.tau * new.data + (1.0 - args.tau) * old.data)
    env.close()
    writer.close()


if __name__ == "__main__":
    main(arguments())
