"""Who imitates: small networks that predict the expert's action, and how unsure they are among themselves."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from rlclinic.lab.imitation.options import ImitationOptions
from rlclinic.lab.torchrl.distances import Tensor
from rlclinic.lab.torchrl.networks import ACTIVATIONS
from rlclinic.lab.torchrl.spaces import Spaces

# Below it a dimension is constant: dividing by it would only magnify rounding.
LEAST_SPREAD = 1e-6
# A fit takes so many passes and updates where `n_epochs` is unset: 20 passes over one round are next to no fit.
PASSES, UPDATES = 20, 1000


class Novice:
    """An ensemble of policies (of one, unless the variant asks for more) with its own scale of observations."""

    def __init__(self, spaces: Spaces, options: ImitationOptions) -> None:
        self.spaces, self.options = spaces, options
        self.mean = np.zeros(spaces.observation_size)
        self.spread = np.ones(spaces.observation_size)
        self.members = nn.ModuleList()
        self.begin()

    def begin(self) -> None:
        """Fresh weights and optimisers."""
        layers = self.options.sizes("net_arch")
        activation = ACTIVATIONS[self.options.word("activation")]
        self.members = nn.ModuleList(
            _network(self.spaces.observation_size, layers, self.spaces.action_size, activation)
            for _ in range(self.options.whole("n_policies"))
        )
        self.updates = 0
        rate, decay = self.options.number("learning_rate"), self.options.number("weight_decay")
        self.optimiser = torch.optim.Adam(self.members.parameters(), lr=rate, weight_decay=decay, fused=True)

    def fit(self, observations: NDArray[Any], labels: NDArray[Any], random: np.random.Generator) -> None:
        """Passes over the data; each member of an ensemble has a sample of the rows of its own, drawn with repeats.

        From the same rows the members would agree even where all of them are wrong.
        """
        self.mean, spread = observations.mean(axis=0), observations.std(axis=0)
        self.spread = np.where(spread > LEAST_SPREAD, spread, 1.0)
        states, targets = self._states(observations), self._targets(labels)
        count, size, given = len(states), self.options.whole("batch_size"), self.options.optional("n_epochs")
        passes = max(PASSES, -(-UPDATES // -(-count // size))) if given is None else int(given)
        drawn = len(self.members) > 1
        rows = [random.integers(count, size=count) if drawn else np.arange(count) for _ in self.members]
        for _ in range(passes):
            orders = [torch.from_numpy(random.permutation(own)) for own in rows]
            for start in range(0, count, size):
                parts = [order[start : start + size] for order in orders]
                pairs = zip(self.members, parts, strict=True)
                loss = torch.stack([self._loss(one(states[part]), targets[part]).mean() for one, part in pairs]).sum()
                self.optimiser.zero_grad()
                loss.backward()
                self.optimiser.step()
                self.updates += 1

    @torch.no_grad()
    def losses(self, observations: NDArray[Any], labels: NDArray[Any]) -> NDArray[np.float64]:
        """The loss of each row."""
        states, targets = self._states(observations), self._targets(labels)
        each = torch.stack([self._loss(member(states), targets) for member in self.members])
        return np.asarray(each.mean(dim=0), dtype=np.float64)

    @torch.no_grad()
    def predict(self, observations: NDArray[Any]) -> NDArray[Any]:
        """The action of each state in the learner's terms: a class, or a point of [-1, 1]."""
        outputs = torch.stack([member(self._states(observations)) for member in self.members])
        if self.spaces.is_discrete:
            return np.asarray(outputs.softmax(-1).mean(dim=0).argmax(-1))
        return np.asarray(outputs.mean(dim=0).clamp(-1, 1), dtype=np.float64)

    @torch.no_grad()
    def doubt(self, observations: NDArray[Any]) -> NDArray[np.float64]:
        """How far the members are apart: the spread of their probabilities or of their actions."""
        outputs = torch.stack([member(self._states(observations)) for member in self.members])
        values = outputs.softmax(-1) if self.spaces.is_discrete else outputs.clamp(-1, 1)
        return np.asarray(values.std(dim=0).mean(-1), dtype=np.float64)

    def to_environment(self, labels: NDArray[Any]) -> NDArray[Any]:
        """Rows in the learner's terms as actions of the environment."""
        return self.spaces.to_environment(self.spaces.from_unit(np.asarray(labels)))

    def act(self, observations: Any) -> Any:
        """Observations of the environment -> its actions, for an evaluation."""
        return self.to_environment(self.predict(self.spaces.encode(observations)))

    def _states(self, observations: NDArray[Any]) -> Tensor:
        return torch.from_numpy(((observations - self.mean) / self.spread).astype(np.float32))

    def _targets(self, labels: NDArray[Any]) -> Tensor:
        kind = np.int64 if self.spaces.is_discrete else np.float32
        return torch.from_numpy(labels.astype(kind))

    def _loss(self, outputs: Tensor, targets: Tensor) -> Tensor:
        if self.spaces.is_discrete:
            loss: Tensor = nn.functional.cross_entropy(outputs, targets, reduction="none")
        else:
            loss = ((outputs - targets) ** 2).mean(-1)
        return loss


def distance(first: NDArray[Any], second: NDArray[Any], spaces: Spaces) -> NDArray[np.float64]:
    """How far actions are apart: 0 or 1 for choices, root mean square in half ranges for amounts."""
    if spaces.is_discrete:
        return np.asarray(first != second, dtype=np.float64)
    return np.asarray(np.sqrt(((first - second) ** 2).mean(-1)) / 2, dtype=np.float64)


def _network(inputs: int, layers: tuple[int, ...], outputs: int, activation: type[nn.Module]) -> nn.Sequential:
    sizes = (inputs, *layers)
    parts: list[nn.Module] = []
    for before, after in pairwise(sizes):
        parts += [nn.Linear(before, after), activation()]
    return nn.Sequential(*parts, nn.Linear(sizes[-1], outputs))
