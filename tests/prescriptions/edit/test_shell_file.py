"""Shell scripts are edited at one place, and only where it is sure which one counts."""

from __future__ import annotations

import pytest

from rlclinic.prescriptions.edit.edits import MISSING, Edit, Refused
from rlclinic.prescriptions.edit.shell_file import edit_shell

SEARCH_R1 = """\
#!/bin/bash
export KL=0.05
# actor_rollout_ref.actor.optim.lr=1e-6 was better
PYTHONUNBUFFERED=1 python3 -m verl.trainer.main_ppo \\
    algorithm.adv_estimator=grpo \\
    actor_rollout_ref.actor.optim.lr=1e-3 \\
    actor_rollout_ref.actor.kl_loss_coef=$KL \\
    +trainer.val_before_train=True \\
    data.train_batch_size=512 2>&1 | tee run.log
"""


def _edit(key: str, before: object, after: object, *also: str) -> Edit:
    return Edit(tuple(key.split(".")), before, after, frozenset(also))


@pytest.mark.parametrize(
    ("edit", "old", "new"),
    [
        (_edit("actor_rollout_ref.actor.optim.lr", 1e-3, 1e-6), "optim.lr=1e-3", "optim.lr=1.0e-06"),
        (_edit("actor_rollout_ref.actor.kl_loss_coef", 0.05, 0.001), "KL=0.05", "KL=0.001"),
        (_edit("trainer.val_before_train", True, False), "val_before_train=True", "val_before_train=False"),
        (_edit("data.train_batch_size", MISSING, 1024), "train_batch_size=512", "train_batch_size=1024"),
    ],
)
def test_only_the_value_changes(edit: Edit, old: str, new: str) -> None:
    assert edit_shell(SEARCH_R1, [edit]) == SEARCH_R1.replace(old, new)


def test_a_flag_of_another_name_is_the_same_setting() -> None:
    script = "python train.py --env Hopper-v4 --lr 0.01 --seed $1\n"
    assert edit_shell(script, [_edit("learning_rate", 0.01, 3e-4, "lr")]) == script.replace("0.01", "0.0003")


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("python a.py --lr 0.01\npython a.py --lr 0.02\n", "2 places"),
        ("python a.py --lr $LR\n", "outside of the script"),
        ("LR=0.01\npython a.py --lr $LR --warmup-lr $LR\n", "elsewhere too"),
        ("python a.py --lr $((2*3))\n", "computed"),
        ("python a.py --lr 0.5\n", "but the run had 0.01"),
        ("python a.py\n", "sets lr"),
    ],
)
def test_what_is_not_sure_is_refused(script: str, words: str) -> None:
    with pytest.raises(Refused, match=words):
        edit_shell(script, [_edit("lr", 0.01, 3e-4)])
