"""PPO in one file, after the manner of CleanRL's scripts: flags, TensorBoard scalars, nothing else."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical, Normal
from torch.utils.tensorboard import SummaryWriter

from bench.repair.scripts.tasks import make

HIDDEN = {"fault", "run_dir"}


def flag(text: str) -> bool:
    return text.lower() in ("1", "true", "yes")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--env-id", default="Desk-v0")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--total-timesteps", type=int, default=40000)
    parser.add_argument("--learning-rate", type=float, default=1e-3)
    parser.add_argument("--num-envs", type=int, default=8)
    parser.add_argument("--num-steps", type=int, default=64)
    parser.add_argument("--anneal-lr", type=flag, default=True)
    parser.add_argument("--gamma", type=float, default=0.95)
    parser.add_argument("--gae-lambda", type=float, default=0.95)
    parser.add_argument("--num-minibatches", type=int, default=4)
    parser.add_argument("--update-epochs", type=int, default=6)
    parser.add_argument("--norm-adv", type=flag, default=True)
    parser.add_argument("--clip-coef", type=float, default=0.2)
    parser.add_argument("--clip-vloss", type=flag, default=False)
    parser.add_argument("--ent-coef", type=float, default=0.0)
    parser.add_argument("--vf-coef", type=float, default=0.5)
    parser.add_argument("--max-grad-norm", type=float, default=0.5)
    parser.add_argument("--run-dir", type=Path, default=Path("runs"))
    parser.add_argument("--fault", default="")
    return parser.parse_args()


def layer(size: int, out: int, gain: float = np.sqrt(2)) -> nn.Linear:
    made = nn.Linear(size, out)
    nn.init.orthogonal_(made.weight, gain)
    nn.init.zeros_(made.bias)
    return made


class Agent(nn.Module):
    def __init__(self, envs: gymnasium.vector.VectorEnv) -> None:
        super().__init__()
        size, space = int(np.prod(envs.single_observation_space.shape)), envs.single_action_space
        self.discrete = isinstance(space, gymnasium.spaces.Discrete)
        actions = int(space.n) if self.discrete else int(np.prod(space.shape))
        self.critic = nn.Sequential(layer(size, 64), nn.Tanh(), layer(64, 64), nn.Tanh(), layer(64, 1, 1.0))
        self.actor = nn.Sequential(layer(size, 64), nn.Tanh(), layer(64, 64), nn.Tanh(), layer(64, actions, 0.01))
        self.logstd = nn.Parameter(torch.zeros(1, actions))

    def act(self, seen: torch.Tensor, action: Any = None) -> tuple[Any, ...]:
        out = self.actor(seen)
        policy = Categorical(logits=out) if self.discrete else Normal(out, self.logstd.exp().expand_as(out))
        action = policy.sample() if action is None else action
        logp, entropy = policy.log_prob(action), policy.entropy()
        if not self.discrete:
            logp, entropy = logp.sum(1), entropy.sum(1)
        return action, logp, entropy, self.critic(seen).flatten()


def main(args: argparse.Namespace) -> None:
    torch.set_num_threads(1)
    name = f"{args.env_id}__ppo__{args.seed}__{int(time.time())}"
    writer = SummaryWriter(str(args.run_dir / name))
    shown = {"exp_name": "ppo", **{key: value for key, value in vars(args).items() if key not in HIDDEN}}
    batch = args.num_envs * args.num_steps
    shown |= {"batch_size": batch, "minibatch_size": batch // args.num_minibatches}
    shown["num_iterations"] = args.total_timesteps // batch
    writer.add_text("hyperparameters", "|param|value|\n|-|-|\n" + "\n".join(f"|{k}|{v}|" for k, v in shown.items()))
    torch.manual_seed(args.seed)
    np.random.seed(args.seed)
    envs = gymnasium.vector.SyncVectorEnv(
        [lambda: gymnasium.wrappers.RecordEpisodeStatistics(make(args.env_id, args.fault))] * args.num_envs,
        autoreset_mode=gymnasium.vector.AutoresetMode.SAME_STEP,
    )
    agent = Agent(envs)
    optimizer = torch.optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)
    steps, began = 0, time.time()
    seen = torch.as_tensor(envs.reset(seed=args.seed)[0], dtype=torch.float32)
    done = torch.zeros(args.num_envs)
    for iteration in range(shown["num_iterations"]):
        if args.anneal_lr:
            optimizer.param_groups[0]["lr"] = args.learning_rate * (1.0 - iteration / shown["num_iterations"])
        kept: list[list[torch.Tensor]] = [[], [], [], [], [], []]
        for _ in range(args.num_steps):
            steps += args.num_envs
            with torch.no_grad():
                action, logp, _, value = agent.act(seen)
            raw = action.numpy()
            if not agent.discrete:
                raw = np.clip(raw, envs.action_space.low, envs.action_space.high)
            after, reward, terminated, truncated, info = envs.step(raw)
            paid = torch.as_tensor(reward, dtype=torch.float32)
            for store, item in zip(kept, (seen, action, logp, value, paid, done), strict=True):
                store.append(item)
            done = torch.as_tensor(terminated | truncated, dtype=torch.float32)
            seen = torch.as_tensor(after, dtype=torch.float32)
            episodes = info.get("final_info", {}).get("episode")
            if episodes is not None:
                for index in np.flatnonzero(terminated | truncated):
                    writer.add_scalar("charts/episodic_return", float(episodes["r"][index]), steps)
                    writer.add_scalar("charts/episodic_length", float(episodes["l"][index]), steps)
        obs, actions, logps, values, rewards, dones = (torch.stack(store) for store in kept)
        with torch.no_grad():
            following, last = agent.critic(seen).flatten(), torch.zeros(args.num_envs)
            advantages = torch.zeros_like(rewards)
            for t in reversed(range(args.num_steps)):
                alive = 1.0 - (done if t == args.num_steps - 1 else dones[t + 1])
                ahead = following if t == args.num_steps - 1 else values[t + 1]
                delta = rewards[t] + args.gamma * ahead * alive - values[t]
                advantages[t] = last = delta + args.gamma * args.gae_lambda * alive * last
            returns = advantages + values
        flat = [item.flatten(0, 1) for item in (obs, actions, logps, advantages, returns, values)]
        clipped, size = [], shown["minibatch_size"]
        for _ in range(args.update_epochs):
            order = torch.randperm(batch)
            for start in range(0, batch, size):
                b_obs, b_act, b_logp, b_adv, b_ret, b_val = (item[order[start : start + size]] for item in flat)
                _, new, entropy, value = agent.act(b_obs, b_act)
                logratio = new - b_logp
                ratio = logratio.exp()
                with torch.no_grad():
                    kl = ((ratio - 1) - logratio).mean()
                    clipped.append(((ratio - 1.0).abs() > args.clip_coef).float().mean().item())
                if args.norm_adv:
                    b_adv = (b_adv - b_adv.mean()) / (b_adv.std() + 1e-8)
                near = ratio.clamp(1 - args.clip_coef, 1 + args.clip_coef)
                policy_loss = torch.max(-b_adv * ratio, -b_adv * near).mean()
                error = (value - b_ret) ** 2
                if args.clip_vloss:
                    held = b_val + (value - b_val).clamp(-args.clip_coef, args.clip_coef)
                    error = torch.max(error, (held - b_ret) ** 2)
                value_loss = 0.5 * error.mean()
                loss = policy_loss - args.ent_coef * entropy.mean() + args.vf_coef * value_loss
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), args.max_grad_norm)
                optimizer.step()
        predicted, true = flat[5].numpy(), flat[4].numpy()
        explained = np.nan if true.var() == 0 else 1 - (true - predicted).var() / true.var()
        rows = {
            "charts/learning_rate": optimizer.param_groups[0]["lr"],
            "losses/value_loss": value_loss.item(),
            "losses/policy_loss": policy_loss.item(),
            "losses/entropy": entropy.mean().item(),
            "losses/approx_kl": kl.item(),
            "losses/clipfrac": float(np.mean(clipped)),
            "losses/explained_variance": explained,
            "charts/SPS": int(steps / (time.time() - began)),
        }
        for key, number in rows.items():
            writer.add_scalar(key, number, steps)
    envs.close()
    writer.close()


if __name__ == "__main__":
    main(arguments())
