"""Secrets in every place that a reader looks at: none leaves through any output, and what only looks like one stays."""

from __future__ import annotations

import asyncio
import json
import pickle
import random
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rlclinic.apps.cli.main import main
from rlclinic.apps.mcp.bound import BoundTool
from rlclinic.apps.mcp.registry import TOOLS
from rlclinic.apps.mcp.workspace import Workspace
from rlclinic.comparison.compare import compare
from rlclinic.engine import diagnose
from rlclinic.model.run import Run
from rlclinic.readers.open import read
from rlclinic.readers.redaction import redact as redaction
from rlclinic.reports.compare_json import comparison_object
from rlclinic.reports.compare_markdown import comparison_markdown
from rlclinic.reports.compare_text import comparison_text
from rlclinic.reports.formats import FORMATS, Context, render
from rlclinic.reports.run_json import dumps, show_object
from rlclinic.reports.run_text import show_text
from rlclinic.store.siblings import siblings_of
from tests.apps.mcp.talk import Talk, stdio, text_of
from tests.readers.planted import HEX, Vault, csv, plant, put

READING = [row.name for row in TOOLS if row.effect == "reads" and row.name != "wait_for_training_completion"]
DIAGNOSIS_FORMATS = [row.name for row in FORMATS]
COMPARISON_FORMATS = ("text", "markdown", "json", "html")


@dataclass(frozen=True)
class Project:
    """What was planted, where it can be read, and what was read."""

    root: Path
    vault: Vault
    paths: list[Path]
    runs: list[Run]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    folder = tmp_path_factory.mktemp("planted")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RLCLINIC_INDEX", str(folder / "index.sqlite"))
        patch.setenv("RLCLINIC_LEDGER", str(folder / "trials.sqlite"))
        vault = Vault()
        root = folder / "project"
        paths = plant(root, vault)
        put(root / "config" / "environments" / f"Env_{vault.token('mcp: file of an environment')}.yaml", "lr: 0.1\n")
        yield Project(root, vault, paths, [read(path) for path in paths])


def test_250_secrets_are_planted_and_no_run_holds_one(project: Project) -> None:
    assert len(project.vault.planted) >= 250
    for path, run in zip(project.paths, project.runs, strict=True):
        assert run.location == path, "to open it, which its repr does not tell"
        assert not project.vault.leaks(repr(run)), path
        told = replace(run, location=Path(run.path))
        assert not project.vault.leaks(pickle.dumps(told).decode("latin-1")), path


