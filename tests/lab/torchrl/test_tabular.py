"""The loss as the step of policy iteration on finite MDPs, against numbers computed with exact policy evaluation."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.special import lambertw
from tensordict import TensorDict

from rlclinic.lab.torchrl.mmrkhs_loss import MMRKHSLoss
from tests.lab.torchrl.policies import table_actor, total

STATES, ACTIONS, BRANCHES, GAMMA = 20, 10, 5, 0.95


class Garnet:
    """A random MDP with costs in [0, 1]."""

    def __init__(self, seed: int) -> None:
        random = np.random.RandomState(seed)
        self.moves = np.zeros((STATES, ACTIONS, STATES))
        for state in range(STATES):
            for action in range(ACTIONS):
                after = random.choice(STATES, BRANCHES, replace=False)
                self.moves[state, action, after] = random.dirichlet(np.ones(BRANCHES))
        self.reward = -random.rand(STATES, ACTIONS)

    def values(self, policy: np.ndarray) -> np.ndarray:
        moves = np.einsum("sa,sat->st", policy, self.moves)
        return np.linalg.solve(np.eye(STATES) - GAMMA * moves, (policy * self.reward).sum(1))

    def action_values(self, values: np.ndarray) -> np.ndarray:
        return self.reward + GAMMA * self.moves @ values

    def advantage(self, policy: np.ndarray) -> np.ndarray:
        values = self.values(policy)
        return self.action_values(values) - values[:, None]

    def best(self) -> float:
        values = np.zeros(STATES)
        for _ in range(2000):
            values = self.action_values(values).max(1)
        return float(values.mean())


def proximal_step(log_policy: np.ndarray, advantage: np.ndarray, *, eta: float, beta: float) -> np.ndarray:
    """Log of the exact step with R = I: log p + 2 eta beta p = log pi + eta (A + 2 beta pi) - constant."""
    right = log_policy + eta * (advantage + 2 * beta * np.exp(log_policy))
    weight = 2 * eta * beta

    def log_probabilities(constant: np.ndarray) -> np.ndarray:
        rest = right - constant[:, None]
        # x + w exp(x) = rest is solved by Lambert's function; in logs, because exp(rest) may not be representable.
        return rest - np.real(lambertw(weight * np.exp(rest))) if weight else rest

    low, high = right.max(1) - weight - 40.0, right.max(1) + 40.0
    for _ in range(200):
        middle = (low + high) / 2
        too_much = np.exp(log_probabilities(middle)).sum(1) > 1
        low, high = np.where(too_much, middle, low), np.where(too_much, high, middle)
    return log_probabilities(high)


def gradient(log_policy: np.ndarray, advantage: np.ndarray, at: np.ndarray, *, eta: float, beta: float) -> float:
    """Largest slope of the loss at a policy. Every action of every state counts as often as the old policy takes it."""
    old = torch.from_numpy(log_policy)
    batch = TensorDict(
        {
            "observation": torch.arange(STATES).repeat_interleave(ACTIONS).unsqueeze(-1),
            "action": torch.arange(ACTIONS).repeat(STATES),
            "action_log_prob": old.reshape(-1),
            "advantage": (ACTIONS * old.exp() * torch.from_numpy(advantage)).reshape(-1, 1),
            "behaviour": {"logits": old.repeat_interleave(ACTIONS, 0)},
        },
        [STATES * ACTIONS],
    )
    actor = table_actor(STATES, ACTIONS)
    logits = actor.module[0].module.logits
    with torch.no_grad():
        logits.copy_(torch.from_numpy(at))
    total(MMRKHSLoss(actor, mmd_coef=beta, eta=eta).double()(batch)).backward()
    return float(logits.grad.abs().max())


@pytest.mark.parametrize(
    ("seed", "uniform", "best", "needed"),
    [(101, -10.145, -1.636, 7), (1, -9.386, -1.369, 9), (2, -9.609, -1.167, 9), (3, -10.545, -1.581, 7)],
)
def test_minima_of_the_loss_close_99_percent_of_the_gap_in_the_known_number_of_iterations(
    seed: int, uniform: float, best: float, needed: int
) -> None:
    mdp = Garnet(seed)
    policy = np.full((STATES, ACTIONS), 1 / ACTIONS)
    start, goal = float(mdp.values(policy).mean()), mdp.best()
    assert start == pytest.approx(uniform, abs=6e-4)
    assert goal == pytest.approx(best, abs=6e-4)
    log_policy, closed = np.log(policy), []
    for iteration in range(needed):
        eta = 1.15 * (iteration + 1)
        advantage = mdp.advantage(np.exp(log_policy))
        after = proximal_step(log_policy, advantage, eta=eta, beta=0.0)
        assert gradient(log_policy, advantage, log_policy, eta=eta, beta=0.0) > 1e-4
        assert gradient(log_policy, advantage, after, eta=eta, beta=0.0) < 1e-9
        log_policy = after
        closed.append((float(mdp.values(np.exp(log_policy)).mean()) - start) / (goal - start))
    assert closed[-1] >= 0.99
    assert closed[-2] < 0.99


def test_with_the_mmd_term_the_loss_is_least_at_the_exact_step_which_is_shorter() -> None:
    mdp = Garnet(101)
    log_policy = np.log(np.full((STATES, ACTIONS), 1 / ACTIONS))
    advantage = mdp.advantage(np.exp(log_policy))
    values = []
    for beta in (0.0, 1.0, 10.0):
        after = proximal_step(log_policy, advantage, eta=1.15, beta=beta)
        assert np.exp(after).sum(1) == pytest.approx(1.0)
        assert gradient(log_policy, advantage, after, eta=1.15, beta=beta) < 1e-9
        values.append(float(mdp.values(np.exp(after)).mean()))
    assert -10.145 < values[2] < values[1] < values[0]
