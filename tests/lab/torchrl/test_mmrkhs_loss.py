"""The MM-RKHS loss: its minimum, its terms and the mistakes it must not make."""

from __future__ import annotations

import math

import pytest
import torch
from tensordict import TensorDict
from torch import nn
from torchrl.modules import TanhNormal, ValueOperator

from rlclinic.lab.torchrl.mmrkhs_loss import MMRKHSLoss
from tests.lab.torchrl.policies import KINDS, actor_of, collected, minimise, table_actor, total

TERMS = ("loss_objective", "loss_mmd", "loss_kl", "loss_entropy")


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


def bandit() -> TensorDict:
    """Two arms with rewards +1 and -1, seen by a uniform policy."""
    return TensorDict(
        {
            "observation": torch.zeros(2, 1),
            "action": torch.tensor([0, 1]),
            "action_log_prob": torch.full((2,), math.log(0.5), dtype=torch.float64),
            "advantage": torch.tensor([[1.0], [-1.0]], dtype=torch.float64),
            "behaviour": {"logits": torch.zeros(2, 2, dtype=torch.float64)},
        },
        [2],
    )


def best_arm_after_a_step(*, beta: float, eta: float) -> float:
    actor = table_actor(1, 2)
    minimise(actor, MMRKHSLoss(actor, mmd_coef=beta, eta=eta).double(), bandit())
    return next(iter(actor.parameters())).softmax(-1)[0, 0].item()


@pytest.mark.parametrize(("beta", "best"), [(0, 0.88080), (1, 0.73935), (10, 0.54544), (100, 0.50495)])
def test_one_step_on_the_bandit_is_the_exact_proximal_step(beta: float, best: float) -> None:
    assert best_arm_after_a_step(beta=beta, eta=1.0) == pytest.approx(best, abs=6e-6)


@pytest.mark.parametrize(("beta", "best"), [(1, 0.80166), (10, 0.58320), (100, 0.50980)])
def test_half_the_weight_gives_the_form_with_the_factor_two_absorbed(beta: float, best: float) -> None:
    assert best_arm_after_a_step(beta=beta / 2, eta=1.0) == pytest.approx(best, abs=6e-6)