def test_the_secrets_stand_where_readers_look(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    class Blind:
        def search(self, _text: str, _start: int = 0) -> None:
            return None

    monkeypatch.setattr(redaction, "_TRIGGERS", Blind())
    monkeypatch.setattr(redaction, "is_secret", lambda _name, _value: False)
    shown = "".join(pickle.dumps(read(path)).decode("latin-1") for path in project.paths)

    assert len(project.vault.leaks(shown)) > 220


def test_no_report_of_a_run_shows_a_secret(project: Project) -> None:
    for run in project.runs:
        found = diagnose(run)
        texts = {row.name: render(row, [found], Context()) for row in FORMATS}
        texts |= {"show": show_text(run, everything=True), "show --json": dumps(show_object(run))}
        for name, text in texts.items():
            assert not project.vault.leaks(text), (run.path, name)


def test_no_comparison_shows_a_secret(project: Project) -> None:
    found = compare([run for run in project.runs if run.returns is not None][:6])

    for text in (comparison_text(found), comparison_markdown(found), dumps(comparison_object(found))):
        assert not project.vault.leaks(text)


def test_no_listing_shows_a_secret(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["runs", str(project.root)], ["runs", str(project.root), "--json"]):
        text = said(arguments, capsys)
        assert "[redacted]" in text
        assert not project.vault.leaks(text)


def test_no_tool_of_the_server_shows_a_secret(project: Project) -> None:
    workspace = Workspace(project.root.resolve())
    for name in READING:
        for path in project.paths[:1]:
            text = answered(workspace, name, str(path.relative_to(project.root)), project.runs[0])
            assert not project.vault.leaks(text), name


def test_a_path_that_the_user_typed_is_named_without_the_secret_in_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    vault = Vault(seed=3)
    missing = tmp_path / f"run_{vault.token('missing')}_seed1"
    for arguments in (["show"], ["diagnose", "--json"], ["show", "--json"]):
        text = said([*arguments, str(missing), "--root", str(tmp_path)], capsys)
        assert "run_[redacted]_seed1" in text
        assert not vault.leaks(text)


def test_metrics_and_settings_that_differ_in_a_secret_only_all_stay(tmp_path: Path) -> None:
    vault = Vault(seed=4)
    names = [f"loss/{vault.token('metric')}" for _ in range(3)]
    rows = [f"{step},{step},1.0,2.0,3.0" for step in range(20)]
    put(tmp_path / "run" / "progress.csv", "\n".join([",".join(["global_step", "episode_return", *names]), *rows]))
    keys = {f"net_{vault.token('key')}": index for index in range(3)}
    put(tmp_path / "run" / "config.json", json.dumps({"lr": 0.1, **keys}))

    run = read(tmp_path / "run")

    losses = ["loss/[redacted]", "loss/[redacted] (2)", "loss/[redacted] (3)"]
    assert sorted(float(run[name].values[0]) for name in losses) == [1.0, 2.0, 3.0]
    assert [run[name].logged_as for name in losses] == losses
    settings = {key: item.value for key, item in run.config.native.items() if key.startswith("net_")}
    assert settings == {"net_[redacted]": 0, "net_[redacted] (2)": 1, "net_[redacted] (3)": 2}
    assert all(item.key == key == item.native_key for key, item in run.config.native.items())


def test_a_run_without_a_secret_keeps_its_arrays(tmp_path: Path) -> None:
    put(tmp_path / "progress.csv", csv(["global_step", "episode_return"]))

    assert np.array_equal(read(tmp_path)["return/train"].values, 5.0 * np.arange(30))


def test_a_run_whose_path_holds_a_secret_loses_nothing_that_depends_on_its_path(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], runs: Path
) -> None:
    vault = Vault(seed=5)
    project = tmp_path / vault.token("folder")
    (project / ".git").mkdir(parents=True)
    put(project / "AGENTS.md", "rules")
    for seed in (1, 2):
        shutil.copytree(runs / "faults" / "high_lr_ppo_cartpole", project / f"seed{seed}")

    run = read(project / "seed1")
    text = said(["fix", str(project / "seed1"), "--write"], capsys)

    assert [other.location for other in siblings_of(run)] == [project / "seed2"]
    assert diagnose(run).guidelines == (str(project / "AGENTS.md").replace(project.name, "[redacted]"),)
    assert "Written to" in text
    assert "[redacted]" in text
    assert not vault.leaks(text)
    assert "learning_rate: 0.1" not in (project / "seed1" / "config.yaml").read_text()


def test_status_stop_and_the_index_do_not_tell_a_secret_in_the_name_of_a_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    vault = Vault(seed=6)
    root = tmp_path / vault.token("root")
    folder = root / f"run_{vault.token('run')}"
    put(folder / "config.json", json.dumps({"env_id": vault.token("env"), "algorithm": "PPO", "total_steps": 10}))
    put(folder / "progress.csv", csv(["global_step", "episode_return"]))
    for state in ("running", "finished"):
        put(folder / "status.json", json.dumps({"state": state, "reason": vault.token("reason"), "host": "elsewhere"}))
        for words in (["status", str(root), "--all"], ["stop", str(folder)], ["runs", str(root)]):
            for arguments in (words, [*words, "--json"]):
                text = said(arguments, capsys)
                assert "[redacted]" in text, arguments[0]
                assert not vault.leaks(text), arguments[0]
    for question in ("strategy", "batch-size"):
        text = said(["advise", question, "--run", str(folder), "--no-ask"], capsys)
        assert "rlclinic diagnose" in text
        assert not vault.leaks(text), question
    index = (tmp_path / "index").glob("runs.sqlite*")
    assert not vault.leaks("".join(path.read_bytes().decode("latin-1") for path in index))


