"""A single-file PPO in the style of CleanRL's ppo.py, made fit for probing.

Changed against the script: `gym.make(args.env_id)` is `env_fn`, the loop is the body of `train` and keeps its state on
`self`, and `make_trainer` turns settings into `Args`. Like the original it treats a time limit as the end of an
episode.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from torch import nn
from torch.distributions.categorical import Categorical

from rlclinic.probes import UnknownSettings, UnsupportedSpace

NAMES = {
    "learning_rate": "learning_rate", "n_envs": "num_envs", "n_steps": "num_steps", "gae_lambda": "gae_lambda",
    "batch_size": "minibatch_size", "n_epochs": "update_epochs", "normalize_advantage": "norm_adv",
    "clip_range": "clip_coef", "entropy_coefficient": "ent_coef", "value_coefficient": "vf_coef",
    "max_grad_norm": "max_grad_norm", "hidden_sizes": "hidden_sizes",
}  # fmt: skip
"""Setting of a probe -> argument of the script."""
AUTORESET = AutoresetMode.SAME_STEP
"""What CleanRL's loop was written for; Gymnasium's default adds a row after each episode that the loop learns from."""


@dataclass(frozen=True)
class Args:
    seed: int = 1
    learning_rate: float = 2.5e-4
    num_envs: int = 4
    num_steps: int = 128
    gamma: float = 0.99
    gae_lambda: float = 0.95
    minibatch_size: int = 128
    update_epochs: int = 4
    norm_adv: bool = True
    clip_coef: float = 0.2
    ent_coef: float = 0.01
    vf_coef: float = 0.5
    max_grad_norm: float = 0.5
    hidden_sizes: tuple[int, ...] = (64, 64)


def layer_init(layer: nn.Linear, std: float = np.sqrt(2)) -> nn.Linear:
    nn.init.orthogonal_(layer.weight, std)
    nn.init.constant_(layer.bias, 0.0)
    return layer


class Agent(nn.Module):  # type: ignore[misc]
    def __init__(self, envs: Any, sizes: tuple[int, ...]) -> None:
        super().__init__()
        seen, actions = int(np.prod(envs.single_observation_space.shape)), int(envs.single_action_space.n)
        self.critic = self._network(seen, sizes, 1, 1.0)
        self.actor = self._network(seen, sizes, actions, 0.01)

    @staticmethod
    def _network(inputs: int, sizes: tuple[int, ...], outputs: int, std: float) -> nn.Sequential:
        layers: list[nn.Module] = []
        for size in sizes:
            layers += [layer_init(nn.Linear(inputs, size)), nn.Tanh()]
            inputs = size
        return nn.Sequential(*layers, layer_init(nn.Linear(inputs, outputs), std))

    def get_value(self, x: Any) -> Any:
        return self.critic(x)

    def get_action_and_value(self, x: Any, action: Any = None) -> tuple[Any, Any, Any, Any]:
        probs = Categorical(logits=self.actor(x))
        if action is None:
            action = probs.sample()
        return action, probs.log_prob(action), probs.entropy(), self.critic(x)


class PPO:
    def __init__(self, env_fn: Any, args: Args) -> None:
        torch.manual_seed(args.seed)
        torch.set_num_threads(1)
        self.args = args
        self.envs = SyncVectorEnv([env_fn for _ in range(args.num_envs)], autoreset_mode=AUTORESET)
        if not isinstance(self.envs.single_action_space, gym.spaces.Discrete):
            raise UnsupportedSpace("only discrete action space is supported")
        self.agent = Agent(self.envs, args.hidden_sizes)
        self.optimizer = torch.optim.Adam(self.agent.parameters(), lr=args.learning_rate, eps=1e-5)
        self.global_step = 0
        self.next_obs = torch.tensor(self.envs.reset(seed=args.seed)[0])
        self.next_done = torch.zeros(args.num_envs)

    def train(self, env_steps: int) -> None:
        args, agent, until = self.args, self.agent, self.global_step + env_steps
        shape = (args.num_steps, args.num_envs)
        while self.global_step < until:
            obs = torch.zeros((*shape, *self.envs.single_observation_space.shape))
            actions, logprobs, rewards, dones, values = (torch.zeros(shape) for _ in range(5))
            for step in range(args.num_steps):
                self.global_step += args.num_envs
                obs[step], dones[step] = self.next_obs, self.next_done
                with torch.no_grad():
                    action, logprobs[step], _, value = agent.get_action_and_value(self.next_obs)
                values[step], actions[step] = value.flatten(), action
                seen, reward, terminations, truncations, _ = self.envs.step(action.numpy())
                rewards[step] = torch.tensor(reward)
                self.next_obs = torch.tensor(seen)
                self.next_done = torch.tensor(np.logical_or(terminations, truncations), dtype=torch.float32)

            with torch.no_grad():
                next_value = agent.get_value(self.next_obs).reshape(-1)
            advantages, lastgaelam = torch.zeros(shape), torch.zeros(args.num_envs)
            for t in reversed(range(args.num_steps)):
                last = t == args.num_steps - 1
                nextnonterminal = 1.0 - (self.next_done if last else dones[t + 1])
                delta = rewards[t] + args.gamma * (next_value if last else values[t + 1]) * nextnonterminal - values[t]
                advantages[t] = lastgaelam = delta + args.gamma * args.gae_lambda * nextnonterminal * lastgaelam
            self._update(obs, actions, logprobs, advantages, advantages + values)

    def _update(self, obs: Any, actions: Any, logprobs: Any, advantages: Any, returns: Any) -> None:
        args = self.args
        b_obs, b_actions = obs.flatten(0, 1), actions.flatten()
        b_logprobs, b_advantages, b_returns = logprobs.flatten(), advantages.flatten(), returns.flatten()
        for _ in range(args.update_epochs):
            for mb_inds in torch.randperm(len(b_actions)).split(args.minibatch_size):
                _, newlogprob, entropy, newvalue = self.agent.get_action_and_value(b_obs[mb_inds], b_actions[mb_inds])
                ratio = (newlogprob - b_logprobs[mb_inds]).exp()
                mb_advantages = b_advantages[mb_inds]
                if args.norm_adv:
                    mb_advantages = (mb_advantages - mb_advantages.mean()) / (mb_advantages.std() + 1e-8)
                clipped = ratio.clamp(1 - args.clip_coef, 1 + args.clip_coef)
                pg_loss = torch.max(-mb_advantages * ratio, -mb_advantages * clipped).mean()
                v_loss = 0.5 * (newvalue.view(-1) - b_returns[mb_inds]).square().mean()
                loss = pg_loss - args.ent_coef * entropy.mean() + v_loss * args.vf_coef
                self.optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(self.agent.parameters(), args.max_grad_norm)
                self.optimizer.step()

    @torch.no_grad()
    def act(self, obs: Any) -> int:
        return int(self.agent.actor(torch.as_tensor(obs)).argmax())

    @torch.no_grad()
    def value(self, obs: Any) -> float:
        return float(self.agent.get_value(torch.as_tensor(obs)))

    @torch.no_grad()
    def action_probabilities(self, obs: Any) -> Any:
        return self.agent.actor(torch.as_tensor(obs)).softmax(-1).numpy()


def make_trainer(env_fn: Any, *, seed: int, gamma: float, **settings: Any) -> PPO:
    unknown = set(settings) - set(NAMES)
    if unknown:
        raise UnknownSettings(unknown)
    return PPO(env_fn, replace(Args(seed=seed, gamma=gamma), **{NAMES[key]: value for key, value in settings.items()}))
