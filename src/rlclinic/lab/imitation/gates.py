"""Who acts and when the expert is asked: one gate per variant of DAgger.

A gate sees a state and the action that the novice would take there. It asks the expert where its variant says so, and
gives back who acts and the label, if one was given. The first round is the expert's in every variant.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from rlclinic.lab.imitation.novice import Novice, distance
from rlclinic.model.lazy_dataclass import dataclass

Ask = Callable[[], NDArray[Any]]
# LazyDAgger hands back only where the novice is this much closer to the expert than where it lost control.
HYSTERESIS = 0.5
# Noise on the expert's action while LazyDAgger's expert is in control, in half ranges: states beside its path.
INJECTED = 0.1
# The classifier of risk: hidden units, updates, and steps that stay together when the data are halved.
HIDDEN, UPDATES, BLOCK = 32, 200, 25


@dataclass(frozen=True, slots=True)
class Turn:
    """One step: whose action is taken, and the label that was given."""

    action: NDArray[Any]
    by_expert: bool
    label: NDArray[Any] | None


class MixedGate:
    """DAgger: every state is labelled, and the expert acts with probability beta. With beta 1 this is cloning."""

    def __init__(self, novice: Novice, random: np.random.Generator) -> None:
        self.novice, self.random = novice, random
        self.beta = 1.0
        self.tolerance = novice.options.number("gate_threshold")

    def fitted(self, observations: NDArray[Any], labels: NDArray[Any]) -> None:
        """Learn what the gate needs from the data that the novice was fitted on."""

    def begin_episode(self) -> None:
        """Forget who was in control."""

    def turn(self, state: NDArray[Any], ask: Ask, watch: Ask) -> Turn:
        """Decide one step. `ask` counts as a query; `watch` is a look that gives no label."""
        label = ask()
        if self.beta >= 1.0 or self.random.random() < self.beta:
            return Turn(label, True, label)
        return Turn(self._own(state), False, label)

    def _own(self, state: NDArray[Any]) -> NDArray[Any]:
        found: NDArray[Any] = self.novice.predict(state[None])[0]
        return found

    def _apart(self, first: NDArray[Any], second: NDArray[Any]) -> float:
        return float(distance(np.asarray(first)[None], np.asarray(second)[None], self.novice.spaces)[0])


class SafeGate(MixedGate):
    """SafeDAgger (Zhang & Cho 2017, arXiv 1605.06450): a classifier says where the novice would err; only there the
    expert acts and is asked."""

    risk: nn.Sequential | None = None

    def fitted(self, observations: NDArray[Any], labels: NDArray[Any]) -> None:
        """Learn where a novice is further from the labels than the tolerance.

        It fits its own data too well to be judged on them: copies that are fitted on one half are judged on the other.
        """
        half = np.arange(len(labels)) // BLOCK % 2 == 0
        apart = np.zeros(len(labels))
        for known in (half, ~half):
            if known.any() and not known.all():
                copy = Novice(self.novice.spaces, self.novice.options)
                copy.fit(observations[known], labels[known], self.random)
                apart[~known] = distance(copy.predict(observations[~known]), labels[~known], self.novice.spaces)
        states = self._scaled(observations)
        target = torch.from_numpy((apart > self.tolerance).astype(np.float32))
        self.risk = nn.Sequential(nn.Linear(states.shape[1], HIDDEN), nn.Tanh(), nn.Linear(HIDDEN, 1))
        optimiser = torch.optim.Adam(self.risk.parameters(), lr=1e-2)
        # Mistakes are rare: a half of each batch are some, or the classifier would expect none anywhere.
        weight = (1.0 - target).sum() / target.sum().clamp(min=1.0)
        for _ in range(UPDATES):
            part = torch.from_numpy(self.random.integers(len(states), size=256))
            loss = nn.functional.binary_cross_entropy_with_logits(
                self.risk(states[part])[:, 0], target[part], pos_weight=weight
            )
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()

    def turn(self, state: NDArray[Any], ask: Ask, watch: Ask) -> Turn:
        """The expert acts where a mistake is expected."""
        if self.beta >= 1.0 or self._risky(state):
            label = ask()
            return Turn(label, True, label)
        return Turn(self._own(state), False, None)

    @torch.no_grad()
    def _risky(self, state: NDArray[Any]) -> bool:
        # A novice that was never judged is not trusted.
        return self.risk is None or float(self.risk(self._scaled(state[None]))[0, 0]) > 0.0

    def _scaled(self, observations: NDArray[Any]) -> torch.Tensor:
        return torch.from_numpy(((observations - self.novice.mean) / self.novice.spread).astype(np.float32))


class LazyGate(SafeGate):
    """LazyDAgger (Hoque 2021, arXiv 2104.00053): as SafeDAgger, but control is handed back only when the novice agrees
    well, which means fewer switches; noise on the expert's actions shows states beside its path."""

    in_control = False

    def begin_episode(self) -> None:
        """The novice begins."""
        self.in_control = False

    def turn(self, state: NDArray[Any], ask: Ask, watch: Ask) -> Turn:
        """The expert keeps control until the novice clearly agrees."""
        if self.beta < 1.0 and not self.in_control and not self._risky(state):
            return Turn(self._own(state), False, None)
        label = ask()
        if self.beta < 1.0:
            self.in_control = self._apart(label, self._own(state)) > self.tolerance * HYSTERESIS
        return Turn(self._disturbed(label), True, label)

    def _disturbed(self, label: NDArray[Any]) -> NDArray[Any]:
        actions = self.novice.spaces.n_actions
        if actions:
            wild = self.random.random() < INJECTED
            return np.asarray(self.random.integers(actions)) if wild else label
        return np.clip(label + self.random.normal(0.0, INJECTED, label.shape), -1.0, 1.0)


class EnsembleGate(MixedGate):
    """EnsembleDAgger (Menda 2019, arXiv 1807.08364): asks where the policies of the ensemble differ, and lets the
    expert act where the novice is then also far from its label."""

    def turn(self, state: NDArray[Any], ask: Ask, watch: Ask) -> Turn:
        """Ask in doubt."""
        if self.beta < 1.0 and float(self.novice.doubt(state[None])[0]) <= self.tolerance:
            return Turn(self._own(state), False, None)
        label = ask()
        if self.beta >= 1.0 or self._apart(label, self._own(state)) > self.tolerance:
            return Turn(label, True, label)
        return Turn(self._own(state), False, label)


class WatchedGate(MixedGate):
    """Human-gated DAgger (Kelly 2019, arXiv 1810.02890): the expert watches, takes over where the novice errs, and only
    what it does itself becomes data. A simulated expert takes over where its own action differs."""

    in_control = False

    def begin_episode(self) -> None:
        """The novice begins."""
        self.in_control = False

    def turn(self, state: NDArray[Any], ask: Ask, watch: Ask) -> Turn:
        """The expert takes over at a mistake and hands back when the novice agrees."""
        own = self._own(state) if self.beta < 1.0 else None
        if own is not None:
            apart = self._apart(watch(), own)
            self.in_control = apart > self.tolerance * (HYSTERESIS if self.in_control else 1.0)
            if not self.in_control:
                return Turn(own, False, None)
        label = ask()
        return Turn(label, True, label)


GATES: dict[str, type[MixedGate]] = {
    "BC": MixedGate,
    "FILTERED-BC": MixedGate,
    "DAGGER": MixedGate,
    "SAFE-DAGGER": SafeGate,
    "ENSEMBLE-DAGGER": EnsembleGate,
    "LAZY-DAGGER": LazyGate,
    "GATED-DAGGER": WatchedGate,
}
