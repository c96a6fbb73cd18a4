import os
import random
import time
from dataclasses import dataclass

import gymnasium as gym
import torch
import torch.optim as optim
import tyro
from torch.utils.tensorboard import SummaryWriter


@dataclass
class Args:
    exp_name: str = os.path.basename(__file__)[: -len(".py")]
    seed: int = 1
    torch_deterministic: bool = True
    cuda: bool = True
    env_id: str = "CartPole-v1"
    total_timesteps: int = 500000
    learning_rate: float = 2.5e-4
    num_envs: int = 4
    num_steps: int = 128
    anneal_lr: bool = True
    gamma: float = 0.99
    gae_lambda: float = 0.95
    num_minibatches: int = 4
    update_epochs: int = 4
    norm_adv: bool = True
    clip_coef: float = 0.2
    clip_vloss: bool = True
    ent_coef: float = 0.01
    vf_coef: float = 0.5
    max_grad_norm: float = 0.5
    target_kl: float = None
    batch_size: int = 0
    minibatch_size: int = 0


def make_env(env_id, idx):
    return lambda: gym.make(env_id)


if __name__ == "__main__":
    args = tyro.cli(Args)
    args.batch_size = int(args.num_envs * args.num_steps)
    args.minibatch_size = int(args.batch_size // args.num_minibatches)
    run_name = f"{args.env_id}__{args.exp_name}__{args.seed}__{int(time.time())}"
    writer = SummaryWriter(f"runs/{run_name}")
    envs = gym.vector.SyncVectorEnv([make_env(args.env_id, i) for i in range(args.num_envs)])
    agent = torch.nn.Linear(4, 2)
    optimizer = optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)
    random.seed(args.seed)
    for iteration in range(1, args.total_timesteps // args.batch_size + 1):
        if args.anneal_lr:
            optimizer.param_groups[0]["lr"] = args.learning_rate * (1.0 - iteration / args.total_timesteps)
        advantages = torch.zeros(args.num_steps, args.num_envs) * args.gamma * args.gae_lambda
        for epoch in range(args.update_epochs):
            for start in range(0, args.batch_size, args.minibatch_size):
                mb_advantages = advantages - advantages.mean() if args.norm_adv else advantages
                pg_loss = torch.clamp(mb_advantages, 1 - args.clip_coef, 1 + args.clip_coef).mean()
                v_loss = 0.5 if args.clip_vloss else 1.0
                loss = pg_loss - args.ent_coef + v_loss * args.vf_coef
                torch.nn.utils.clip_grad_norm_(agent.parameters(), args.max_grad_norm)
            if args.target_kl is not None:
                break
