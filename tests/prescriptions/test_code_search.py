"""A suspected bug in a checkout: read as text, shown with file, line and a diff."""

from __future__ import annotations

from pathlib import Path

import pytest

from rlclinic.causes.components import suspect_for
from rlclinic.model.errors import UsageError
from rlclinic.prescriptions.code_search import located
from tests.prescriptions.made import PPO, made_run

RUN = made_run(PPO, framework_id="cleanrl")
RIGHT = "ratio = (newlogprob - oldlogprob).exp()\npg_loss1 = -mb_advantages * ratio\n"


def checkout(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("component", "wrong", "right"),
    [
        ("log-probability and ratio", "ratio = torch.exp(old_logp - logp)", "ratio = torch.exp(logp - old_logp)"),
        ("advantage sign", "pg_loss1 = mb_advantages * ratio", "pg_loss1 = -mb_advantages * ratio"),
        (
            "bootstrap and done mask",
            "td_target = data.rewards + args.gamma * target_max",
            "td_target = data.rewards + args.gamma * target_max * (1.0 - dones)",
        ),
        (
            "target network update",
            "t.copy_(tau * target.data + (1.0 - tau) * online.data)",
            "t.copy_(tau * online.data + (1.0 - tau) * target.data)",
        ),
        (
            "entropy term",
            "loss = pg_loss + args.ent_coef * entropy.mean() + v_loss",
            "loss = pg_loss - args.ent_coef * entropy.mean() + v_loss",
        ),
    ],
)
def test_a_wrong_form_is_found_by_file_and_line_and_mended_in_a_diff(
    tmp_path: Path, component: str, wrong: str, right: str
) -> None:
    found = located(RUN, None, checkout(tmp_path, train=f"import torch\n\n{wrong}\n"))
    assert found is not None
    assert found.component == component
    assert found.places[0] == f"train.py:3: {wrong}"
    assert f"-{wrong}\n+{right}" in found.diff
    assert found.command.startswith("rlclinic probe ")


def test_right_code_has_no_diff_and_makes_no_suspect(tmp_path: Path) -> None:
    assert located(RUN, None, checkout(tmp_path, train=RIGHT)) is None
    found = located(RUN, suspect_for(RUN, "advantage-sign"), checkout(tmp_path, train=RIGHT))
    assert found is not None
    assert found.places == ("train.py:2: pg_loss1 = -mb_advantages * ratio",)
    assert found.diff == ""


def test_code_is_never_imported_and_no_link_is_followed_out(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.py").write_text("pg_loss1 = mb_advantages * ratio\n", encoding="utf-8")
    code = tmp_path / "code"
    code.mkdir()
    (code / "link.py").symlink_to(outside / "secret.py")
    (code / "boom.py").write_text("raise SystemExit('imported')\n", encoding="utf-8")
    assert located(RUN, None, code) is None


def test_a_folder_that_is_none_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--code is no folder"):
        located(RUN, None, tmp_path / "none")


@pytest.mark.parametrize(("algorithm", "absent"), [("TD3", "RolloutBuffer"), ("PPO", "ReplayBuffer"), ("SAC", "PPO")])
def test_a_suspected_bug_names_code_of_the_algorithm_at_hand(algorithm: str, absent: str) -> None:
    run = made_run(PPO, algorithm=algorithm)
    look_at = suspect_for(run, "bootstrap-and-done-mask").look_at
    assert look_at
    assert all(absent not in place for place in look_at)
