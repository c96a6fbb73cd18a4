"""Configs printed as a list."""

from __future__ import annotations

import pytest

from rlclinic.readers.consoles.config_listings import dotted_settings, listing_settings


def values(lines: list[str]) -> dict[str, object]:
    return {setting.name: setting.value for setting in listing_settings(lines)}


def test_a_flat_list_is_read_with_its_lines() -> None:
    settings = listing_settings(
        ["Arguments", "  lr: 0.0003", "  gamma: 0.99", "  env_id: CartPole-v1", "  note: a # b", ""]
    )
    assert [(setting.name, setting.value, setting.line) for setting in settings] == [
        ("lr", 0.0003, 2),
        ("gamma", 0.99, 3),
        ("env_id", "CartPole-v1", 4),
        ("note", "a", 5),
    ]


def test_a_nested_list_becomes_dotted_names() -> None:
    lines = [
        "algorithm:",
        "  gamma: 0.99",
        "  optim:",
        "    lr: 1e-4",
        "    betas:",
        "    - 0.9",
        "    - 0.95",
        "trainer:",
        "  seed: 3",
        "  name: null",
    ]
    assert values(lines) == {
        "algorithm.gamma": 0.99,
        "algorithm.optim.lr": 1e-4,
        "algorithm.optim.betas": [0.9, 0.95],
        "trainer.seed": 3,
        "trainer.name": None,
    }


def test_items_with_a_dash_are_a_flat_list() -> None:
    assert values(["- algo_id:  ppo", "- policy:   mlp", "- seed:     42", "- hidden_dims: (256, 256)"]) == {
        "algo_id": "ppo",
        "policy": "mlp",
        "seed": 42,
        "hidden_dims": (256, 256),
    }


def test_megatrons_dotted_table_is_read() -> None:
    lines = [
        "  lr .............................. 1e-06",
        "  seed ............ 1234",
        "  hidden_size ...... 2048",
        "  ckpt_format ... torch",
    ]
    assert {setting.name: setting.value for setting in dotted_settings(lines)} == {
        "lr": 1e-6,
        "seed": 1234,
        "hidden_size": 2048,
        "ckpt_format": "torch",
    }


@pytest.mark.parametrize(
    "lines",
    [
        ["Date: today", "From: me", "To: you", "Subject: lr"],
        ["lr: 0.1", "seed: 3"],
        ["Loading: 3", "wandb: syncing", "Epoch: 3", "Time: 5", "Note: x"],
        ["and so on ... to the end", "lr ... and", "seed ... or"],
    ],
)
def test_other_lists_are_no_config(lines: list[str]) -> None:
    assert values(lines) == {}
    assert dotted_settings(lines) == []
