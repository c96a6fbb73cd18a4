"""Nothing that only a file names is imported, and nothing in the current folder stands in for a library."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from rlclinic import read
from rlclinic.apps.cli.main import app
from rlclinic.lab.asking import recipe_from
from rlclinic.lab.carry import carry
from rlclinic.lab.checkpoints import open_arrays
from rlclinic.lab.environments import make_environment
from rlclinic.lab.folder import check_own, create_folder
from rlclinic.lab.recipe import Recipe, recipe_of_config
from rlclinic.lab.train import train
from rlclinic.lab.trust import HARMLESS, check_trust, source_of
from rlclinic.model.errors import UsageError
from rlclinic.store.children import allow_local
from rlclinic.trials.plan import job_from_json
from rlclinic.trials.propose import plan_trial
from tests.lab.environments import small

PAYLOAD = """
import pathlib
pathlib.Path(r"{proof}").write_text("executed")
import gymnasium
gymnasium.register("Evil-v0", "gymnasium.envs.classic_control:CartPoleEnv", max_episode_steps=20)
class Env(gymnasium.Env):
    pass
"""
EVIL = "runs.evil.payload:Env"


def hostile(root: Path, **config: Any) -> tuple[Path, Path]:
    """A run folder that brings its own code and names it in its config; and the file that shows that it was run."""
    proof = root / "proof"
    folder = create_folder(root / "runs", small("PPO", total_steps=2048), {}).path
    (root / "runs" / "evil").mkdir(exist_ok=True)
    (root / "runs" / "evil" / "payload.py").write_text(PAYLOAD.format(proof=proof), encoding="utf-8")
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), **config}), encoding="utf-8")
    rows = ["total_timesteps,epoch,train/cnt/total_env_steps,train/roll/ep_rew/mean"]
    rows += [f"{step},{step},{step},{20 + step % 7}" for step in range(64, 2048, 64)]
    (folder / "metrics.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return folder, proof


def command(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "XDG_STATE_HOME": str(root / "state"), "XDG_CACHE_HOME": str(root / "cache")}
    return subprocess.run(
        [sys.executable, "-m", "rlclinic", *arguments],
        cwd=root, env=environment, capture_output=True, text=True, check=False, timeout=240,
    )  # fmt: skip


@pytest.mark.parametrize("environment", [EVIL, "runs.evil.payload:Evil-v0"])
def test_a_run_does_not_get_its_own_code_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, environment: str
) -> None:
    folder, proof = hostile(tmp_path, env_id=environment)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    for verb in (
        ["trial", str(folder), "--change", "learning_rate=0.01", "--seeds", "1"],
        ["train", "--resume", str(folder)],
        ["train", str(folder), "--steps", "128"],
        ["optimize", str(folder), "--budget", "5000"],
    ):
        refused = CliRunner().invoke(app, verb).exception
        assert isinstance(refused, UsageError), verb
        assert f"--trust {environment}" in refused.hint
        assert str(tmp_path / "runs" / "evil" / "payload.py") in refused.message
    assert not proof.exists()


@pytest.mark.slow
def test_what_is_trusted_by_its_exact_name_is_trained_and_the_trust_travels_with_the_job(tmp_path: Path) -> None:
    folder, proof = hostile(tmp_path, env_id="runs.evil.payload:Evil-v0", env_kwargs={})
    changes = ["--change", "learning_rate=0.01", "--seeds", "1", "--budget", "128", "--workers", "1", "--json"]
    tried = command(tmp_path, "trial", str(folder), *changes, "--trust", "runs.evil.payload:Evil-v0")
    assert tried.returncode == 0, tried.stderr
    assert {outcome["state"] for outcome in json.loads(tried.stdout)["outcomes"]} == {"done"}
    assert proof.exists()


def test_trust_is_said_anew_for_each_trial_and_is_no_part_of_it(tmp_path: Path) -> None:
    folder, _ = hostile(tmp_path)
    run = read(folder)
    plain, trusting = (plan_trial(run, overrides=["learning_rate=0.01"], trust=names) for names in ((), ("a:B",)))
    assert plain.id == trusting.id
    assert "trust" not in trusting.to_object()
    assert [tuple(job_from_json(plan.jobs()[0].to_json()).trust) for plan in (plain, trusting)] == [(), ("a:B",)]


def test_only_a_name_that_the_user_wrote_is_trusted(tmp_path: Path) -> None:
    assert recipe_from("my.module:Walker:ppo").trust == {"my.module:Walker"}
    assert recipe_from("CartPole-v1:ppo", ["env_wrappers=my.module:Wrap"]).trust >= {"my.module:Wrap"}
    file = tmp_path / "config.yaml"
    file.write_text("algorithm: ppo\nenv_id: my.module:Walker\nenv_wrappers: [my.module:Wrap]\n", encoding="utf-8")
    assert not recipe_from(file).trust
    assert recipe_from(file, trust=["my.module:Walker"]).trust == {"my.module:Walker"}
    with pytest.raises(UsageError, match=r"my\.module:Walker is code that only a file names"):
        check_trust(recipe_from(file, ["env_kwargs={}"]))
    folder, _ = hostile(tmp_path, env_id=EVIL, trust=[EVIL], rlclinic_trust=[EVIL])
    assert not carry(read(folder)).recipe.trust
    assert not recipe_of_config(json.loads((folder / "config.json").read_text(encoding="utf-8"))).trust


@pytest.mark.parametrize(
    ("wrappers", "words"),
    [
        (["RecordVideo"], "--trust gymnasium.wrappers:RecordVideo"),
        ([{"id": "RecordVideo", "video_folder": "/tmp/x"}], "--trust gymnasium.wrappers:RecordVideo"),
        (["gymnasium.wrappers:HumanRendering"], "--trust gymnasium.wrappers:HumanRendering"),
        (["runs.evil.payload:Env"], "--trust runs.evil.payload:Env"),
        (["os:system"], "--trust os:system"),
        ([{"id": "TimeLimit", "max_episode_steps": 5, "env": "x"}], "takes no 'env'"),
        ([{"id": "FrameStackObservation", "stack_size": 2, "padding_type": "/etc/passwd"}], "may name a module"),
    ],
)
def test_wrappers_of_a_run_come_from_a_list_with_their_arguments(wrappers: list[Any], words: str) -> None:
    with pytest.raises(UsageError) as refused:
        make_environment(recipe_of_config({**small("PPO").to_config(), "env_wrappers": wrappers}))
    assert words in f"{refused.value.message}; {refused.value.hint}"


@pytest.mark.parametrize(
    ("name", "argument", "value"),
    [
        ("TimeLimit", "max_episode_steps", "5"),
        ("TimeLimit", "max_episode_steps", True),
        ("TimeLimit", "max_episode_steps", 10**400),
        ("FrameStackObservation", "stack_size", 2.5),
        ("FrameStackObservation", "stack_size", 10**9),
        ("ClipReward", "min_reward", "low"),
        ("RescaleAction", "min_action", [1]),
        ("NormalizeReward", "gamma", float("nan")),
        ("TimeAwareObservation", "flatten", "no"),
        ("ResizeObservation", "shape", [84, "a"]),
        ("ResizeObservation", "shape", []),
        ("ResizeObservation", "shape", [84, 10**6]),
        ("FilterObservation", "filter_keys", "obs"),
        ("frame_skip", "n", "abc"),
        ("frame_stack", "n", 10**9),
        ("reward_clip", "limit", [1]),
    ],
)
def test_an_argument_of_a_wrong_type_is_named(name: str, argument: str, value: object) -> None:
    recipe = recipe_of_config({**small("PPO").to_config(), "env_wrappers": [{"id": name, argument: value}]})
    for each in (recipe, recipe.trusted()):
        with pytest.raises(UsageError) as refused:
            make_environment(each)
        assert (argument if name in HARMLESS else name) in refused.value.message
        assert refused.value.hint
        assert len(refused.value.message) < 200


def test_harmless_wrappers_of_a_run_are_made() -> None:
    import gymnasium.wrappers

    for name, arguments in HARMLESS.items():
        assert arguments.keys() <= inspect.signature(getattr(gymnasium.wrappers, name)).parameters.keys()
    wrappers = [{"id": "TimeLimit", "max_episode_steps": 5}, "gymnasium.wrappers:FlattenObservation"]
    made = make_environment(recipe_of_config({**small("PPO").to_config(), "env_wrappers": wrappers}))
    made.reset()
    assert [made.step(0)[3] for _ in range(5)][-1] is True


@pytest.mark.parametrize(
    "arguments", [{"env_id": "runs.evil.payload:Evil-v0"}, {"xml_file": "/tmp/evil.xml"}, {"a": [{"b": "x/y"}]}]
)
def test_arguments_of_an_environment_that_a_run_names_are_plain(arguments: dict[str, Any]) -> None:
    config = {**small("PPO").to_config(), "env_id": "GymV26Environment-v0", "env_kwargs": arguments}
    with pytest.raises(UsageError, match="may name a module or a file"):
        check_trust(recipe_of_config(config))
    check_trust(recipe_of_config(config, ["GymV26Environment-v0"]))
    check_trust(recipe_of_config({**config, "env_kwargs": {"render_mode": "rgb_array", "g": 9.8, "deep": [[1, 2]]}}))


def test_the_file_that_an_import_would_run_is_found_without_importing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, proof = hostile(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert source_of("runs.evil.payload") == str(tmp_path / "runs" / "evil" / "payload.py")
    assert source_of("runs.evil") == str(tmp_path / "runs" / "evil")
    assert source_of("no.such.module") == ""
    assert not proof.exists()


SHADOWED = ("queue", "statistics", "shlex", "secrets", "selectors", "signal", "struct", "csv")


def shadow(folder: Path) -> Path:
    """Files named like modules of the standard library, which leave a proof when they are run."""
    for name in SHADOWED:
        text = f"import pathlib\npathlib.Path(r'{folder}/proof-{name}').touch()\nraise SystemExit(9)\n"
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return folder


@pytest.mark.slow
def test_files_in_the_current_folder_do_not_stand_in_for_the_standard_library(tmp_path: Path) -> None:
    folder, _ = hostile(tmp_path)
    shadow(tmp_path)
    changes = ["--change", "learning_rate=0.01", "--seeds", "1", "--budget", "64", "--workers", "1", "--json"]
    assert command(tmp_path, "trial", str(folder), *changes).returncode == 0
    assert command(tmp_path, "train", "CartPole-v1:a2c", "--steps", "64", "--background").returncode == 0
    probed = command(tmp_path, "probe", "sb3:A2C", "--only", "S0", "--processes", "1", "--json")
    assert probed.returncode in (0, 1), probed.stderr
    assert not list(tmp_path.glob("proof-*"))


def test_a_worker_runs_no_file_of_the_current_folder_and_the_users_command_inherits_nothing(tmp_path: Path) -> None:
    folder, _ = hostile(tmp_path, learning_rate=0.0003)
    shadow(tmp_path)
    (tmp_path / "own.sh").write_text('echo "${PYTHONSAFEPATH-unset} $2" > "$1/told.txt"\n', encoding="utf-8")
    changes = ["--change", "learning_rate=0.01", "--seeds", "1", "--workers", "1", "--json"]
    command(tmp_path, "trial", str(folder), *changes, "--command", "sh own.sh {logdir} {learning_rate}")
    told = sorted(path.read_text(encoding="utf-8").split() for path in tmp_path.glob("runs/trials/**/told.txt"))
    assert told == [["unset", "0.0003"], ["unset", "0.01"]]
    assert not list(tmp_path.glob("proof-*"))


@pytest.mark.slow
def test_ray_workers_do_not_run_files_of_the_current_folder(tmp_path: Path) -> None:
    folder, _ = hostile(tmp_path)
    shadow(tmp_path)
    changes = ["--change", "learning_rate=0.01", "--seeds", "1", "--budget", "64", "--workers", "1", "--json"]
    tried = command(tmp_path, "trial", str(folder), *changes, "--runner", "ray")
    assert tried.returncode == 0, tried.stderr
    assert not list(tmp_path.glob("proof-*"))


def test_a_command_gets_no_text_of_a_run_that_is_more_than_a_word(tmp_path: Path) -> None:
    folder, _ = hostile(tmp_path, env_id="x; touch proof", policy="-rf", net_arch=[64, 64])
    run = read(folder)
    for name in ("env_id", "net_arch"):
        with pytest.raises(UsageError, match="is not passed on"):
            plan_trial(run, overrides=["learning_rate=1"], command=f"train {{learning_rate}} {{{name}}}", seeds=1)


def test_the_help_says_how_to_trust() -> None:
    for verb in ("train", "trial", "optimize"):
        assert "--trust MODULE:CLASS" in CliRunner().invoke(app, [verb, "--help"]).output


def test_a_recipe_that_is_sent_elsewhere_keeps_its_trust() -> None:
    import pickle

    recipe = Recipe("sb3", "PPO", "my.module:Env", 100).trusted()
    assert pickle.loads(pickle.dumps(recipe)) == recipe  # noqa: S301 - made here


@pytest.mark.parametrize("name", ["my:Env;touch x", "my:$(id)", "my:`id`", "a:C\nrm -rf", "['evil:Env']", "my: Env"])
def test_a_name_that_is_no_code_is_not_printed_as_a_flag_to_paste(name: str) -> None:
    with pytest.raises(UsageError, match="names no environment") as refused:
        check_trust(recipe_of_config({**small("PPO").to_config(), "env_id": name}))
    assert "--trust" not in refused.value.hint
    assert "\n" not in refused.value.message


def test_trusting_an_installed_class_opens_no_other_file_of_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.py").write_text("", encoding="utf-8")
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.chdir(tmp_path)
    allow_local("gymnasium.envs.classic_control.cartpole")
    assert str(tmp_path) not in sys.path
    allow_local("mine")
    assert sys.path[-1] == str(tmp_path)


@pytest.mark.parametrize("name", ["run.log", "metrics.csv", "config.json", "checkpoints", "checkpoints/step=000000100"])
def test_nothing_is_written_through_a_link_of_a_run_that_is_resumed(tmp_path: Path, name: str) -> None:
    folder, _ = hostile(tmp_path)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious.txt").write_text("mine", encoding="utf-8")
    place = folder / name
    place.parent.mkdir(exist_ok=True)
    if name == "config.json":
        place.rename(outside / "config.json")
    else:
        place.unlink(missing_ok=True)
    place.symlink_to(outside / name if "." in name else outside)
    with pytest.raises(UsageError, match="is a link or no regular file"):
        train(resume=folder)
    assert sorted(path.name for path in outside.iterdir()) in (["precious.txt"], ["config.json", "precious.txt"])


def test_a_pipe_in_a_run_that_is_resumed_is_refused_and_labels_are_not(tmp_path: Path) -> None:
    folder, _ = hostile(tmp_path)
    (folder / "checkpoints" / "step=1").mkdir(parents=True)
    (folder / "checkpoints" / "@last").symlink_to("step=1")
    (folder / "checkpoints" / ".@last.4711.0a1b2c3d.part").symlink_to("step=1")
    check_own(folder)
    os.mkfifo(folder / "run.log")
    with pytest.raises(UsageError, match="no regular file"):
        check_own(folder)


def test_arrays_of_a_checkpoint_that_would_fill_the_memory_are_not_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    np.savez_compressed(tmp_path / "random.npz", torch=np.zeros(1000))
    assert open_arrays(tmp_path / "random.npz")["torch"].size == 1000
    monkeypatch.setattr("rlclinic.lab.checkpoints.MOST_BYTES", 1000)
    with pytest.raises(UsageError, match="bytes of arrays"):
        open_arrays(tmp_path / "random.npz")