def _look_alikes() -> dict[str, object]:
    """Settings that stay: counters, names of columns, hashes, ids, models, paths."""
    draw = random.Random(8)
    commit, digest = ("".join(draw.choice(HEX) for _ in range(length)) for length in (40, 64))
    return {
        "passes": 3, "pass_rate": 0.75, "n_passes": "12", "passed": "yes2", "forward_pass": "fused2", "bypass": "relu1",
        "pass@1": 0.5, "render_pass": "rgb24", "passive_damping": 0.1, "encompass": "a1b2", "pass_through": "layer12",
        "password_free_rate": 0.25, "passthrough": "obs12", "compass_heading": "north2", "pass_k": 8,
        "keyboard": "dvorak2", "key_dim": 64, "n_keys": 8, "keys": ["obs", "action2"], "key": "obs_v2",
        "monkey": "a1b2c3",
        "sort_key": "reward_v2", "reward_fn_key": "data_source2", "key_size": 128, "turkey": "t3", "hotkey": "ctrl1",
        "obs_keys": ["image1", "state2"], "query_key_norm": "rms2", "primary_key": "run_20250515_044656",
        "tokens_per_second": 1200.5, "token_count": 512, "max_tokens": 4096, "num_tokens": "123456",
        "eos_token": "<|im_end|>", "pad_token_id": 151643, "tokenizer": "Qwen/Qwen2.5-0.5B-Instruct",
        "prompt_tokens": "12345678", "user_tokens": "17b4c8", "per_token_loss": "true", "token_level": "step1",
        "n_heads": 8, "author": "ada_lovelace1815", "authors": ["ada1", "bob2"], "authority": "local1",
        "auth": "oauth2",
        "require_auth": "false", "auth_mode": "basic", "bearer": "pole", "ball_bearer": "left1", "secretary": "bee1",
        "secret_santa_env": True, "webhook": "disabled", "webhooks": 0, "cookie": "chocolate",
        "fortune_cookie": "crumble", "commit": commit, "sha": commit, "git_hash": commit, "revision": commit[:12],
        "sha256": digest, "md5": digest[:32], "checksum": digest, "run_id": "gjvwlq13", "cache_key": commit,
        "uuid": "550e8400-e29b-41d4-a716-446655440000", "wandb_run": "run-20251130_144822-gjvwlq13",
        "model": "meta-llama/Llama-3.2-1B-Instruct", "base_model": "deepseek-ai/DeepSeek-R1-Distill-Qwen-1.5B",
        "checkpoint": "ppo_cartpole_2000000_steps.zip", "weights": "model-00001-of-00004.safetensors",
        "image": "nvcr.io/nvidia/pytorch:24.05-py3", "conda": "sk-learn-contrib-imbalanced-learn", "dtype": "bfloat16",
        "working_dir": "/home/ada/runs/PPO_2", "address": "http://127.0.0.1:8265", "optimizer": "AdamW8bit",
        "token_file": "/home/ada/.cache/huggingface/token", "jwt": "none", "host": "gpu-node-017",
        "seed": 1234567890123,
    }  # fmt: skip


LOOK_ALIKES = _look_alikes()
METRICS = (
    "rollout/ep_rew_mean", "train/pass_rate", "pass@1/mean", "timing_per_token_ms/gen", "perf/tokens_per_second",
    "actor/key_entropy", "val/author_accuracy", "reward/secret_door", "val-core/gsm8k/acc/mean@16", "charts/SPS",
)  # fmt: skip
FOLDERS = (
    "CartPole-v1__ppo__1__1700000000", "run-20251130_144822-gjvwlq13", "770cc011eb214ea997501cabcfe12f58",
    "PPO_CartPole-v1_0_2018-11-10_00-17-220NYeDg", "hf_sentiment_ppo", "sk-learn-baseline-with-a-long-name",
    "task-specific-reward-model-weights", "50ac7252f97cf39997344237bca74162b2dc6d79", "key_door_v2", "token_mdp_seed7",
)  # fmt: skip


