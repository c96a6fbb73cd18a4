"""What a script says in a run: below everything that the run's own files tell, and never of another run."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from rlclinic.apps.cli.main import app
from rlclinic.model.errors import RunReadError
from rlclinic.model.run import Run
from rlclinic.readers.draft import Draft
from rlclinic.readers.identify import identify_environment
from rlclinic.readers.open import read, read_files
from rlclinic.readers.place import Place
from rlclinic.reference.framework import framework

HERE = Path(__file__).parent
SAMPLES = HERE / "samples"
RUNS = Path(__file__).parents[2] / "fixtures" / "runs"

PPO_SCRIPT = """
import argparse
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env
parser = argparse.ArgumentParser()
parser.add_argument("--ent", type=float, default=0.01)
args = parser.parse_args()
model = PPO("MlpPolicy", make_vec_env("CartPole-v1", n_envs=1), learning_rate={rate}, gamma=0.9, ent_coef=args.ent,
            tensorboard_log="logs")
model.learn(12_000)
"""
NOTE = "--config"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with one SB3 run of PPO on CartPole without a config, which logged a learning rate of 0.05."""
    (tmp_path / ".git").mkdir()
    shutil.copytree(RUNS / "sb3" / "ppo_cartpole_high_lr", tmp_path / "logs" / "PPO_1")
    return tmp_path


def write(path: Path, rate: str = "0.05", **changes: str) -> Path:
    text = PPO_SCRIPT.replace("{rate}", rate)
    for before, after in changes.items():
        text = text.replace(before, after)
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


def notes(run: Run) -> list[str]:
    return [note for note in run.provenance.notes if NOTE in note]


def test_the_named_script_gives_settings_with_file_line_and_basis(project: Path) -> None:
    script = write(project / "elsewhere" / "train.py")
    run = read(project / "logs" / "PPO_1", configs=[script])
    gamma, entropy = run.config.settings["gamma"], run.config.settings["ent_coef"]
    assert (gamma.value, str(gamma.origin)) == (0.9, "../../elsewhere/train.py:8")
    assert (entropy.value, str(entropy.origin)) == (0.01, "../../elsewhere/train.py:6 (flag default)")
    assert run.config.settings["gae_lambda"].is_default
    assert [file.path for file in run.provenance.files if file.kind == "script"] == ["../../elsewhere/train.py"]
    assert run.budget == 12_000


def test_a_learning_rate_that_the_run_logged_otherwise_is_not_taken(project: Path) -> None:
    run = read(project / "logs" / "PPO_1", configs=[write(project / "elsewhere" / "train.py", "3e-4")])
    assert "learning_rate" not in run.config or run.config.settings["learning_rate"].is_default
    assert any("the run logged 0.05" in note for note in run.provenance.notes)
    assert run.config.get("gamma") == 0.9


ZOO = """
Pendulum-v1: {{n_envs: 4, gamma: 0.5}}
CartPole-v1: {{n_envs: {envs}, n_steps: 256, gamma: 0.98, learning_rate: lin_{rate}}}
"""


@pytest.mark.parametrize("place", ["ppo.yml", "hyperparams/ppo.yml", "logs/CartPole-v1_1/hyperparams.yml"])
def test_a_table_of_rl_zoo_near_a_run_gives_the_section_of_its_environment(place: str, project: Path) -> None:
    run_folder = (project / "logs" / "PPO_1").rename(project / "logs" / "CartPole-v1_1")
    table = project / place
    table.parent.mkdir(exist_ok=True)
    table.write_text(ZOO.format(envs=1, rate=0.05))
    run = read(run_folder)
    assert (run.config.get("gamma"), run.config.get("learning_rate"), run.config.get("n_envs")) == (0.98, 0.05, 1)
    assert any("which fits the run" in note for note in notes(run))
    # The same table with a rate that the log disproves is another run's.
    table.write_text(ZOO.format(envs=1, rate=0.001))
    assert not read(run_folder).config.settings


