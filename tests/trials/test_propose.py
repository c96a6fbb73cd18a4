"""From a run and what to change in it to the plan of a trial."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from rlclinic import read
from rlclinic.model.errors import UsageError
from rlclinic.model.run import Run
from rlclinic.trials.propose import plan_trial

TRAINER = Path(__file__).with_name("trainer.py")
COMMAND = f"python {TRAINER} --lr {{learning_rate}} --seed {{seed}} --steps {{total_steps}} --logdir {{logdir}}"


@pytest.fixture
def own(tmp_path: Path) -> Run:
    """A run of a script that logs its learning rate and has no config."""
    words = [sys.executable, str(TRAINER), "--lr", "0.001", "--seed", "0", "--steps", "200", "--logdir", str(tmp_path)]
    subprocess.run(words, check=True)
    return read(tmp_path)


def test_a_command_s_trial_takes_the_learning_rate_that_only_the_log_tells(own: Run) -> None:
    plan = plan_trial(own, overrides=["learning_rate=0.3"], seeds=3, command=COMMAND)
    assert [(change.before, change.after) for change in plan.arms[1].changes] == [(0.001, 0.3)]
    assert plan.job(plan.arms[0], 0).config["learning_rate"] == 0.001
    assert plan.job(plan.arms[1], 0).config["learning_rate"] == 0.3
    assert (plan.budget, plan.seeds) == (200, (0, 1, 2))


@pytest.mark.parametrize(
    ("override", "command", "words", "hint"),
    [
        ("gamma=0.9", COMMAND, "no place for gamma", "write {gamma} where its value belongs"),
        ("gamma=0.9", COMMAND + " --g {gamma}", "no value for gamma", "config.yaml beside the logs"),
        ("gamma", COMMAND + " --g {gamma}", "--change 'gamma'", "key=value"),
    ],
)
def test_a_command_that_does_not_fit_is_refused_with_a_way_out(
    own: Run, override: str, command: str, words: str, hint: str
) -> None:
    with pytest.raises(UsageError) as refused:
        plan_trial(own, overrides=[override], command=command)
    assert words in refused.value.message
    assert hint in refused.value.hint


def test_without_its_environment_a_run_needs_its_own_command(own: Run) -> None:
    with pytest.raises(UsageError) as refused:
        plan_trial(own, overrides=["learning_rate=0.3"])
    assert "--command" in refused.value.hint


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        ([], "nothing to try"),
        (["total_steps=99"], "the same budget"),
        (["learning_rate=0.05"], "changes nothing"),
        (["gama=0.9"], "unknown hyperparameter"),
    ],
)
def test_a_change_that_tests_nothing_is_refused(runs: Path, overrides: list[str], words: str) -> None:
    pytest.importorskip("stable_baselines3")
    with pytest.raises(UsageError, match=words):
        plan_trial(read(runs / "sb3" / "ppo_cartpole_high_lr"), overrides=overrides)