def test_80_look_alikes_stay_as_they_are(tmp_path: Path) -> None:
    assert len(LOOK_ALIKES) + len(METRICS) + len(FOLDERS) >= 80
    put(tmp_path / "run" / "config.json", json.dumps({"lr": 0.1, **LOOK_ALIKES}))
    put(tmp_path / "run" / "progress.csv", csv(["global_step", *METRICS]))
    put(tmp_path / "run" / "rl_model_500000_steps.zip.pt", "")
    printed = {key: value for key, value in LOOK_ALIKES.items() if isinstance(value, str) and not value.isdigit()}
    put(tmp_path / "log" / "train.log", "config: " + repr({"lr": 0.1, "seed": 1, "gamma": 0.9, **printed}))

    run = read(tmp_path / "run")
    logged = read(tmp_path / "log" / "train.log")

    assert {key: run.config.native[key].value for key in LOOK_ALIKES} == LOOK_ALIKES
    assert {series.logged_as for series in run.series.values()} == set(METRICS)
    assert [item.path for item in run.checkpoints] == ["rl_model_500000_steps.zip.pt"]
    texts = {key: item.value for key, item in logged.config.native.items() if isinstance(item.value, str)}
    assert texts.items() <= printed.items()
    assert len(texts) > 50
    for name in FOLDERS:
        put(tmp_path / name / "progress.csv", csv(["global_step", "episode_return"]))
        assert read(tmp_path / name).id == name


@pytest.mark.slow
def test_no_command_shows_a_secret_of_any_run_in_any_format(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    for path in map(str, project.paths):
        calls = [["show", path], ["show", path, "--json"], ["show", path, "--all"]]
        calls += [["diagnose", path, "--output-format", form] for form in DIAGNOSIS_FORMATS]
        calls += [["compare", path, str(project.paths[1]), "--output-format", form] for form in COMPARISON_FORMATS]
        for arguments in calls:
            assert not project.vault.leaks(said(arguments, capsys)), arguments[:1] + arguments[2:]


@pytest.mark.slow
def test_the_real_server_shows_no_secret_of_any_run(project: Project, tmp_path: Path) -> None:
    talk = Talk(stdio(project.root, tmp_path))
    try:
        for path, run in zip(project.paths, project.runs, strict=True):
            for name in READING:
                found = talk.call(name, **_arguments(name, str(path.relative_to(project.root)), run))
                assert not project.vault.leaks(text_of(found)), (name, path)
    finally:
        talk.close()


def said(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """All that the command line prints."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["rlclinic", *arguments])
        with pytest.raises(SystemExit):
            main()
    printed = capsys.readouterr()
    return printed.out + printed.err


def answered(workspace: Workspace, name: str, path: str, run: Run) -> str:
    """All that a tool answers."""
    row = next(row for row in TOOLS if row.name == name)
    text = text_of(asyncio.run(BoundTool(row, workspace).answer(_arguments(name, path, run))))
    assert "is missing" not in text.partition(". ")[0]
    assert "is no parameter" not in text
    return text


def _arguments(name: str, path: str, run: Run) -> dict[str, Any]:
    metrics = [series.logged_as for series in run.series.values()]
    by_name: dict[str, dict[str, Any]] = {
        "list_runs": {},
        "list_environments": {},
        "explain": {},
        "trial_status": {},
        "list_variants": {"env_id": "CartPole-v1"},
        "get_config": {"env_id": "CartPole-v1", "variant": "ppo"},
        "get_history": {"env_id": run.environment},
        "get_best_run": {"env_id": run.environment},
        "compare_runs": {"run_ids": [path, "gone"]},
        "plot_compare_runs": {"run_ids": [path], "metric": metrics[0]},
        "get_run_metrics": {"run_id": path, "metric_names": metrics[:4]},
        "get_metrics_summary": {"run_id": path, "metric_name": metrics[-1]},
        "get_metric_trend": {"run_id": path, "metric": metrics[-1]},
        "correlate_metrics": {"run_id": path, "metric_pairs": [[metrics[0], metrics[-1]]]},
        "plot_run_metric": {"run_id": path, "metric_names": metrics[:2]},
        "get_metrics_range": {"run_id": path, "start_epoch": 0, "end_epoch": 9},
        "compare_to_baseline": {"run_id": path, "baseline": path, "metric": metrics[0]},
        "show_run": {"run_id": path, "limit": 200},
        "comprehensive_diagnostic": {"run_id": path, "include_full_config": True},
        "get_run_logs": {"run_id": path, "lines": 1000},
        "inspect_dataset": {"path": path},
    }
    return by_name.get(name, {"run_id": path})
