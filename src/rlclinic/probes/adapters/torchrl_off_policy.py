"""SAC of the lab and DQN on TorchRL's loss behind the probe protocol, with one loop for both."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from tensordict import TensorDict
from tensordict.nn import TensorDictSequential
from torchrl.modules import QValueModule
from torchrl.objectives import DQNLoss, SoftUpdate

from rlclinic.lab.torchrl.learners.sac import SACLearner
from rlclinic.lab.torchrl.networks import Shape, action_value
from rlclinic.lab.torchrl.optimiser import Optimiser
from rlclinic.lab.torchrl.policy_step import squashed_mode, squashed_sample
from rlclinic.lab.torchrl.replay import Replay
from rlclinic.probes.adapters.torchrl_trainer import Parts, TorchRLTrainer, norm_of, tensor
from rlclinic.probes.protocol import Observation

SAMPLES = 8
"""Rows of the batch that one target update is made with."""


class OffPolicy(TorchRLTrainer, ABC):
    """Step, remember, learn from memory: the loop of the lab's off-policy trainer."""

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self.replay = Replay(self.options.whole("buffer_size"), self.spaces)
        self.normaliser.see(self.row.now)

    @abstractmethod
    def learn(self, batch: Any) -> None:
        """One gradient step of everything, then the targets follow."""

    @abstractmethod
    def explore(self, observations: Any) -> Any:
        """Actions of training for rows as the networks take them, continuous ones within [-1, 1]."""

    @abstractmethod
    def freeze(self) -> tuple[Any, Any]:
        """Set every learning rate to zero; the online and the target parameters."""

    def train(self, env_steps: int) -> None:
        """Go on for so many steps."""
        until = self.steps + env_steps
        while self.steps < until:
            for _ in range(self.options.whole("train_freq")):
                self._step()
            if self.steps >= self.options.whole("learning_starts"):
                self.learn(self.replay.sample(self.options.whole("batch_size"), self.normaliser.observation))

    def targets(self) -> Mapping[str, float]:
        """One learning step with learning rates of zero, online parameters 1 and target parameters 0."""
        online, target = self.freeze()
        own = {value.data_ptr() for value in online}
        shared = any(value.data_ptr() in own for value in target)
        with torch.no_grad():
            for value in online:
                value.fill_(1.0)
            for value in target:
                value.fill_(0.0)
        self.learn(self.made_up(np.zeros((SAMPLES, self.spaces.observation_size)), np.zeros(SAMPLES)))
        slope = float(np.mean([float(value.mean()) for value in target]))
        return {"tau": self.options.number("tau"), "slope": slope, "shared": float(shared)}

    def made_up(self, observations: Any, rewards: Any) -> TensorDict:
        """A batch of last steps with random actions."""
        seen, size = tensor(self.rows(observations)), len(rewards)
        ended = torch.ones(size, 1, dtype=torch.bool)
        after = {"observation": seen, "reward": tensor(rewards).unsqueeze(-1), "terminated": ended, "done": ended}
        return TensorDict({"observation": seen, "action": self._random(size), "next": after}, batch_size=[size])

    def _step(self) -> None:
        row, everyone = self.row, list(range(len(self.row)))
        before = row.now.copy()
        begun = self.steps >= self.options.whole("learning_starts")
        chosen = self.explore(self.normaliser.observation(before)) if begun else self._random(len(before))
        actions = chosen.numpy()
        step = row.step(self.spaces.from_unit(actions), everyone)
        self.normaliser.see(row.now)
        self.replay.add(before, actions, step, self.normaliser.reward(step.reward, step.done, everyone))
        self.steps += len(row)

    def _random(self, count: int) -> Any:
        if self.spaces.is_discrete:
            return torch.randint(self.spaces.action_size, (count,))
        return 2 * torch.rand(count, self.spaces.action_size) - 1


