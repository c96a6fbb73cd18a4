"""Inputs beside run folders and trackers: notebooks, text dumps, home-made names, growing files."""

from __future__ import annotations

import json
import pickle
import sys
import threading
import time
from pathlib import Path

import pytest

from rlclinic.model.errors import RunReadError, UsageError
from rlclinic.model.run import Status
from rlclinic.readers.open import read


def test_metric_lines_in_a_notebook_are_read(tmp_path: Path) -> None:
    tail = "critic/rewards/mean:0.100 - actor/entropy_loss:0.400 - actor/pg_loss:0.001 - actor/grad_norm:0.500"
    lines = [f"step:{n} - critic/score/mean:{n / 10:.3f} - {tail}\n" for n in range(5)]
    outputs = [{"output_type": "stream", "name": "stdout", "text": lines}]
    cells = [{"cell_type": "code", "source": [], "metadata": {}, "execution_count": 1, "outputs": outputs}]
    notebook = {"cells": cells, "nbformat": 4, "nbformat_minor": 5, "metadata": {}}
    (tmp_path / "train.ipynb").write_text(json.dumps(notebook))
    run = read(tmp_path / "train.ipynb")
    assert run["return/train"].values.tolist() == [0.0, 0.1, 0.2, 0.3, 0.4]
    assert run["return/train"].decimals == 3


@pytest.mark.parametrize("text", ["Namespace(lr=0.25, gamma=0.5)\n", "lr: 0.25\ngamma: 0.5\nseed: 1\nbatch_size: 8\n"])
def test_printed_arguments_are_a_config(tmp_path: Path, text: str) -> None:
    (tmp_path / "args.txt").write_text(text)
    (tmp_path / "log.csv").write_text("global_step,episode_reward\n1,2\n2,3\n")
    config = read(tmp_path).config
    assert (config.number("learning_rate"), config.number("gamma")) == (0.25, 0.5)


@pytest.mark.parametrize(("first", "sign"), [(0.69, 1), (-0.69, -1)])
def test_the_sign_of_a_home_made_entropy_loss_is_decided_by_the_data(tmp_path: Path, first: float, sign: int) -> None:
    rows = "".join(f"{step},{step},{first * (1 - step / 20)}\n" for step in range(1, 11))
    (tmp_path / "log.csv").write_text(f"global_step,episode_reward,entropy_loss\n{rows}")
    series = read(tmp_path)["entropy"]
    assert series.values[0] == pytest.approx(first * 0.95 * sign)
    assert series.values[0] > series.values[-1] > 0


def test_unknown_names_are_kept_under_their_logged_name(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("global_step,episode_reward,my_thing\n1,2,5\n2,3,6\n")
    run = read(tmp_path)
    assert run.unknown_metrics == ("my_thing",)
    assert run["my_thing"].values.tolist() == [5, 6]


def test_a_file_that_grows_while_it_is_read_gives_whole_rows_and_is_running(tmp_path: Path) -> None:
    path = tmp_path / "progress.csv"
    path.write_text("time/total_timesteps,rollout/ep_rew_mean\n")
    stop = threading.Event()

    def grow() -> None:
        with path.open("a") as file:
            for step in range(1, 100_000):
                file.write(f"{step * 10},{step}\n")
                if step % 50 == 0:
                    file.flush()
                    time.sleep(0.001)
                if stop.is_set():
                    return

    writer = threading.Thread(target=grow)
    writer.start()
    try:
        for _ in range(5):
            time.sleep(0.02)
            series = read(tmp_path).series.get("return/train")
            if series is not None:
                assert (series.steps[:-1] == series.values[:-1] * 10).all()
    finally:
        stop.set()
        writer.join()


def test_a_stopped_heartbeat_means_that_the_process_was_killed(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"env_id": "CartPole-v1", "algo_id": "ppo", "rlclinic_version": "1"}')
    (tmp_path / "metrics.csv").write_text("time,epoch,train/cnt/total_env_steps,train/roll/ep_rew/mean\n1,0,10,5\n")
    (tmp_path / "status.json").write_text(json.dumps({"state": "running", "heartbeat": time.time() - 86_400}))
    killed = read(tmp_path)
    assert killed.framework == "rlclinic"
    assert killed.status.state is Status.INTERRUPTED
    (tmp_path / "status.json").write_text(json.dumps({"state": "running", "heartbeat": time.time()}))
    assert read(tmp_path).status.state is Status.RUNNING


def test_a_wrong_wandb_address_says_how_to_write_one() -> None:
    with pytest.raises(UsageError, match="not a W&B address") as caught:
        read("wandb://entity/project")
    assert "wandb://entity/project/run" in caught.value.hint


def test_without_the_wandb_library_a_server_address_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(RunReadError, match="needs the wandb library") as caught:
        read("wandb://entity/project/run")
    assert "rlclinic[wandb]" in caught.value.hint


def test_a_run_survives_the_way_between_processes(runs: Path) -> None:
    run = read(runs / "sb3" / "ppo_cartpole")
    copy = pickle.loads(pickle.dumps(run))  # noqa: S301 - our own object
    assert copy.series.keys() == run.series.keys()
    assert copy.config.get("gamma") == run.config.get("gamma")


def test_a_run_shows_itself_in_a_notebook_with_everything_escaped(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("global_step,episode_reward\n1,2\n2,3\n")
    (tmp_path / "config.yaml").write_text("env_id: <script>alert(1)</script>\n")
    html = read(tmp_path)._repr_html_()
    assert "return/train" in html
    assert "<svg" in html
    assert "<script>" not in html
