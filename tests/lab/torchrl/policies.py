"""Small policies with known parameters, and batches that they collected."""

from __future__ import annotations

from typing import Any

import torch
from tensordict import TensorDict
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.modules import IndependentNormal, ProbabilisticActor, TanhNormal

KINDS = ("categorical", "gaussian", "squashed")


class Table(nn.Module):
    """Logits per state, the state given as a number."""

    def __init__(self, states: int, actions: int) -> None:
        super().__init__()
        self.logits = nn.Parameter(torch.zeros(states, actions, dtype=torch.float64))

    def forward(self, observation: torch.Tensor) -> torch.Tensor:
        return self.logits[observation.squeeze(-1).long()]


class Normal(nn.Module):
    """Mean and spread as linear functions of the state."""

    def __init__(self, inputs: int, size: int, std: float) -> None:
        super().__init__()
        self.mean = nn.Linear(inputs, size)
        self.log_std = nn.Parameter(torch.full((size,), std).log())

    def forward(self, observation: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        mean = self.mean(observation)
        return mean, self.log_std.exp().expand_as(mean)


def table_actor(states: int, actions: int) -> Any:
    module = TensorDictModule(Table(states, actions), ["observation"], ["logits"])
    return ProbabilisticActor(module, in_keys=["logits"], distribution_class=torch.distributions.Categorical)


def actor_of(kind: str, *, inputs: int = 3, size: int = 5, std: float = 0.5) -> Any:
    if kind == "categorical":
        module = TensorDictModule(nn.Linear(inputs, size), ["observation"], ["logits"])
        distribution: Any = torch.distributions.Categorical
    else:
        module = TensorDictModule(Normal(inputs, size, std), ["observation"], ["loc", "scale"])
        distribution = IndependentNormal if kind == "gaussian" else TanhNormal
    return ProbabilisticActor(module, in_keys=module.out_keys, distribution_class=distribution, return_log_prob=True)


def collected(actor: Any, count: int = 512, inputs: int = 3) -> TensorDict:
    """A batch that the actor as it is now collected, with random advantages."""
    with torch.no_grad():
        batch = actor(TensorDict({"observation": torch.randn(count, inputs)}, [count]))
    behaviour = {key: batch.pop(key) for key in ("logits", "loc", "scale") if key in batch}
    batch["behaviour"] = TensorDict(behaviour, [count])
    batch["advantage"] = torch.randn(count, 1)
    batch["value_target"] = torch.randn(count, 1)
    return batch


def total(terms: TensorDict) -> torch.Tensor:
    """What is minimised."""
    return sum((value for key, value in terms.items() if key.startswith("loss_")), torch.zeros(()))


def minimise(actor: Any, loss: Any, batch: TensorDict) -> None:
    """Take the loss to its minimum."""
    optimiser = torch.optim.LBFGS(
        actor.parameters(), max_iter=500, line_search_fn="strong_wolfe", tolerance_grad=1e-11, tolerance_change=1e-14
    )

    def closure() -> torch.Tensor:
        optimiser.zero_grad()
        value = total(loss(batch))
        value.backward()
        return value

    optimiser.step(closure)
