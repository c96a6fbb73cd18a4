"""Settings on command lines."""

from __future__ import annotations

import pytest

from rlclinic.readers.consoles.config_commands import command_settings, override_settings


def typed(lines: list[str]) -> dict[str, object]:
    return {setting.name: setting.value for setting in command_settings(lines)}


def test_the_overrides_of_a_failed_job_are_all_read() -> None:
    line = (
        "Error executing job with overrides: ['data.train_batch_size=128', '+trainer.val_before_train=True', "
        "\"trainer.logger=['console','wandb']\", 'algorithm.adv_estimator=gae', 'data.val_files=', '~trainer.x', "
        "'actor.optim.lr=1e-6', 'data.limit=null', 'trainer.tags=[a,b]']"
    )
    settings = override_settings(["crash", line])
    assert {setting.name: setting.value for setting in settings} == {
        "data.train_batch_size": 128,
        "trainer.val_before_train": True,
        "trainer.logger": ["console", "wandb"],
        "algorithm.adv_estimator": "gae",
        "data.val_files": "",
        "actor.optim.lr": 1e-6,
        "data.limit": None,
        "trainer.tags": ["a", "b"],
    }
    assert {setting.line for setting in settings} == {2}


def test_a_command_over_several_lines_is_one_command() -> None:
    lines = [
        "PYTHONUNBUFFERED=1 python3 -m verl.trainer.main_ppo \\",
        "    algorithm.adv_estimator=grpo \\",
        "    data.path='/data/a b' \\",
        "    actor.lr=1e-6 2>&1 | tee -a out.log",
        "other=1",
    ]
    assert typed(lines) == {"algorithm.adv_estimator": "grpo", "data.path": "/data/a b", "actor.lr": 1e-6}


def test_a_shell_trace_is_a_command() -> None:
    assert typed(["+ python3 -m verl.trainer.main_ppo data.n=3"]) == {"data.n": 3}


def test_flags_are_read_in_every_spelling() -> None:
    line = "torchrun --nproc_per_node 4 train.py --learning-rate 3e-4 --seed=-1 --dims 64 64 --cuda -v --offset -2"
    assert typed([line]) == {"learning_rate": 3e-4, "seed": -1, "dims": [64, 64], "cuda": True, "v": True, "offset": -2}


def test_overrides_quoted_as_one_word_are_split() -> None:
    assert typed(["bash run.sh \"trainer.n_gpus=1 trainer.logger=['console']\""]) == {
        "trainer.n_gpus": 1,
        "trainer.logger": ["console"],
    }


@pytest.mark.parametrize(
    "line",
    [
        "python is a language",
        "x = 3",
        "bash: line 3: unset=1",
        "python3 -m",
        "a.b=c",
        'python3 train.py "unclosed --x 1',
    ],
)
def test_other_text_is_no_command(line: str) -> None:
    assert typed([line]).keys() <= {"x"}