def test_what_a_named_table_says_against_the_log_is_left_out_and_told(project: Path) -> None:
    table = project / "elsewhere.yml"
    table.write_text(ZOO.format(envs=8, rate=0.001))
    run_folder = (project / "logs" / "PPO_1").rename(project / "logs" / "CartPole-v1_1")
    run = read(run_folder, configs=[table])
    assert run.config.get("gamma") == 0.98
    assert not {"learning_rate", "learning_rate_schedule", "n_envs", "n_steps"} & set(run.config.settings)
    assert "learning_rate" not in run.config.native
    told = " ".join(run.provenance.notes)
    assert "learning_rate = 0.001, the run logged 0.05: left out" in told
    assert "n_envs = 8, the run logged an update every 256 steps: left out" in told


def test_what_only_the_run_knew_is_told_and_no_default_takes_its_place(project: Path) -> None:
    run = read(project / "logs" / "PPO_1", configs=[write(project / "x" / "train.py", "schedule(0.1)")])
    assert "learning_rate" not in run.config
    assert run.config.native["learning_rate"].value == "schedule(0.1)"
    assert any("leaves open" in note and "schedule(0.1)" in note for note in run.provenance.notes)


def test_arguments_unpacked_from_somewhere_leave_no_defaults(tmp_path: Path) -> None:
    shutil.copytree(RUNS / "sb3" / "a2c_cartpole", tmp_path / "run")
    run = read(tmp_path / "run", configs=[SAMPLES / "sb3_yaml_unpacked.py"])
    assert run.config.get("gamma") == 0.95
    assert not any(setting.is_default for setting in run.config.settings.values())


def test_a_script_of_another_algorithm_is_told_and_left_out(project: Path) -> None:
    run = read(project / "logs" / "PPO_1", configs=[SAMPLES / "sb3_sac_kwargs_dict.py"])
    assert run.algorithm == "PPO"
    assert not run.config.settings
    assert any("trains SAC and the run is of PPO" in note for note in run.provenance.notes)


def test_the_runs_own_config_comes_before_the_script(project: Path) -> None:
    # Another key than the script's for the same hyperparameter, and another value.
    (project / "logs" / "PPO_1" / "config.json").write_text(json.dumps({"lr": 0.05, "discount": 0.5, "gamma": 0.8}))
    run = read(project / "logs" / "PPO_1", configs=[write(project / "x" / "train.py", "0.051")])
    assert run.config.get("gamma") == 0.8
    assert run.config.get("learning_rate") == 0.05
    assert run.config.get("ent_coef") == 0.01
    assert not run.config.shadowed


def test_the_runs_command_line_replaces_the_default_of_a_flag(project: Path) -> None:
    (project / "logs" / "PPO_1" / "train.log").write_text("$ python train.py --ent 0.3 --seed 5\n")
    run = read(project / "logs" / "PPO_1", configs=[write(project / "x" / "train.py")])
    assert run.config.get("ent_coef") == 0.3
    assert run.config.get("gamma") == 0.9


def test_a_command_line_in_the_log_leaves_the_rest_to_the_script_beside_the_run(project: Path) -> None:
    (project / "logs" / "PPO_1" / "train.log").write_text("$ python train.py --ent 0.3 --gamma 0.8\n")
    write(project / "train.py")
    run = read(project / "logs" / "PPO_1")
    found = {name: (setting.value, str(setting.origin)) for name, setting in run.config.settings.items()}
    assert found["gamma"] == (0.8, "train.log:1")
    assert found["ent_coef"][0] == 0.3
    assert found["learning_rate"] == (0.05, "../../train.py:8")


