"""What a project of language-model training leaves in several places is one run: metrics, config, script, console."""

from __future__ import annotations

import csv
import json
import re
import shutil
from pathlib import Path

import pytest

from rlclinic.readers import near_jobs
from rlclinic.readers.discover import find
from rlclinic.readers.open import read
from tests.growth import grows_linearly

RUNS = Path(__file__).parents[1] / "fixtures" / "runs"
CONSOLE = RUNS / "verl" / "console_v0.9" / "train.log"
JOB = """\
algorithm:
  adv_estimator: grpo
trainer:
  experiment_name: {name}
actor_rollout_ref:
  actor:
    optim:
      lr: {rate}
"""


def job(project: Path, started: str, rate: float, name: str = "") -> Path:
    """A Hydra job of verl: a config, and a log that stays empty."""
    folder = project / "outputs" / "2025-11-30" / started
    (folder / ".hydra").mkdir(parents=True)
    (folder / ".hydra" / "config.yaml").write_text(JOB.format(name=name or "null", rate=rate), encoding="utf-8")
    overrides = f"- actor_rollout_ref.actor.optim.lr={rate}\n"
    (folder / ".hydra" / "overrides.yaml").write_text(overrides, encoding="utf-8")
    (folder / "main_ppo.log").touch()
    return folder


def tracked(project: Path, name: str) -> Path:
    """What Weights & Biases keeps of a console."""
    folder = project / "wandb" / name
    (folder / "files").mkdir(parents=True)
    shutil.copy(CONSOLE, folder / "files" / "output.log")
    return folder


def rate_of(path: Path) -> float | None:
    return read(path).config.number("learning_rate")


def test_a_run_gets_the_config_of_the_job_that_started_just_before_it(tmp_path: Path) -> None:
    for started, rate in (("02-53-40", 1e-6), ("14-46-05", 2e-6), ("19-39-30", 3e-6)):
        job(tmp_path, started, rate)
    runs = [tracked(tmp_path, f"run-20251130_{time}-abc") for time in ("025406", "144822", "194146")]
    assert [rate_of(run) for run in runs] == [1e-6, 2e-6, 3e-6]
    late = tracked(tmp_path, "run-20251130_235900-late")
    assert rate_of(late) is None, "no job started in the hour before it"


def test_the_console_of_a_tracker_is_read_with_the_run_it_lies_in(tmp_path: Path) -> None:
    run = tracked(tmp_path, "run-20251130_025406-abc")
    (run / "files" / "config.yaml").write_text("actor_rollout_ref.actor.optim.lr: {value: 3.0e-6}\n", encoding="utf-8")
    console = run / "files" / "output.log"
    assert rate_of(console) == rate_of(run) == 3e-6
    assert read(shutil.copy(console, tmp_path)).source == "files"


def test_jobs_that_hold_no_more_than_a_config_are_no_runs_beside_others(tmp_path: Path) -> None:
    alone = job(tmp_path, "02-53-40", 1e-6)
    assert [ref.path for ref in find(tmp_path)] == [alone], "nothing else is there to be shown"
    run = tracked(tmp_path, "run-20251130_025406-abc")
    assert [ref.path for ref in find(tmp_path)] == [run]
    (alone / "main_ppo.log").write_text("Traceback (most recent call last)\n", encoding="utf-8")
    assert len(find(tmp_path)) == 2, "a job that failed says so"


def test_the_name_of_the_experiment_comes_before_the_time(tmp_path: Path) -> None:
    job(tmp_path, "02-53-40", 1e-6, "first")
    job(tmp_path, "14-46-05", 2e-6, "second")
    shutil.copy(CONSOLE, tmp_path / "first.log")
    assert rate_of(tmp_path / "first.log") == 1e-6
    assert any("is called first as the run is" in note for note in read(tmp_path / "first.log").provenance.notes)


def test_a_log_tells_when_it_began(tmp_path: Path) -> None:
    job(tmp_path, "02-53-40", 1e-6)
    job(tmp_path, "14-46-05", 2e-6)
    ray = "2025-11-30 14:46:31,123\tINFO worker.py:1841 -- Started a local Ray instance.\n"
    (tmp_path / "train.log").write_text(ray + CONSOLE.read_text(encoding="utf-8"), encoding="utf-8")
    assert rate_of(tmp_path) == 2e-6
    (tmp_path / "train.log").write_text(CONSOLE.read_text(encoding="utf-8"), encoding="utf-8")
    assert rate_of(tmp_path) is None, "either may have made it"


