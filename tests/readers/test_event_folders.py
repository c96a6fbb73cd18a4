"""Event files of rl_games and MAPPO: three axes for each reward, several trainings or one folder for each metric."""

from __future__ import annotations

from pathlib import Path

import pytest

from rlclinic.readers.discover import find
from rlclinic.readers.open import read
from tests.readers.formats.event_writer import event, record, simple

CONFIG = """
task:
  name: Ant
train:
  params:
    algo:
      name: a2c_continuous
    config:
      name: ${resolve_default:Ant,${....experiment}}
      gamma: 0.97
      e_clip: 0.2
      horizon_length: 16
      max_epochs: ${resolve_default:500,${....max_iterations}}
"""


def write(path: Path, rows: list[tuple[int, dict[str, float]]], started: float = 1.7e9) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    events = (
        record(event(*(simple(tag, value) for tag, value in values.items()), step=step, wall_time=started + index))
        for index, (step, values) in enumerate(rows)
    )
    path.write_bytes(b"".join(events))


def rl_games_rows(epochs: int) -> list[tuple[int, dict[str, float]]]:
    found: list[tuple[int, dict[str, float]]] = []
    for epoch in range(1, epochs + 1):
        found.append((1000 * epoch, {"rewards/step": epoch, "losses/a_loss": 0.1, "losses/c_loss": 0.2}))
        found.append((epoch, {"rewards/iter": epoch}))
        found.append((30 * epoch, {"rewards/time": epoch}))
    return found


def test_of_the_three_axes_of_rl_games_frames_are_read(tmp_path: Path) -> None:
    write(tmp_path / "Ant" / "summaries" / "events.out.tfevents.1700000000.host", rl_games_rows(10))
    (tmp_path / "Ant" / "config.yaml").write_text(CONFIG)
    run = read(tmp_path / "Ant")
    assert (run.framework, run.algorithm, run.environment) == ("rl_games", "PPO", "Ant")
    assert run["return/train"].steps.tolist() == [1000.0 * epoch for epoch in range(1, 11)]
    assert run.env_steps == 10_000
    assert (run.config.number("gamma"), run.config.number("clip_range"), run.config.number("n_steps")) == (
        0.97,
        0.2,
        16,
    )


def test_several_trainings_in_one_summaries_folder_are_told_apart(tmp_path: Path) -> None:
    for number, epochs in ((1, 30), (2, 5)):
        file = tmp_path / "Ant" / "summaries" / f"events.out.tfevents.17000{number}0000.host"
        write(file, rl_games_rows(epochs), started=1.7e9 + 1e4 * number)
    refs = find(tmp_path)
    assert [len(read(ref.name)["return/train"]) for ref in refs] == [30, 5]
    longest = read(tmp_path / "Ant")
    assert len(longest["return/train"]) == 30
    assert any("2 separate runs; this is the longest" in note for note in longest.provenance.notes)


def test_a_copied_event_file_counts_once(tmp_path: Path) -> None:
    for name in ("events.out.tfevents.1700000000.host", "events.out.tfevents.1700000000.host.copy"):
        write(tmp_path / name, [(step, {"rollout/ep_rew_mean": step}) for step in range(1, 9)])
    run = read(tmp_path)
    assert len(run["return/train"]) == 8
    assert any("a copy of" in note for note in run.provenance.notes)


@pytest.mark.parametrize("prefix", ["", "agent0/"])
def test_one_folder_of_events_for_each_metric_is_one_run(tmp_path: Path, prefix: str) -> None:
    logs = tmp_path / "results" / "MPE" / "simple_spread" / "rmappo" / "check" / "run1" / "logs"
    for name in ("average_episode_rewards", "value_loss", "dist_entropy"):
        tag = prefix + name
        file = logs / tag / tag / "events.out.tfevents.1700000000.host"
        write(file, [(100 * index, {tag: float(index)}) for index in range(1, 11)])
    assert [ref.path for ref in find(tmp_path)] == [logs]
    run = read(logs)
    assert (run.framework, run.algorithm, run.environment) == ("mappo", "MAPPO", "simple_spread")
    assert run.returns is not None
    assert run.returns.values.tolist() == list(range(1, 11))
