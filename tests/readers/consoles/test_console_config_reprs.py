"""Configs printed as an object."""

from __future__ import annotations

import pytest

from rlclinic.readers.consoles.config_reprs import repr_settings


def values(lines: list[str]) -> dict[str, object]:
    return {setting.name: setting.value for setting in repr_settings(lines)}


def test_a_namespace_gives_its_settings() -> None:
    line = "Namespace(lr=0.0003, env_id='CartPole-v1', dims=[64, 64], cuda=True, target_kl=None, note='a, b=(c')"
    assert values(["INFO args: " + line]) == {
        "lr": 0.0003,
        "env_id": "CartPole-v1",
        "dims": [64, 64],
        "cuda": True,
        "target_kl": None,
        "note": "a, b=(c",
    }


def test_objects_in_objects_become_dotted_names() -> None:
    line = "Args(seed=1, ppo=PPOArgs(gamma=0.99, clip_coef=0.2), mode=<Mode.FAST: 'fast'>)"
    assert values([line]) == {"seed": 1, "ppo.gamma": 0.99, "ppo.clip_coef": 0.2, "mode": "fast"}


def test_hugging_face_arguments_print_one_per_line_without_quotes() -> None:
    lines = [
        "GRPOConfig(",
        "_n_gpu=1,",
        "beta=0.04,",
        "learning_rate=1e-06,",
        "output_dir=./it's here,",
        "optim=OptimizerNames.ADAMW_TORCH,",
        "deepspeed=None,",
        ")",
    ]
    settings = repr_settings(["start", *lines])
    assert {setting.name: setting.value for setting in settings} == {
        "_n_gpu": 1,
        "beta": 0.04,
        "learning_rate": 1e-6,
        "output_dir": "./it's here",
        "optim": "OptimizerNames.ADAMW_TORCH",
        "deepspeed": None,
    }
    assert [setting.line for setting in settings][:2] == [3, 4]


def test_a_dataclass_wrapped_over_lines_keeps_the_line_of_each_setting() -> None:
    settings = repr_settings(
        ["PPOConfig(lr=0.1,", "          gamma=0.9,", "          dims=[1,", "                2],", "          seed=3)"]
    )
    assert [(setting.name, setting.value, setting.line) for setting in settings] == [
        ("lr", 0.1, 1),
        ("gamma", 0.9, 2),
        ("dims", [1, 2], 3),
        ("seed", 3, 5),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "Linear(in_features=64, out_features=2, bias=True, lr=1, seed=2)",
        "SamplingParams(n=1, temperature=1.0, seed=3, top_p=1, top_k=2)",
        "server_args=ServerArgs(model_path='x', seed=1, lr=2, a=3, b=4)",
        "Args(a=1)",
        "Namespace()",
        "Args(" * 500,
        "Namespace(a=1, b=2",
    ],
)
def test_other_objects_are_no_config(line: str) -> None:
    assert values([line, "text"]) == {}