class SACTrainer(OffPolicy):
    """The lab's SAC, for continuous and for discrete actions."""

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self._sac = SACLearner(self.options, self.spaces)

    def learn(self, batch: Any) -> None:
        """One step of critics, actor and temperature."""
        self._sac.learn(batch)

    def explore(self, observations: Any) -> Any:
        """Actions of the policy."""
        return squashed_sample(self._sac.actor, self.spaces, observations)

    def freeze(self) -> tuple[Any, Any]:
        """The critics."""
        for optimiser in self._sac.optimisers().values():
            optimiser.adam.param_groups[0]["lr"] = 0.0
        return _leaves(self._sac.loss.qvalue_network_params), _leaves(self._sac.loss.target_qvalue_network_params)

    def act(self, obs: Observation) -> Any:
        """The action without noise as the environment receives it."""
        best = squashed_mode(self._sac.actor, self.spaces, self.rows(obs)).numpy()
        return self.spaces.to_environment(self.spaces.from_unit(best))[0]

    def q(self, obs: Observation, action: Any = None) -> Any:
        """The smallest Q of the target critics: of one action, or of all discrete ones."""
        loss, discrete = self._sac.loss, self.spaces.is_discrete
        inputs = {"observation": tensor(self.rows(obs))}
        if not discrete:
            inputs["action"] = tensor(self._unit(self.act(obs) if action is None else action))
        with torch.no_grad():
            found = loss._vmap_qnetworkN0(TensorDict(inputs, batch_size=[1]), loss.target_qvalue_network_params)
        values = found["action_value" if discrete else "state_action_value"].min(0).values.numpy()[0]
        values = values * self.reward_unit()
        return values if discrete and action is None else float(values[int(action) if discrete else 0])

    def action_probabilities(self, obs: Observation) -> Any:
        """Probabilities of a categorical policy."""
        with torch.no_grad():
            return self._policy(self.rows(obs)).probs.numpy()[0]

    def log_prob(self, obs: Observation, actions: Any) -> Any:
        """Log-density of actions of the unit box; there is none outside."""
        inside = np.abs(actions).max(axis=1) < 1
        spread = self.rows(np.tile(obs, (int(inside.sum()), 1)))
        found = np.full(len(actions), -np.inf)
        if inside.any():
            with torch.no_grad():
                found[inside] = self._policy(spread).log_prob(tensor(actions[inside])).numpy()
        return found

    def temperature(self) -> float:
        """alpha."""
        return float(self._sac.loss.log_alpha.exp())

    def losses(self, batch: Mapping[str, Any]) -> Mapping[str, Mapping[str, float]]:
        """Gradients of TorchRL's loss terms."""
        loss = self._sac.loss
        out = loss(self.made_up(batch["observations"], batch["returns"]))
        networks = {"actor": _leaves(loss.actor_network_params), "critic": _leaves(loss.qvalue_network_params)}
        return {"policy": _gradients(out["loss_actor"], networks), "value": _gradients(out["loss_qvalue"], networks)}

    def _unit(self, action: Any) -> Any:
        """An action of the environment within [-1, 1]."""
        low, high = self.spaces.low.reshape(-1), self.spaces.high.reshape(-1)
        return (2 * (np.asarray(action, np.float32).reshape(1, -1) - low) / (high - low)) - 1

    def _policy(self, rows: Any) -> Any:
        return self._sac.actor.get_dist(TensorDict({"observation": tensor(rows)}, batch_size=[len(rows)]))


class DQNTrainer(OffPolicy):
    """Epsilon-greedy Q-learning with TorchRL's DQNLoss and SoftUpdate, read through the target network."""

    def __init__(self, parts: Parts, exploration: float) -> None:
        super().__init__(parts)
        shape = Shape((), self.options.sizes("net_arch"), self.options.word("activation"), orthogonal=False)
        choice = QValueModule(action_space="categorical", action_value_key="action_value")
        actor = TensorDictSequential(action_value(self.spaces, shape), choice)
        self._loss = DQNLoss(actor, action_space="categorical", delay_value=True)
        self._loss.make_value_estimator(gamma=self.options.number("gamma"))
        self._follow = SoftUpdate(self._loss, tau=self.options.number("tau"))
        self._optimiser = Optimiser({"critic": _leaves(self._loss.value_network_params)}, self.options)
        self._exploration = exploration

    def learn(self, batch: Any) -> None:
        """One step of the Q-network."""
        self._optimiser.step(self._loss(batch)["loss"])
        self._follow.step()

    def explore(self, observations: Any) -> Any:
        """The greedy action, or a random one with probability epsilon."""
        greedy = self._values(observations, self._loss.value_network_params).argmax(-1)
        return torch.where(torch.rand(len(greedy)) < self._exploration, self._random(len(greedy)), greedy)

    def freeze(self) -> tuple[Any, Any]:
        """The Q-network."""
        self._optimiser.adam.param_groups[0]["lr"] = 0.0
        return _leaves(self._loss.value_network_params), _leaves(self._loss.target_value_network_params)

    def act(self, obs: Observation) -> Any:
        """The greedy action."""
        best = self._values(self.rows(obs), self._loss.value_network_params).argmax(-1)
        return self.spaces.to_environment(best.numpy())[0]

    def q(self, obs: Observation, action: Any = None) -> Any:
        """Q of all actions, or of one."""
        values = self._values(self.rows(obs), self._loss.target_value_network_params).numpy()[0] * self.reward_unit()
        return values if action is None else float(values[int(action)])

    def losses(self, batch: Mapping[str, Any]) -> Mapping[str, Mapping[str, float]]:
        """The gradient of the only loss."""
        out = self._loss(self.made_up(batch["observations"], batch["returns"]))
        return {"value": _gradients(out["loss"], {"critic": _leaves(self._loss.value_network_params)})}

    @torch.no_grad()
    def _values(self, rows: Any, parameters: Any) -> Any:
        inputs = TensorDict({"observation": tensor(rows)}, batch_size=[len(rows)])
        with parameters.to_module(self._loss.value_network):
            return self._loss.value_network(inputs)["action_value"]


def _leaves(parameters: Any) -> list[Any]:
    return list(parameters.flatten_keys().values())


def _gradients(loss: Any, networks: Mapping[str, list[Any]]) -> dict[str, float]:
    found = {"value": float(loss.detach())}
    for name, parameters in networks.items():
        found[name] = norm_of(torch.autograd.grad(loss, parameters, retain_graph=True, allow_unused=True))
    return found