def test_what_was_typed_counts_where_a_tracker_logged_other_settings(project: Path) -> None:
    files = project / "wandb" / "run-20250101_101010-ab12cd34" / "files"
    shutil.copytree(project / "logs" / "PPO_1", files)
    (files / "config.yaml").write_text("note:\n  value: hello\nn_epochs:\n  value: 7\n")
    typed = ["--ent", "0.3", "--gamma=0.8", "--n_epochs", "9"]
    (files / "wandb-metadata.json").write_text(json.dumps({"program": "/home/u/train.py", "args": typed}))
    run = read(files.parent, configs=[write(project / "train.py")])
    values = {name: run.config.get(name) for name in ("gamma", "ent_coef", "n_epochs", "learning_rate")}
    # Above the script, below what the program itself logged.
    assert values == {"gamma": 0.8, "ent_coef": 0.3, "n_epochs": 7, "learning_rate": 0.05}
    assert [(setting.key, setting.value) for setting in run.config.shadowed] == [("n_epochs", 9)]


def test_a_script_of_another_framework_is_told_and_left_out(project: Path) -> None:
    run = read(project / "logs" / "PPO_1", configs=[SAMPLES / "torchrl_ppo.py"])
    assert not run.config.settings
    assert any("is for torchrl and the run is of sb3" in note for note in run.provenance.notes)


def test_the_only_script_that_trains_and_fits_is_used_and_told(project: Path) -> None:
    write(project / "train.py", tensorboard_log="unrelated")
    (project / "plot.py").write_text("import matplotlib\n")
    run = read(project / "logs" / "PPO_1")
    assert run.config.get("gamma") == 0.9
    assert any("../../train.py" in note and "only script" in note for note in notes(run))


def test_of_several_scripts_the_one_that_logs_into_this_folder_is_used(project: Path) -> None:
    write(project / "a_train.py", gamma="gae_lambda", logs="other")
    write(project / "b_train.py")
    run = read(project / "logs" / "PPO_1")
    assert run.config.get("gamma") == 0.9
    assert any("b_train.py" in note and "logs into this folder" in note for note in notes(run))


def test_several_scripts_that_fit_are_offered_and_nothing_is_taken(project: Path) -> None:
    write(project / "a_train.py", tensorboard_log="policy_base")
    write(project / "b_train.py", tensorboard_log="policy_base")
    run = read(project / "logs" / "PPO_1")
    assert not run.config.settings
    assert [note.split(":")[0].rsplit("/", 1)[-1] for note in notes(run)] == ["a_train.py", "b_train.py"]


@pytest.mark.parametrize(
    "script",
    ["sb3_sac_kwargs_dict.py", "sb3_ppo_constants.py", "trl_grpo.py", "rllib_builder.py", "sb3_two_algorithms.py"],
)
def test_a_near_script_of_another_run_gives_neither_settings_nor_identity(script: str, project: Path) -> None:
    before = read(project / "logs" / "PPO_1")
    shutil.copy(SAMPLES / script, project / "train.py")
    run = read(project / "logs" / "PPO_1")
    assert (run.framework, run.algorithm, run.environment) == (before.framework, before.algorithm, before.environment)
    assert not run.config.settings


def test_a_run_with_a_config_asks_no_script(project: Path) -> None:
    (project / "logs" / "PPO_1" / "config.json").write_text(json.dumps({"learning_rate": 0.05}))
    write(project / "train.py")
    run = read(project / "logs" / "PPO_1")
    assert "ent_coef" not in run.config or run.config.settings["ent_coef"].is_default
    assert not notes(run)


def test_nothing_above_the_repository_is_looked_at(project: Path) -> None:
    write(project / "train.py")
    (project / "logs" / ".git").mkdir()
    assert not read(project / "logs" / "PPO_1").config.settings


def test_a_script_that_lies_where_everybody_may_write_is_of_no_run(project: Path) -> None:
    write(project / "train.py")
    project.chmod(0o1777)
    run = read(project / "logs" / "PPO_1")
    assert not run.config.settings
    assert notes(run) == []


