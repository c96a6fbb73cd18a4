"""Which file and which section of it are edited, and how a file is written."""

from __future__ import annotations

import stat
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from rlclinic.model.run import Run
from rlclinic.prescriptions.edit.edits import Refused
from rlclinic.prescriptions.edit.plan import plan
from rlclinic.prescriptions.edit.write_file import write_file
from tests.prescriptions.made_runs import changes, made_run
from tests.prescriptions.syntax.cases import CLEANRL_PPO, HYDRA, RLLIB_PPO, SB3_PPO, SOLVER, ZOO_PPO

VARIANTS = """\
# CartPole
env_id: CartPole-v1
n_envs: 8
_mlp: &mlp
  model_id: mlp_tiny
  clip_range: 0.2
ppo:
  <<: *mlp
  algo_id: ppo
  n_steps: 32      # short
  policy_lr: 1e-3
  gamma: 0.98
  batch_size: 256
ppo_slow:
  <<: *mlp
  algo_id: ppo
  n_steps: 32
  policy_lr: 1e-5
  gamma: 0.98
  batch_size: 256
spec:
  returns: {threshold_solved: 475}
"""
ZOO = "atari: &a\n  gamma: 0.5\nCartPole-v1:\n  learning_rate: lin_0.001 # falls\n  clip_range: lin_0.2\n  n_envs: 8\n"


def _solver(tmp_path: Path, text: str = VARIANTS) -> Run:
    configs = tmp_path / "config" / "environments"
    configs.mkdir(parents=True)
    (configs / "CartPole-v1.yaml").write_text(text)
    (configs / "Acrobot-v1.yaml").write_text("env_id: Acrobot-v1\nppo: {algo_id: ppo}\n")
    folder = tmp_path / "runs" / "abc"
    folder.mkdir(parents=True)
    return made_run("gymnasium-solver", "PPO", SOLVER, path=str(folder), file="config.json")


def test_the_variant_that_was_trained_is_edited(tmp_path: Path) -> None:
    made = plan(_solver(tmp_path), changes(_solver_free(), learning_rate=0.0003))
    assert made.file == tmp_path / "config" / "environments" / "CartPole-v1.yaml"
    assert made.after == VARIANTS.replace("policy_lr: 1e-3", "policy_lr: 0.0003")


def _solver_free() -> Run:
    return made_run("gymnasium-solver", "PPO", SOLVER)


def test_a_value_of_the_base_gets_a_line_in_the_variant(tmp_path: Path) -> None:
    made = plan(_solver(tmp_path), changes(_solver_free(), n_envs=16))
    data = yaml.safe_load(made.after)
    assert (data["n_envs"], data["ppo"]["n_envs"]) == (8, 16)
    assert "n_envs" not in data["ppo_slow"]


def test_a_base_that_the_run_did_not_have_is_refused(tmp_path: Path) -> None:
    run = _solver(tmp_path, VARIANTS.replace("n_envs: 8", "n_envs: 4"))
    with pytest.raises(Refused, match="the run had 8"):
        plan(run, changes(run, n_envs=16))


def test_variants_that_fit_equally_have_to_be_named(tmp_path: Path) -> None:
    run = _solver(tmp_path, VARIANTS.replace("1e-5", "1e-3"))
    with pytest.raises(Refused, match="fit the run equally") as refusal:
        plan(run, changes(run, learning_rate=0.0003))
    assert "FILE::ppo" in refusal.value.hint
    file = tmp_path / "config" / "environments" / "CartPole-v1.yaml"
    made = plan(run, changes(run, learning_rate=0.0003), f"{file}::ppo_slow")
    assert yaml.safe_load(made.after)["ppo_slow"]["policy_lr"] == 0.0003


def test_a_run_without_its_source_is_refused(tmp_path: Path) -> None:
    run = made_run("gymnasium-solver", "PPO", SOLVER, path=str(tmp_path), file="config.json")
    with pytest.raises(Refused, match="the run's own record"):
        plan(run, changes(run, learning_rate=0.0003))


