"""Causes of language-model runs name the file and function of their framework, and the line in a checkout."""

from __future__ import annotations

from pathlib import Path

from rlclinic.model.diagnosis import Cause
from rlclinic.prescriptions.framework_code import with_code

CAUSE = Cause("kl-reward-hacking", "language-model", "root", "", 0.7)


def test_a_cause_names_where_its_framework_computes_it() -> None:
    (found,) = with_code([CAUSE], "verl", None)
    assert found.code == ("verl/trainer/ppo/ray_trainer.py: apply_kl_penalty",)
    assert with_code([CAUSE], "sb3", None) == (CAUSE,)


def test_a_checkout_gives_the_line(tmp_path: Path) -> None:
    file = tmp_path / "verl" / "trainer" / "ppo" / "ray_trainer.py"
    file.parent.mkdir(parents=True)
    file.write_text("import torch\n\ndef apply_kl_penalty(data, kl_ctrl):\n    return data\n", encoding="utf-8")
    (found,) = with_code([CAUSE], "verl", tmp_path)
    assert found.code == ("verl/trainer/ppo/ray_trainer.py:3: def apply_kl_penalty(data, kl_ctrl):",)


def test_a_checkout_without_the_function_falls_back_on_the_framework(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("print(1)\n", encoding="utf-8")
    (found,) = with_code([CAUSE], "search-r1", tmp_path)
    assert found.code == ("verl/trainer/ppo/ray_trainer.py: apply_kl_penalty",)
