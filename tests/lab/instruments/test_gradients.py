"""Gradient norms, sampled from outside."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from rlclinic.lab.instruments.gradients import FEWEST, GradientNorms


def network() -> Any:
    torch.manual_seed(0)
    return torch.nn.ModuleDict({"actor": torch.nn.Linear(3, 2), "critic": torch.nn.Linear(3, 1)})


def update(model: Any, optimizer: Any, *, clip: float | None = None) -> dict[str, float]:
    """One update; the true norms before clipping."""
    optimizer.zero_grad()
    data = torch.ones(4, 3)
    (model["actor"](data).pow(2).sum() + model["critic"](data).pow(2).sum()).backward()
    norms = {
        name: float(torch.stack([p.grad.norm() for p in part.parameters()]).norm()) for name, part in model.items()
    }
    if clip is not None:
        torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
    optimizer.step()
    return norms


def test_the_norm_of_each_part_is_that_before_clipping() -> None:
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
    norms = GradientNorms(optimizer, {name: part.parameters() for name, part in model.items()})
    expected = update(model, optimizer, clip=1e-3)
    assert norms.take() == pytest.approx(expected, rel=1e-6)


def test_only_a_sample_of_the_updates_is_measured() -> None:
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
    norms = GradientNorms(optimizer, {"all": model.parameters()}, every=5)
    for _ in range(13):
        update(model, optimizer)
    assert len(norms._samples["all"]) == 3
    assert set(norms.take()) == {"all"}


def test_a_row_asks_for_a_sample_unless_one_was_just_taken() -> None:
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
    norms = GradientNorms(optimizer, {"all": model.parameters()}, every=1000)
    for _ in range(FEWEST):
        update(model, optimizer)
    norms.take()
    update(model, optimizer)
    assert set(norms.take()) == {"all"}
    update(model, optimizer)
    assert norms.take() == {}


def test_an_actor_s_loss_through_the_critic_is_not_taken_for_the_critic_s_gradient() -> None:
    model = network()
    optimizer = torch.optim.SGD(model["critic"].parameters(), lr=0.0)
    norms = GradientNorms(optimizer, {"critic": model["critic"].parameters()})
    (1000 * model["critic"](torch.ones(1, 3))).sum().backward()
    expected = update(model, optimizer)["critic"]
    assert norms.take()["critic"] == pytest.approx(expected, rel=1e-6)


def test_a_part_without_a_gradient_has_no_norm() -> None:
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
    norms = GradientNorms(
        optimizer, {"actor": model["actor"].parameters(), "unused": [torch.nn.Parameter(torch.ones(1))]}
    )
    update(model, optimizer)
    assert set(norms.take()) == {"actor"}


def test_closing_removes_every_hook() -> None:
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
    norms = GradientNorms(optimizer, {"all": model.parameters()})
    norms.close()
    update(model, optimizer)
    assert norms._samples["all"] == []
