"""Static contracts on SB3's own code: buffers, updates and target networks are called, not copied."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from stable_baselines3.common.logger import Logger

ACTOR, CRITIC = {"policy_net", "action_net", "log_std", "actor"}, {"value_net", "critic"}

LOGGED = {"policy": ("train/actor_loss",), "value": ("train/critic_loss", "train/loss")}
"""Where SB3 logs a loss term."""


def advantages(model: Any, batch: Mapping[str, Any]) -> Any:
    """Fill the rollout buffer as collect_rollouts does, truncations included, and let it compute."""
    buffer = model.rollout_buffer
    buffer.reset()
    ended = np.maximum(batch["terminated"], batch["truncated"])
    rewards = batch["rewards"] + model.gamma * batch["next_values"] * batch["truncated"] * (1 - batch["terminated"])
    steps, envs = rewards.shape
    starts = np.vstack([np.ones((1, envs)), ended[:-1]])
    observation = np.zeros((envs, *buffer.obs_shape), dtype=np.float32)
    action = np.zeros((envs, buffer.action_dim), dtype=np.float32)
    for step in range(steps):
        values = torch.as_tensor(batch["values"][step], dtype=torch.float32)
        buffer.add(observation, action, rewards[step], starts[step], values, torch.zeros(envs))
    last = torch.as_tensor(batch["last_values"], dtype=torch.float32)
    buffer.compute_returns_and_advantage(last_values=last, dones=ended[-1])
    return buffer.advantages.copy()


def log_ratio(model: Any, observations: Any) -> Any:
    """Sample as a rollout does, evaluate as the update does."""
    with torch.no_grad():
        actions, _, old = model.policy(observations)
        _, new, _ = model.policy.evaluate_actions(observations, actions)
    return (new - old).numpy()


def on_policy_losses(model: Any, batch: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Call train() with one term switched off at a time and look at the gradients instead of stepping."""
    if not hasattr(model, "vf_coef"):
        # TRPO trains its critic apart and its actor by conjugate gradients.
        return {}
    return {
        "policy": _gradients(model, batch, value_weight=0.0, advantage_weight=1.0),
        "value": _gradients(model, batch, value_weight=1.0, advantage_weight=0.0),
    }