def test_the_default_of_a_flag_is_no_environment_unless_the_user_names_the_script(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    folder = tmp_path / "out"
    shutil.copytree(RUNS / "sb3" / "dqn_cartpole", folder, ignore=shutil.ignore_patterns("monitor.csv"))
    script = shutil.copy(SAMPLES / "sb3_dqn_argparse.py", tmp_path / "train.py")
    assert read(folder).environment == ""
    assert read(folder, configs=[script]).environment == "MountainCar-v0"


def test_an_environment_that_only_the_script_names_is_the_runs(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    shutil.copytree(RUNS / "sb3" / "a2c_cartpole", tmp_path / "out")
    text = (SAMPLES / "sb3_yaml_unpacked.py").read_text().replace("100_000", "60_000")
    (tmp_path / "train.py").write_text(text)
    run = read(tmp_path / "out")
    assert (run.algorithm, run.environment) == ("A2C", "CartPole-v1")


def test_files_named_apart_take_a_script_as_their_config(project: Path) -> None:
    script = write(project / "train.py")
    run = read_files(metrics=[project / "logs" / "PPO_1" / "progress.csv"], configs=[script])
    assert (run.environment, run.config.get("gamma")) == ("CartPole-v1", 0.9)


def test_a_script_that_is_not_there_or_not_python_is_one_clear_error(project: Path) -> None:
    with pytest.raises(RunReadError, match="no such file"):
        read(project / "logs" / "PPO_1", configs=["nowhere.py"])
    broken = project / "broken.py"
    broken.write_text("def (:")
    with pytest.raises(RunReadError, match="not Python: line 1: "):
        read(project / "logs" / "PPO_1", configs=[broken])


def test_a_secret_in_a_script_does_not_leave_the_reader(project: Path) -> None:
    secret = "hf_" + "abcdefghijklmnopqrstuvwxyzABCDEF"
    run = read(project / "logs" / "PPO_1", configs=[write(project / "x" / "t.py", gamma=f"api_key='{secret}', gamma")])
    assert "api_key" in run.config.native
    assert secret not in repr(run.config.native)


def test_show_prints_the_settings_of_a_named_script(project: Path) -> None:
    script = write(project / "x" / "train.py")
    done = CliRunner().invoke(app, ["show", str(project / "logs" / "PPO_1"), "--config", str(script), "--json"])
    gamma = json.loads(done.stdout)["config"]["gamma"]
    assert (done.exit_code, gamma["value"], gamma["basis"]) == (0, 0.9, "script")


def test_what_was_typed_and_the_program_of_a_wandb_run_count_without_a_config(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    files = tmp_path / "wandb" / "run-20240101_000000-abc123" / "files"
    files.mkdir(parents=True)
    shutil.copy(RUNS / "sb3" / "ppo_cartpole_env_crash" / "train.log", files / "output.log")
    record = {"program": "/home/someone/code/b_train.py", "args": ["--ent", "0.3", "--seed", "4"]}
    (files / "wandb-metadata.json").write_text(json.dumps(record))
    # Two scripts train here; the run says which one it was.
    write(tmp_path / "a_train.py", rate="3e-4", gamma="gae_lambda")
    write(tmp_path / "b_train.py", rate="3e-4")
    run = read(files.parent)
    assert (run.config.get("ent_coef"), run.config.get("seed"), run.config.get("gamma")) == (0.3, 4, 0.9)
    assert any("b_train.py" in note and "is what the run names" in note for note in notes(run))


@pytest.mark.parametrize(
    ("labels", "environment"),
    [
        (["sunny-otter-4", "cartpole-ppo"], "CartPole"),
        (["LunarLander-v2_tuning"], "LunarLander-v2"),
        (["cartpole-v1-ppo"], "CartPole-v1"),
        (["agent-v2"], ""),
    ],
)
def test_a_project_that_is_named_after_a_known_environment_tells_it(
    labels: list[str], environment: str, tmp_path: Path
) -> None:
    draft = Draft(Place(tmp_path, ()), labels=labels)
    assert identify_environment(draft, framework("common"), {}) == environment
