"""Expressions in configs are read as their arguments, and never evaluated."""

from __future__ import annotations

import pytest

from rlclinic.readers.configs.arguments import MAX_CHARS, arguments


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("dict(net_arch=[256, 256], log_std_init=-2)", {"net_arch": [256, 256], "log_std_init": -2}),
        ("dict(net_arch=dict(pi=[64], vf=[32]))", {"net_arch.pi": [64], "net_arch.vf": [32]}),
        ("{'norm_obs': True, 'norm_reward': False}", {"norm_obs": True, "norm_reward": False}),
        ("LinearSchedule(start=0.001, end=0.0)", {"start": 0.001, "end": 0.0}),
        ("dict(activation_fn=nn.ReLU)", {"activation_fn": "nn.ReLU"}),
        (" dict(eps=1e-5) ", {"eps": 1e-5}),
        ("dict(a=1, **others)", {"a": 1}),
        ("dict()", {}),
    ],
)
def test_the_arguments_of_an_expression_are_read(text: str, wanted: dict[str, object]) -> None:
    assert arguments(text) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "", "lin_0.001", "a b)", "dict(", "print('x')", "[1, 2]", "x.y(a=1)", "dict(a=1) + dict(b=2)",
        "(" * 5000 + ")" * 5000, "dict(a=" + "1" * MAX_CHARS + ")", "dict(a='\x00')",
    ],
)  # fmt: skip
def test_other_texts_have_none(text: str) -> None:
    assert arguments(text) == {}


def test_nothing_is_called() -> None:
    assert arguments("dict(a=open('/nowhere'), b=1)") == {"a": "open('/nowhere')", "b": 1}
