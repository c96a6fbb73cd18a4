"""The traps of gymnasium-solver's run folder."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from rlclinic.model.run import Run, Status
from rlclinic.readers.open import read


@pytest.fixture
def folder(runs: Path) -> Path:
    return runs / "gymnasium_solver" / "runs" / "local-20260115-103000"


@pytest.fixture
def run(folder: Path) -> Run:
    return read(folder)


def test_steps_are_env_steps_not_vector_steps(run: Run, folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    assert run.step_axis == "env_steps"
    assert run.steps == run.budget == config["max_env_steps"]


def test_the_repeated_last_row_is_left_out(run: Run) -> None:
    steps = run["return/train"].steps
    assert len(np.unique(steps)) == len(steps)
    assert any("repeats the one before it" in note for note in run.provenance.notes)


def test_evaluation_rows_get_the_step_of_their_epoch(run: Run) -> None:
    assert set(run["return/eval"].steps) <= set(run["return/train"].steps)


def test_evaluation_of_the_untrained_policy_carries_a_caveat_and_is_not_the_return(run: Run) -> None:
    assert "untrained" in run["return/eval"].caveat
    assert run.returns is run["return/train"]


def test_with_async_evaluation_there_is_no_caveat(folder: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(folder, tmp_path / "run", symlinks=True)
    config = json.loads((copy / "config.json").read_text())
    (copy / "config.json").write_text(json.dumps({**config, "eval_async": True}))
    assert read(copy)["return/eval"].caveat == ""


def test_rounded_columns_say_how_far_they_are_rounded(run: Run) -> None:
    assert run["approx_kl"].decimals == 4
    assert run["explained_variance"].decimals == 3


def test_the_threshold_is_the_one_of_the_spec(run: Run) -> None:
    assert run.threshold == 475


def test_a_budget_end_is_finished_with_the_trainers_reason(run: Run) -> None:
    assert run.status.state is Status.FINISHED
    assert "total_env_steps" in run.status.reason


def test_ctrl_c_is_interrupted_and_a_header_only_crash_is_crashed(folder: Path) -> None:
    assert read(folder.parent / "local-20260115-104500").status.state is Status.INTERRUPTED
    assert read(folder.parent / "local-20260115-102500").status.state is Status.CRASHED


def test_checkpoint_links_of_a_moved_folder_are_resolved_by_name(folder: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(folder, tmp_path / "run", symlinks=True)
    checkpoints = sorted(path.name for path in (copy / "checkpoints").glob("epoch=*"))
    (copy / "checkpoints" / "@best").unlink(missing_ok=True)
    (copy / "checkpoints" / "@best").symlink_to(f"/old/place/checkpoints/{checkpoints[0]}")
    labels = {Path(item.path).name: item.label for item in read(copy).checkpoints}
    assert labels[checkpoints[0]] == "best"


def test_a_learning_rate_given_as_text_stays_text(folder: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(folder, tmp_path / "run", symlinks=True)
    config = json.loads((copy / "config.json").read_text())
    (copy / "config.json").write_text(json.dumps({**config, "policy_lr": "1e-3"}, indent=2))
    setting = read(copy).config.settings["learning_rate"]
    assert setting.value == "1e-3"
    assert setting.origin is not None
    assert '"policy_lr"' in (copy / "config.json").read_text().splitlines()[(setting.origin.line or 0) - 1]