def test_what_was_parsed_from_a_log_joins_it(tmp_path: Path) -> None:
    lines = (RUNS / "search_r1" / "grpo" / "train.log").read_text(encoding="utf-8").splitlines()
    rows = []
    for line in lines:
        found = re.search(r"step:(\d+) - (.*)", line)
        if found:
            pairs = [part.rpartition(":") for part in found[2].split(" - ")]
            rows.append({"step": found[1]} | {key: value for key, _, value in pairs})
    (tmp_path / "monitor_outputs").mkdir()
    with open(tmp_path / "monitor_outputs" / "rl_metrics_parsed.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, dict.fromkeys(key for row in rows for key in row))
        writer.writeheader()
        writer.writerows(rows)
    rest = [line for line in lines if "step:" not in line]
    (tmp_path / "nq-search-r1-grpo.log").write_text("\n".join(rest) + "\n", encoding="utf-8")
    assert [ref.path for ref in find(tmp_path)] == [tmp_path]
    run = read(tmp_path)
    assert run.framework == "search-r1"
    assert len(run.series["return/train"]) == len(rows)
    assert run.config.number("learning_rate") == 1e-6


def test_logs_that_contradict_each_other_are_two_runs(tmp_path: Path) -> None:
    shutil.copy(CONSOLE, tmp_path / "one.log")
    shutil.copy(CONSOLE, tmp_path / "nohup.out")
    assert [ref.path for ref in find(tmp_path)] == [tmp_path], "the same twice is one run"
    shutil.copy(RUNS / "verl" / "grpo_v0.5" / "train.log", tmp_path / "two.log")
    assert {ref.path.name for ref in find(tmp_path)} == {"one.log", "nohup.out", "two.log"}
    for name in ("one.log", "nohup.out", "two.log"):
        (tmp_path / name).rename(tmp_path / f"rank_{len(name)}_{name}")
    assert [ref.path for ref in find(tmp_path)] == [tmp_path], "processes of one training log different values"


def test_logs_that_tell_epochs_alone_are_of_one_run_where_they_agree(tmp_path: Path) -> None:
    """constructed: two seeds of TRL, and a training that goes on in a second log."""

    def log(name: str, first: int, reward: float) -> None:
        rows = [
            {"reward": reward + 0.01 * at, "reward_std": 0.1, "kl": 0.01, "epoch": (first + at) / 100}
            for at in range(10)
        ]
        (tmp_path / name).write_text("\n".join(map(str, rows)) + "\n", encoding="utf-8")

    log("first.log", 1, 0.2)
    log("second.log", 11, 0.3)
    assert [ref.path for ref in find(tmp_path)] == [tmp_path]
    log("second.log", 1, 0.3)
    assert {ref.path.name for ref in find(tmp_path)} == {"first.log", "second.log"}


@pytest.mark.parametrize(
    "command",
    ["trl grpo --learning_rate 2e-6 --output_dir outputs/grpo", "accelerate launch train.py --config recipe/grpo.yaml"],
)
def test_a_trainer_state_gets_the_settings_of_the_command_that_wrote_it(tmp_path: Path, command: str) -> None:
    (tmp_path / "recipe").mkdir()
    recipe = "learning_rate: 2.0e-6\noutput_dir: outputs/grpo\n"
    (tmp_path / "recipe" / "grpo.yaml").write_text(recipe, encoding="utf-8")
    (tmp_path / "train.sh").write_text(f"{command}\n", encoding="utf-8")
    run = tmp_path / "outputs" / "grpo" / "checkpoint-40"
    run.mkdir(parents=True)
    state = json.loads((RUNS / "trl" / "grpo_tiny" / "checkpoint-40" / "trainer_state.json").read_text("utf-8"))
    for row in state["log_history"]:
        row["learning_rate"] = 2e-6
    (run / "trainer_state.json").write_text(json.dumps(state), encoding="utf-8")
    assert rate_of(run.parent) == 2e-6


@pytest.mark.parametrize("folder", ["", "scripts"])
def test_a_console_gets_the_settings_of_the_script_that_started_it(tmp_path: Path, folder: str) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / folder).mkdir(exist_ok=True)
    shutil.copy(RUNS / "verl" / "ppo_v0.1" / "train.log", tmp_path / "logs")
    command = "python3 -m verl.trainer.main_ppo algorithm.adv_estimator=gae algorithm.kl_ctrl.kl_coef=0.001"
    (tmp_path / folder / "train_paper.sh").write_text(f"{command}\n", encoding="utf-8")
    origin = read(tmp_path / "logs").config.settings["kl_coef"].origin
    assert origin is not None
    assert origin.file.endswith("train_paper.sh")


def test_a_trainer_state_that_is_named_alone_has_the_config_beside_it(tmp_path: Path) -> None:
    shutil.copy(RUNS / "trl" / "grpo_tiny" / "checkpoint-40" / "trainer_state.json", tmp_path)
    (tmp_path / "grpo_config.yaml").write_text("num_generations: 4\n", encoding="utf-8")
    assert read(tmp_path / "trainer_state.json").config.number("group_size") == 4


def test_a_config_of_empty_lines_takes_linear_time() -> None:
    assert grows_linearly(lambda size: near_jobs._EXPERIMENT.search(b"\n" * size), 100_000)