def test_the_section_of_the_zoo_is_that_of_the_environment(tmp_path: Path) -> None:
    (tmp_path / "hyperparams").mkdir()
    file = tmp_path / "hyperparams" / "ppo.yml"
    file.write_text(ZOO)
    folder = tmp_path / "logs" / "ppo" / "CartPole-v1_1"
    folder.mkdir(parents=True)
    run = made_run("sb3-zoo", "PPO", ZOO_PPO, path=str(folder), file="CartPole-v1/config.yml")
    made = plan(run, changes(run, learning_rate=0.0003))
    assert (made.file, made.after) == (file, ZOO.replace("lin_0.001", "lin_0.0003"))
    assert plan(run, changes(run, vf_coef=0.9)).after == ZOO + "  vf_coef: 0.9\n"
    with pytest.raises(Refused, match=r"no gamma, but the run had 0\.98"):
        plan(run, changes(run, gamma=0.9))
    other = made_run("sb3-zoo", "PPO", ZOO_PPO, path=str(folder), environment="Ant-v4")
    with pytest.raises(Refused, match="no section for Ant-v4"):
        plan(other, changes(other, gamma=0.9))


def _hydra(tmp_path: Path, *, overridden: bool) -> Run:
    (tmp_path / "conf" / "algo").mkdir(parents=True)
    (tmp_path / "conf" / "config.yaml").write_text("defaults: [{algo: ppo}]\ntotal_timesteps: 15360\n")
    (tmp_path / "conf" / "algo" / "ppo.yaml").write_text("learning_rate: 0.001 # lr\ngamma: 0.99\n")
    folder = tmp_path / "outputs" / "1"
    (folder / ".hydra").mkdir(parents=True)
    record = {
        "hydra": {
            "job": {"config_name": "config"},
            "runtime": {
                "config_sources": [
                    {"path": "hydra.conf", "schema": "pkg"},
                    {"path": str(tmp_path / "conf"), "schema": "file"},
                ],
                "choices": {"algo": "ppo"},
            },
        }
    }
    (folder / ".hydra" / "hydra.yaml").write_text(yaml.safe_dump(record))
    file = ".hydra/overrides.yaml" if overridden else ".hydra/config.yaml"
    return made_run("sb3", "PPO", HYDRA, source="hydra", path=str(folder), file=file)


def test_hydra_values_are_edited_in_the_group_they_came_from(tmp_path: Path) -> None:
    run = _hydra(tmp_path, overridden=False)
    # A file that only the run names is edited in a marked project, or below the current folder.
    with pytest.raises(Refused, match="outside of"):
        plan(run, changes(run, learning_rate=0.0003))
    (tmp_path / "pyproject.toml").touch()
    made = plan(run, changes(run, learning_rate=0.0003))
    assert made.file == tmp_path / "conf" / "algo" / "ppo.yaml"
    assert made.after == "learning_rate: 0.0003 # lr\ngamma: 0.99\n"


def test_what_was_typed_is_not_looked_for_in_a_file(tmp_path: Path) -> None:
    run = _hydra(tmp_path, overridden=True)
    with pytest.raises(Refused, match="on the command line"):
        plan(run, changes(run, learning_rate=0.0003))


def test_a_path_out_of_the_project_is_not_followed(tmp_path: Path) -> None:
    outside, folder = tmp_path / "outside.yml", tmp_path / "project" / "logs" / "run"
    outside.write_text(ZOO)
    folder.mkdir(parents=True)
    (tmp_path / "project" / "pyproject.toml").touch()
    for name in (str(outside), "../outside.yml"):
        run = made_run("sb3-zoo", "PPO", {**ZOO_PPO, "conf_file": name}, path=str(folder))
        with pytest.raises(Refused, match="outside of"):
            plan(run, changes(run, learning_rate=0.0003))