def off_policy_losses(model: Any, batch: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Call train() and look at what each optimiser would apply instead of stepping.

    SB3's actor loss also leaves gradients on the critic; they are cleared before the critic's optimiser steps, so only
    what an optimiser holds counts.
    """
    _remember(model, batch)
    _quiet(model)
    if hasattr(model, "critic"):
        networks = {"actor": model.actor, "critic": model.critic}
        optimisers = {"policy": model.actor.optimizer, "value": model.critic.optimizer}
    else:
        networks = {"critic": model.quantile_net if hasattr(model, "quantile_net") else model.q_net}
        optimisers = {"value": model.policy.optimizer}
    found: dict[str, dict[str, float]] = {term: {} for term in optimisers}
    steps = {term: optimiser.step for term, optimiser in optimisers.items()}
    for term, optimiser in optimisers.items():
        optimiser.step = _looking(optimiser, networks, found[term])
    try:
        # Delayed algorithms update their actor on every policy_delay-th call.
        model.train(gradient_steps=getattr(model, "policy_delay", 1), batch_size=len(batch["returns"]))
    finally:
        for term, optimiser in optimisers.items():
            optimiser.step = steps[term]
    logged = model.logger.name_to_value
    for term, names in LOGGED.items():
        if term in found:
            found[term]["value"] = float(next((logged[name] for name in names if name in logged), 0.0))
    return found


def q_targets(model: Any) -> dict[str, float]:
    """Let a Q-learner's step callback make its target update."""
    quantiles = hasattr(model, "quantile_net_target")
    online = model.quantile_net if quantiles else model.q_net
    target = model.quantile_net_target if quantiles else model.q_net_target
    _fill(online, 1.0)
    _fill(target, 0.0)
    shared = _shares(online, target)
    _quiet(model)
    model._n_calls = model.target_update_interval - 1
    model._on_step()
    return {"tau": model.tau, "slope": _mean(target), "shared": float(shared)}


def continuous_targets(model: Any) -> dict[str, float]:
    """Let train() make one update with a learning rate of zero."""
    shared = _shares(model.critic, model.critic_target)
    _quiet(model)
    model.lr_schedule = lambda _: 0.0
    buffer = model.replay_buffer
    observation = np.zeros((buffer.n_envs, *buffer.obs_shape), dtype=np.float32)
    action = np.zeros((buffer.n_envs, buffer.action_dim), dtype=np.float32)
    zeros = np.zeros(buffer.n_envs)
    for _ in range(4):
        buffer.add(observation, observation, action, zeros, zeros, [{}] * buffer.n_envs)
    _fill(model.critic, 1.0)
    _fill(model.critic_target, 0.0)
    # Delayed algorithms update on every policy_delay-th call.
    model.train(gradient_steps=getattr(model, "policy_delay", 1), batch_size=4)
    return {"tau": model.tau, "slope": _mean(model.critic_target), "shared": float(shared)}


def squashed_log_prob(model: Any, observation: Any, actions: Any) -> Any:
    """Log-density of a squashed Gaussian at given actions of the unit box."""
    actor = model.actor
    with torch.no_grad():
        mean, log_std, extra = actor.get_action_dist_params(observation.expand(len(actions), -1))
        distribution = actor.action_dist.proba_distribution(mean, log_std, **extra)
        inside = np.abs(actions).max(axis=1) < 1
        values = distribution.log_prob(torch.as_tensor(actions, dtype=torch.float32)).numpy()
    return np.where(inside, values, -np.inf)


def _gradients(
    model: Any, batch: Mapping[str, Any], *, value_weight: float, advantage_weight: float
) -> dict[str, float]:
    policy, buffer = model.policy, model.rollout_buffer
    rows = buffer.buffer_size * buffer.n_envs
    buffer.reset()
    observations = np.resize(np.asarray(batch["observations"], np.float32), (rows, *buffer.obs_shape))
    with torch.no_grad():
        actions, values, log_probs = policy(torch.as_tensor(observations))
    shape = (buffer.buffer_size, buffer.n_envs)
    buffer.observations = observations.reshape(*shape, *buffer.obs_shape)
    buffer.actions = actions.numpy().reshape(*shape, -1).astype(np.float32)
    buffer.log_probs = log_probs.numpy().reshape(shape)
    buffer.values = values.numpy().reshape(shape)
    buffer.advantages = (np.resize(batch["advantages"], rows) * advantage_weight).reshape(shape).astype(np.float32)
    buffer.returns = np.resize(batch["returns"], rows).reshape(shape).astype(np.float32)
    buffer.full, buffer.generator_ready = True, False
    _quiet(model)
    norms: dict[str, float] = {}
    kept = (model.vf_coef, model.ent_coef)
    model.vf_coef, model.ent_coef = value_weight, 0.0
    step, policy.optimizer.step = policy.optimizer.step, lambda *_, **__: _collect(policy, norms)
    try:
        model.train()
    finally:
        policy.optimizer.step, (model.vf_coef, model.ent_coef) = step, kept
    recorded = model.logger.name_to_value
    norms["value"] = float(recorded.get("train/value_loss" if value_weight else "train/policy_gradient_loss", 0.0))
    return norms


def _remember(model: Any, batch: Mapping[str, Any]) -> None:
    """Fill the replay with last steps."""
    buffer = model.replay_buffer
    shape = (buffer.n_envs, *buffer.obs_shape)
    action = np.zeros((buffer.n_envs, buffer.action_dim), dtype=np.float32)
    for seen, reward in zip(batch["observations"], batch["returns"], strict=True):
        observation = np.broadcast_to(np.asarray(seen, np.float32), shape)
        buffer.add(
            observation, observation, action, np.full(buffer.n_envs, reward), np.ones(buffer.n_envs),
            [{}] * buffer.n_envs,
        )  # fmt: skip


def _looking(optimiser: Any, networks: Mapping[str, Any], norms: dict[str, float]) -> Any:
    owners = {id(item): name for name, network in networks.items() for item in network.parameters()}

    def look(*_: Any, **__: Any) -> None:
        for group in optimiser.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    part = owners.get(id(parameter), "shared")
                    norms[part] = max(norms.get(part, 0.0), float(parameter.grad.norm()))

    return look


def _collect(policy: Any, norms: dict[str, float]) -> None:
    trained = {id(item) for group in policy.optimizer.param_groups for item in group["params"]}
    for name, parameter in policy.named_parameters():
        if parameter.grad is None or id(parameter) not in trained:
            continue
        words = set(name.split("."))
        part = "actor" if words & ACTOR else "critic" if words & CRITIC else "shared"
        norms[part] = max(norms.get(part, 0.0), float(parameter.grad.norm()))


def _quiet(model: Any) -> None:
    model.set_logger(Logger(folder=None, output_formats=[]))


def _fill(module: Any, value: float) -> None:
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.fill_(value)


def _mean(module: Any) -> float:
    return float(np.mean([float(parameter.detach().mean()) for parameter in module.parameters()]))


def _shares(online: Any, target: Any) -> bool:
    own = {parameter.data_ptr() for parameter in online.parameters()}
    return any(parameter.data_ptr() in own for parameter in target.parameters())