@pytest.mark.parametrize(("beta", "eta"), [(0.0, 1e-7), (1e7, 1.0)])
def test_a_tiny_step_size_or_a_huge_penalty_pins_the_policy(beta: float, eta: float) -> None:
    assert best_arm_after_a_step(beta=beta, eta=eta) == pytest.approx(0.5, abs=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_a_frozen_actor_has_ratios_of_one_and_no_distance(kind: str) -> None:
    actor = actor_of(kind)
    batch = collected(actor)
    terms = MMRKHSLoss(actor)(batch)
    assert terms["max_ratio"].item() == pytest.approx(1.0, abs=1e-4)
    assert terms["kl_approx"].item() == pytest.approx(0.0, abs=1e-7)
    assert terms["kl"].item() == pytest.approx(0.0, abs=1e-6)
    assert terms["mmd"].item() == pytest.approx(0.0, abs=1e-6)
    assert terms["loss_objective"].item() == pytest.approx(-batch["advantage"].mean().item(), abs=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_the_loss_changes_nothing_in_what_was_collected(kind: str) -> None:
    actor = actor_of(kind)
    batch = collected(actor)
    before = batch.clone()
    MMRKHSLoss(actor)(batch)
    assert set(batch.keys(include_nested=True)) == set(before.keys(include_nested=True))
    assert (batch == before).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("term", TERMS)
def test_every_term_alone_moves_a_perturbed_policy(kind: str, term: str) -> None:
    actor = actor_of(kind)
    batch = collected(actor)
    with torch.no_grad():
        for parameter in actor.parameters():
            parameter.add_(0.05 * torch.randn_like(parameter))
    MMRKHSLoss(actor, entropy_coeff=0.1)(batch)[term].backward()
    norms = [parameter.grad.norm().item() for parameter in actor.parameters() if parameter.grad is not None]
    assert max(norms) > 1e-5


@pytest.mark.parametrize("kind", KINDS)
def test_without_penalties_the_gradient_is_that_of_the_policy_gradient(kind: str) -> None:
    actor = actor_of(kind)
    batch = collected(actor)
    parameters = list(actor.parameters())
    ours = torch.autograd.grad(total(MMRKHSLoss(actor, mmd_coef=0.0, eta=math.inf)(batch)), parameters)
    log_prob = actor.get_dist(batch.select("observation")).log_prob(batch["action"])
    plain = torch.autograd.grad(-(log_prob * batch["advantage"].squeeze(-1)).mean(), parameters)
    for one, other in zip(ours, plain, strict=True):
        assert torch.allclose(one, other, atol=1e-6)


def test_the_critic_is_trained_on_the_targets_and_no_gradient_reaches_the_actor_from_there() -> None:
    actor = actor_of("gaussian")
    critic = ValueOperator(nn.Linear(3, 1), in_keys=["observation"])
    batch = collected(actor)
    loss = MMRKHSLoss(actor, critic, critic_coeff=0.25)(batch)["loss_critic"]
    error = (critic.module(batch["observation"]) - batch["value_target"]).square().mean()
    assert loss.item() == pytest.approx(0.25 * error.item(), rel=1e-6)
    loss.backward()
    assert all(parameter.grad is None for parameter in actor.parameters())
    assert all(parameter.grad is not None for parameter in critic.parameters())


def test_the_schedule_sets_both_weights() -> None:
    actor = actor_of("categorical")
    batch = collected(actor)
    with torch.no_grad():
        next(iter(actor.parameters())).add_(0.3)
        actor.module[0].module.bias[0] += 1.0
    loss = MMRKHSLoss(actor)
    loss.schedule(eta=4.0, mmd_coef=0.5)
    terms = loss(batch)
    assert terms["loss_mmd"].item() == pytest.approx(0.5 * terms["mmd"].item(), rel=1e-6)
    assert terms["loss_kl"].item() == pytest.approx(terms["kl"].item() / 4.0, rel=1e-6)
    assert loss.distances_of(batch) == pytest.approx((terms["mmd"].item(), terms["kl"].item()), rel=1e-6)


@pytest.mark.parametrize(("sigma", "entropy"), [(0.2444, 0.01), (0.1, -0.88), (0.5, 0.7258)])
def test_entropy_of_a_gaussian_is_that_of_the_density(sigma: float, entropy: float) -> None:
    actor = actor_of("gaussian", size=1, std=sigma)
    assert MMRKHSLoss(actor)(collected(actor))["entropy"].item() == pytest.approx(entropy, abs=5e-3)


# sigma, twice the integral of p^2, what a re-sampled action shows as KL in 1 and 5 dimensions, entropy per dimension.
RESAMPLED = [
    (0.1, 5.6702, 4.670, 5860.5, -0.8936),
    (0.3, 1.9692, 0.969, 28.61, 0.1286),
    (0.4, 1.5328, 0.533, 7.462, 0.3534),
    (0.45, 1.3945, 0.394, 4.273, 0.4344),
    (0.5, 1.2886, 0.289, 2.553, 0.5000),
    (0.55, 1.2070, 0.207, 1.561, 0.5526),
    (0.6, 1.1440, 0.144, 0.960, 0.5942),
    (0.8744, 1.0156, 0.016, 0.081, 0.6836),
    (1.0, 1.0489, 0.049, 0.270, 0.6698),
]


@pytest.mark.parametrize(("sigma", "factor", "one", "five", "entropy"), RESAMPLED)
def test_identical_squashed_policies_show_no_kl_where_a_resampled_action_would(
    sigma: float, factor: float, one: float, five: float, entropy: float
) -> None:
    u = torch.linspace(-12 * sigma, 12 * sigma, 200_001, dtype=torch.float64)
    density = torch.exp(-0.5 * (u / sigma) ** 2) / (sigma * math.sqrt(2 * math.pi))
    slope = 1 - torch.tanh(u) ** 2
    twice = 2 * torch.trapezoid(density.square() / slope, u).item()
    assert twice == pytest.approx(factor, abs=6e-5)
    assert twice - 1 == pytest.approx(one, abs=6e-4)
    assert twice**5 - 1 == pytest.approx(five, rel=1e-3, abs=6e-4)
    assert -torch.trapezoid(density * (density / slope).log(), u).item() == pytest.approx(entropy, abs=6e-5)
    actor = actor_of("squashed", size=5, std=sigma)
    with torch.no_grad():
        actor.module[0].module.mean.weight.zero_()
        actor.module[0].module.mean.bias.zero_()
    assert isinstance(actor.get_dist(collected(actor).select("observation")), TanhNormal)
    assert MMRKHSLoss(actor)(collected(actor))["kl_approx"].item() == pytest.approx(0.0, abs=1e-6)