def test_a_name_that_no_system_takes_is_no_file(tmp_path: Path) -> None:
    run = made_run("sb3-zoo", "PPO", {**ZOO_PPO, "conf_file": "x" * 5_000 + ".yml"}, path=str(tmp_path))
    with pytest.raises(Refused, match="not beside the run"):
        plan(run, changes(run, learning_rate=0.0003))


def test_secrets_beside_the_change_are_not_shown(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("wandb_api_key: 0123456789abcdef0123456789abcdef01234567\ngamma: 0.99\n")
    run = made_run("sb3", "PPO", SB3_PPO, path=str(tmp_path), file="config.yaml")
    made = plan(run, changes(run, gamma=0.9))
    assert "0123456789" not in made.diff
    assert "+gamma: 0.9" in made.diff
    assert "0123456789" in made.after


def test_records_are_not_edited(tmp_path: Path) -> None:
    (tmp_path / "params.json").write_text('{"lr": 0.001}')
    run = made_run("rllib", "PPO", RLLIB_PPO, path=str(tmp_path), file="params.json")
    with pytest.raises(Refused, match="own record"):
        plan(run, changes(run, learning_rate=0.0003))
    events = made_run("cleanrl", "PPO", CLEANRL_PPO, path=str(tmp_path), file="events.out.tfevents.1")
    with pytest.raises(Refused, match="a record of the run"):
        plan(events, changes(events, learning_rate=0.0003))


def test_a_script_can_be_named(tmp_path: Path) -> None:
    script = tmp_path / "ppo.py"
    script.write_text("@dataclass\nclass Args:\n    learning_rate: float = 2.5e-4\n    num_minibatches: int = 4\n")
    run = made_run("cleanrl", "PPO", CLEANRL_PPO, path=str(tmp_path))
    made = plan(run, changes(run, batch_size=64), str(script))
    assert made.after == script.read_text().replace("int = 4", "int = 8")


def test_rllib_scripts_are_edited_in_the_right_method(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("config = PPOConfig().environment('x', gamma=3).training(lr=0.001)\n")
    run = made_run("rllib", "PPO", {**RLLIB_PPO, "lambda": 1.0}, path=str(tmp_path))
    made = plan(run, changes(run, learning_rate=0.0003, gae_lambda=0.9), str(script))
    assert made.after.endswith(".training(lr=0.0003, lambda_=0.9)\n")


def test_a_nested_section_is_found_by_what_it_shares_with_the_run(tmp_path: Path) -> None:
    text = "eval:\n  gamma: 0.5\nmodel:\n  gamma: 0.99\n  n_steps: 256\n"
    (tmp_path / "config.yaml").write_text(text)
    run = made_run("sb3", "PPO", SB3_PPO, path=str(tmp_path), file="config.yaml")
    made = plan(run, changes(run, gamma=0.9))
    assert made.after == text.replace("0.99", "0.9")
    assert "lies in the run's folder" in made.note


def test_equal_sections_have_to_be_named(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("a:\n  gamma: 0.99\nb:\n  gamma: 0.99\n")
    run = made_run("sb3", "PPO", SB3_PPO, path=str(tmp_path), file="config.yaml")
    with pytest.raises(Refused, match="several sections: a, b"):
        plan(run, changes(run, gamma=0.9))


def test_a_key_that_an_unknown_script_may_not_read_is_not_added(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("gamma: 0.99\nn_steps: 256\n")
    run = made_run("sb3", "PPO", SB3_PPO, path=str(tmp_path), file="config.yaml")
    for wanted in ({"max_grad_norm": 0.3}, {"normalize_obs": True}, {"learning_rate_schedule": "linear"}):
        with pytest.raises(Refused, match="not sure that the script"):
            plan(run, changes(run, **wanted))


def test_a_schedule_with_a_key_of_its_own_is_changed_there(tmp_path: Path) -> None:
    text = "learning_rate: 0.002\nlearning_rate_schedule: linear  # falls\n"
    (tmp_path / "config.yaml").write_text(text)
    native = {"learning_rate": 0.002, "learning_rate_schedule": "linear"}
    settings = made_run("common", "PPO", native, path=str(tmp_path), file="config.yaml").config
    run = replace(made_run("sb3", "PPO", native, path=str(tmp_path), file="config.yaml"), config=settings)
    made = plan(run, changes(run, learning_rate_schedule="constant"))
    assert made.after == text.replace("linear", "constant")


def _plain(tmp_path: Path) -> tuple[Path, Run]:
    file = tmp_path / "config.yaml"
    file.write_bytes(b"gamma: 0.99\r\nn_steps: 256\r\n")
    return file, made_run("sb3", "PPO", SB3_PPO, path=str(tmp_path), file="config.yaml")


def test_writing_keeps_mode_line_ends_and_every_backup(tmp_path: Path) -> None:
    file, run = _plain(tmp_path)
    file.chmod(0o640)
    (tmp_path / "config.yaml.bak").write_text("mine")
    backup = write_file(plan(run, changes(run, gamma=0.9)))
    assert file.read_bytes() == b"gamma: 0.9\r\nn_steps: 256\r\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert (backup.name, backup.read_bytes()) == ("config.yaml.bak.1", b"gamma: 0.99\r\nn_steps: 256\r\n")
    assert (tmp_path / "config.yaml.bak").read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["config.yaml", "config.yaml.bak", "config.yaml.bak.1"]


def test_a_file_that_changed_meanwhile_is_refused(tmp_path: Path) -> None:
    file, run = _plain(tmp_path)
    made = plan(run, changes(run, gamma=0.9))
    file.write_text("gamma: 0.95\n")
    with pytest.raises(Refused, match="changed while"):
        write_file(made)
    assert file.read_text() == "gamma: 0.95\n"


def test_a_link_is_followed_inside_the_project_only(tmp_path: Path) -> None:
    outside, project = tmp_path / "outside", tmp_path / "project"
    outside.mkdir()
    (project / "run").mkdir(parents=True)
    (project / "pyproject.toml").touch()
    for target, allowed in ((outside / "c.yaml", False), (project / "c.yaml", True)):
        target.write_text("gamma: 0.99\n")
        link = project / "run" / "config.yaml"
        link.unlink(missing_ok=True)
        link.symlink_to(target)
        run = made_run("sb3", "PPO", SB3_PPO, path=str(project / "run"), file="config.yaml")
        made = plan(run, changes(run, gamma=0.9))
        if allowed:
            write_file(made)
        else:
            with pytest.raises(Refused, match="out of the project"):
                write_file(made)
        assert link.is_symlink()
        assert target.read_text() == ("gamma: 0.9\n" if allowed else "gamma: 0.99\n")


def test_a_diff_shows_the_change_alone(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("gamma: 0.99")
    run = made_run("sb3", "PPO", SB3_PPO, path=str(tmp_path), file="config.yaml")
    assert plan(run, changes(run, gamma=0.9)).diff.splitlines() == [
        "--- a/config.yaml",
        "+++ b/config.yaml",
        "@@ -1 +1 @@",
        "-gamma: 0.99",
        "\\ No newline at end of file",
        "+gamma: 0.9",
        "\\ No newline at end of file",
    ]


def test_a_key_by_another_name_is_edited_in_a_file_of_the_users_own(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("lr: 0.05  # fast\ngamma: 0.99\n")
    run = made_run("sb3", "PPO", {"learning_rate": 0.05, "gamma": 0.99}, path=str(tmp_path))
    assert plan(run, changes(run, learning_rate=0.001), str(file)).after == "lr: 0.001  # fast\ngamma: 0.99\n"
