"""Which return decides: the true one, the whole curve, the team's; and that the choice is said."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from rlclinic.model.run import deciding_return
from rlclinic.model.series import Series
from rlclinic.readers.guess import guess, is_distillation, true_return
from rlclinic.readers.open import read


def series(name: str, points: int, first: float, last: float, caveat: str = "") -> Series:
    return Series(name, name, np.linspace(first, last, points), np.ones(points), caveat=caveat)


def write(folder: Path, columns: dict[str, list[float]]) -> Path:
    size = len(next(iter(columns.values())))
    table = {"global_step": list(range(100, 100 * size + 100, 100)), **columns}
    lines = [",".join(table), *(",".join(map(str, row)) for row in zip(*table.values(), strict=True))]
    (folder / "log.csv").write_text("\n".join(lines) + "\n")
    return folder


@pytest.mark.parametrize(
    ("train", "evaluation", "decides"),
    [
        # Evaluations decide where there are enough of them, all along the run.
        ((200, 0, 1e6), (30, 0, 1e6), "return/eval"),
        ((200, 0, 1e6), (29, 0, 1e6), "return/train"),
        ((200, 0, 1e6), (40, 0, 1e5), "return/train"),
        ((14, 0.99e6, 1e6), (40, 0, 1e6), "return/eval"),
        ((2, 0, 1e6), (200, 0, 1e6), "return/eval"),
        ((2, 0, 1e6), (4, 0, 1e6), "return/train"),
        ((30, 0, 1e6), (400, 0, 1e6), "return/eval"),
    ],
)
def test_the_whole_curve_decides_and_not_a_scrap_of_it(
    train: tuple[int, float, float], evaluation: tuple[int, float, float], decides: str
) -> None:
    found = {"return/train": series("return/train", *train), "return/eval": series("return/eval", *evaluation)}
    chosen = deciding_return(found)
    assert chosen is not None
    assert chosen.name == decides


def test_a_true_reward_goes_before_a_learned_one(tmp_path: Path) -> None:
    run = read(write(tmp_path, {"rollout/ep_rew_mean": [1, 2, 3, 4, 5], "rollout/ep_true_rew_mean": [5, 4, 3, 2, 1]}))
    assert run.returns is not None
    assert run.returns.logged_as == "rollout/ep_true_rew_mean"
    assert run["learned_return"].values[-1] == 5
    assert any("the true reward" in note for note in run.provenance.notes)


def test_the_score_that_a_game_keeps_goes_before_the_reward_and_its_best_does_not(tmp_path: Path) -> None:
    run = read(write(tmp_path, {"Avg_Reward_100": [1, 2, 3, 4, 5], "Avg_Final_Score_100": [41, 42, 40, 43, 41]}))
    assert run.returns is not None
    assert run.returns.logged_as == "Avg_Final_Score_100"
    assert run["learned_return"].logged_as == "Avg_Reward_100"
    assert true_return("best_game_score") == ""
    assert true_return("final_reward") == ""


@pytest.mark.parametrize("name", ["info/disc_reward_mean", "learned_reward_mean", "episode_curiosity_reward"])
def test_a_reward_of_another_kind_is_no_return(name: str) -> None:
    assert guess(name) == ""


def test_words_of_truth_and_of_a_teacher_are_known() -> None:
    assert true_return("eval/true_episode_reward") == "return/eval"
    assert true_return("true_reward_std") == ""
    assert is_distillation("teacher_kl")
    assert not is_distillation("teacher_reward")


def test_a_success_rate_is_the_return_where_no_other_is_logged(tmp_path: Path) -> None:
    run = read(write(tmp_path, {"win_rate": [0.1, 0.2, 0.3, 0.4], "loss": [4, 3, 2, 1]}))
    assert run.returns is not None
    assert run.returns.logged_as == "win_rate"
    assert any("win_rate serves as return/train" in note for note in run.provenance.notes)


@pytest.mark.parametrize("name", ["total_cost", "Total Cost", "episode cost", "avg_cost"])
def test_a_cost_is_a_return_below_zero_where_nothing_is_rewarded(name: str, tmp_path: Path) -> None:
    costs = [50.0, 40.0, 30.0, 20.0, 10.0, 5.0]
    run = read(write(tmp_path, {name: costs, "loss": costs}))
    assert run.returns is not None
    assert run.returns.values.tolist() == [-cost for cost in costs]
    assert any(f"minus {name} serves as return/train" in note for note in run.provenance.notes)


def test_a_cost_beside_a_reward_is_a_constraint_and_no_return(tmp_path: Path) -> None:
    run = read(write(tmp_path, {"episode_reward": [1, 2, 3, 4, 5], "episode_cost": [5, 4, 3, 2, 1]}))
    assert run.returns is not None
    assert run.returns.logged_as == "episode_reward"


def test_where_the_reward_is_zero_by_design_the_objective_decides(tmp_path: Path) -> None:
    zeros, teacher = [0.0] * 6, [3.0, 2.5, 2.0, 1.5, 1.2, 1.0]
    lines = [
        json.dumps({"step": step, "env/all/reward/total": zero, "optim/lr": 1e-5, "teacher_kl": kl})
        for step, (zero, kl) in enumerate(zip(zeros, teacher, strict=True))
    ]
    (tmp_path / "metrics.jsonl").write_text("\n".join(lines) + "\n")
    run = read(tmp_path)
    assert run.returns is not None
    assert run.returns.values.tolist() == [-kl for kl in teacher]


def test_a_reward_of_zero_without_a_teacher_stays_the_return(tmp_path: Path) -> None:
    run = read(write(tmp_path, {"episode_reward": [0, 0, 0, 0, 0, 0], "kl": [1, 2, 3, 4, 5, 6]}))
    assert run.returns is not None
    assert not run.returns.values.any()


def test_agents_make_a_team_and_keep_their_own_returns(runs: Path) -> None:
    run = read(runs / "mappo" / "results" / "MPE" / "simple_spread" / "rmappo" / "check" / "run1" / "logs")
    first, second = run["agent_return/0"].values, run["agent_return/1"].values
    assert run["return/train"].values == pytest.approx((first + second) / 2)


def test_which_return_decides_is_said(runs: Path) -> None:
    notes = read(runs / "sb3" / "ppo_cartpole").provenance.notes
    assert any("is what the agent is judged by" in note for note in notes)


def test_what_a_mean_since_the_start_is_a_mean_of_decides(tmp_path: Path) -> None:
    scores = [*np.linspace(0.0, 30.0, 30), *np.linspace(30.0, 5.0, 30)]
    means = (np.cumsum(scores) / np.arange(1, 61)).tolist()
    run = read(write(tmp_path, {"average_score": means, "current": scores}))
    assert run.returns is not None
    assert run.returns.logged_as == "current"
    assert any("mean since the start" in note for note in run.provenance.notes)


def test_a_mean_over_the_last_episodes_stays_the_return(tmp_path: Path) -> None:
    scores = np.random.default_rng(0).normal(size=60)
    means = np.convolve(scores, np.ones(10) / 10, mode="same").tolist()
    run = read(write(tmp_path, {"average_score": means, "current": scores.tolist()}))
    assert run.returns is not None
    assert run.returns.logged_as == "average_score"


def test_less_exploitability_is_a_better_strategy(tmp_path: Path) -> None:
    run = read(write(tmp_path, {"exploitability": [0.7, 0.3, 0.1, 0.05], "loss": [4, 3, 2, 1]}))
    assert run.returns is not None
    assert run.returns.values.tolist() == [-0.7, -0.3, -0.1, -0.05]


def test_rewards_of_checkpoints_are_the_return_where_nothing_else_was_kept(tmp_path: Path) -> None:
    saved = [{"steps": 100 * k, "file_path": f"a-{k}.onnx", "reward": float(k)} for k in range(1, 5)]
    (tmp_path / "run_logs").mkdir()
    text = json.dumps({"Walker": {"checkpoints": saved}, "metadata": {"mlagents_version": "1.1.0"}})
    (tmp_path / "run_logs" / "training_status.json").write_text(text)
    run = read(tmp_path)
    assert run.environment == "Walker"
    assert run.returns is not None
    assert run.returns.values.tolist() == [1.0, 2.0, 3.0, 4.0]


def test_a_console_that_sacred_kept_is_a_run_without_metrics(tmp_path: Path) -> None:
    (tmp_path / "cout.txt").write_text("[INFO 18:49:08] my_main t_env: 46 / 2050000\n")
    assert read(tmp_path).returns is None


def test_a_zero_in_a_row_in_which_no_episode_ended_is_no_return(tmp_path: Path) -> None:
    ended, earned = [1.0, 1.0, 0.0, 2.0, 0.0, 1.0], [0.6, -1.0, 0.0, 0.0, 0.0, 0.5]
    loss = [0.3, 0.2, 0.2, 0.1, 0.1, 0.1]
    run = read(write(tmp_path, {"mean_ep_reward": earned, "n_episodes": ended, "value_loss": loss}))
    assert run["return/train"].values.tolist() == [0.6, -1.0, 0.0, 0.5]
    assert len(run["value_loss"]) == 6
