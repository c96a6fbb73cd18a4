"""`rlclinic train`, `status` and `stop` as the user types them."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rlclinic.apps.cli.main import app
from rlclinic.lab.checkpoints import last_checkpoint
from rlclinic.lab.folder import open_folder
from rlclinic.model.errors import RlclinicError
from rlclinic.readers.state import is_alive

TINY = ["-o", "n_steps=32", "-o", "n_envs=2", "-o", "batch_size=64", "-o", "net_arch=[8]", "-o", "eval_episodes=2"]
COMMAND = [sys.executable, "-c", "from rlclinic.apps.cli import main; main()"]
PATIENCE = 120.0


def call(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_training_leaves_a_whole_run_with_its_diagnosis(tmp_path: Path) -> None:
    result = call("train", "CartPole-v1:ppo", "--steps", "256", "--seed", "4", *TINY)
    assert result.exit_code == 0, result.output
    path = (tmp_path / "runs" / "@last").resolve()
    assert {file.name for file in path.iterdir()} == {
        "config.json", "metrics.csv", "run.log", "status.json", "checkpoints", "report.md", "observed.npz",
    }  # fmt: skip
    assert f"runs/{path.name}\n  finished at step 256: the budget is used\n" in result.output
    assert (path / "report.md").read_text().startswith(f"# {path.name}: ")
    assert json.loads((path / "config.json").read_text())["seed"] == 4


def test_json_of_a_training_is_one_object() -> None:
    result = call("train", "CartPole-v1:ppo", "--steps", "128", "--quiet", "--json", *TINY)
    found = json.loads(result.stdout)
    assert (found["schema"], found["state"], found["env_steps"]) == ("rlclinic.train/1", "finished", 128)
    assert found["verdict"]


def test_status_lists_what_goes_on_and_all_shows_what_ended() -> None:
    call("train", "CartPole-v1:a2c", "--steps", "64", "-o", "n_envs=2", "--quiet")
    assert "no active runs below runs\n1 ended; --all shows them" in call("status").output
    assert "A2C on CartPole-v1  finished" in call("status", "--all").output
    assert json.loads(call("status", "--json").stdout)["runs"][0]["state"] == "finished"
    assert "is not running: finished" in call("stop", "@last").output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["train"], "name what to train"),
        (["train", "CartPole-v1:ppo", "--resume", "x"], "name what to train"),
        (["train", "--resume", "x", "--steps", "3"], "keeps its config"),
        (["train", "--resume", "nothing"], "no such file or folder"),
        (["train", "CartPole-v9:ppo"], "no environment is called 'CartPole-v9'"),
        (["train", "CartPole-v1:ppo", "--steps", "10"], "below one rollout"),
        (["train", "CartPole-v1:sac"], "does not fit the discrete actions"),
        (["status", "nowhere"], "no such folder"),
        (["stop", "nothing"], "no such file or folder"),
    ],
)
def test_bad_input_is_an_error_of_the_usage_and_writes_nothing(
    tmp_path: Path, arguments: list[str], words: str
) -> None:
    result = call(*arguments)
    assert isinstance(result.exception, RlclinicError)
    assert result.exception.exit_code == 2
    assert words in result.exception.message
    assert not (tmp_path / "runs").exists()


def test_ctrl_c_saves_and_ends_with_the_shell_s_code_for_it(tmp_path: Path) -> None:
    arguments = ["-o", 'env_kwargs={"at": 100, "fault": "interrupt"}', "-o", "eval_freq=0", "-o", "n_envs=1", "--quiet"]
    result = call("train", "tests.lab.environments:Faulty:a2c", "--steps", "5000", *arguments)
    assert result.exit_code == 130
    assert "interrupted at step 100: Ctrl-C" in result.output
    assert (tmp_path / "runs" / "@last" / "report.md").is_file()
    saved = last_checkpoint(tmp_path / "runs" / "@last")
    assert saved is not None
    assert saved.env_steps == 100


def test_a_background_run_outlives_its_parent_keeps_its_log_and_can_be_stopped(tmp_path: Path) -> None:
    command = ["train", "CartPole-v1:ppo", "--steps", "500000", "--background", "--json", *TINY, "-o", "log_freq=1"]
    parent = subprocess.run([*COMMAND, *command], capture_output=True, text=True, timeout=PATIENCE, check=True)
    told = json.loads(parent.stdout)
    folder = open_folder(tmp_path / told["path"])
    state = folder.state()
    assert state is not None
    assert state.pid == told["pid"]
    assert is_alive(state)
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and folder.metrics.last_epoch() < 0:
        time.sleep(0.05)
    assert f"process {state.pid}" in call("status").output
    stopped = call("stop", told["path"])
    assert "it can be resumed" in stopped.output
    log = (folder.path / "run.log").read_text()
    assert "training PPO on CartPole-v1" in log
    assert "interrupted at step" in log
    assert not is_alive(state)
