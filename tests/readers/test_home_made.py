"""What strangers' own scripts leave: printed lines, lists in JSON and NumPy files, tables that their file names."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from rlclinic.model.errors import NothingReadable
from rlclinic.model.run import Run
from rlclinic.readers.consoles.counted_lines import parse_counted_lines
from rlclinic.readers.discover import find
from rlclinic.readers.guess import guess
from rlclinic.readers.named_by_file import metric_of_file, tells_return
from rlclinic.readers.open import read_ref
from rlclinic.store.reading import read

COUNT = 40
RETURNS = [round(20 + 150 / (1 + math.exp(-(at - 18) / 4)), 2) for at in range(COUNT)]


def lines(shape: str) -> str:
    """One line for each return: `{n}` counts from 1, `{s}` in thousands, `{r}` is the return."""
    return "\n".join(shape.format(n=n, s=1000 * n, r=value) for n, value in enumerate(RETURNS, start=1)) + "\n"


def check(run: Run, axis: str) -> None:
    assert run.returns is not None
    assert run.returns.axis == axis
    assert run.returns.values.tolist() == pytest.approx(RETURNS)


PRINTED = {
    "udacity": ("Episode {n}\tAverage Score: {r:.2f}", "episodes"),
    "score and epsilon": ("Episode: {n}/40, Score: {r}, Epsilon: 0.95", "episodes"),
    "words alone": ("episode {n} reward {r} steps 20 loss 0.3", "episodes"),
    "pipes": ("Ep {n:4d} | Reward: {r:8.2f} | Avg: 18.51 | Eps: 0.886", "episodes"),
    "keys": ("[2024-01-01 00:00:01] ep={n} ep_ret={r} eps=0.9", "episodes"),
    "sentence": ("Iteration {n}: mean reward = {r}, policy loss = 0.01, value loss = 3.2", "iterations"),
    "purejaxrl": ("global step={s}, episodic return={r}", "env_steps"),
    "unity": (
        "[INFO] Ball. Step: {s}. Time Elapsed: 9.1 s. Mean Reward: {r}. Std of Reward: 0.7.",
        "env_steps",
    ),
    "unity, old": (
        "INFO:trainers: ppo-0: 3DBall: Step: {s}. Time Elapsed: 9 s Mean Reward: {r}.",
        "env_steps",
    ),
    "block": ("********** Iteration {n} ************\nEpRewMean {r}\nEpLenMean 200", "iterations"),
    "evotorch": ("     iter : {n}\nmean_eval : {r}\npop_best_eval : 200.1\n", "iterations"),
    "torch-ac": (
        "U {n} | F {s:06} | FPS 0900 | D 2 | rR:μσmM {r} 0.10 0.00 0.95 | F:μσmM 12.1 3.0 4.0 40.0 | H 1.94 | pL -0.01",
        "env_steps",
    ),
    "profit": ("Episode {n}/40 - Profit: ${r} - loss 0.1", "episodes"),
    "the letter of the textbook": ("Episode {n}\tG: {r}\tlength: 31", "episodes"),
    "value behind its place": ("Total rewards in episode {n} is {r} total number of moves are 7", "episodes"),
    "value behind its place, short": ("Score for episode {n}: {r}", "episodes"),
    "length as a count": ("Episode {n} finished after 45 timesteps with reward {r}", "episodes"),
    "slashes": ("[{n}] return {r} / length 20 / actor_loss nan / value_loss 6.4", "iterations"),
    "tuple of Python 2": ("('Episode:', {n}, 'Reward:', {r})", "episodes"),
    "window and counts in brackets": ("Train Iter({n})\tEnv Step({s})\tAvg(100): {r}", "env_steps"),
    "place of the source": (
        "I0101 10:11:12.1 140 train.py:400] Iteration {n}\ntrain.py:402] Average return: {r}",
        "iterations",
    ),
    "names in two columns": (
        "-------\nEvaluation/Epoch    {n}\nEvaluation/AverageReturn    {r}\nEvaluation/Std    1.5\n-------",
        "epochs",
    ),
    "a game's rewards before the sum": (
        "ep {n}: game over, reward: -1.0\nepisode reward total was {r}. running mean: 3.5",
        "episodes",
    ),
    "Chinese": ("第{n}回合，奖励：{r}，损失：0.5", "episodes"),
    "nothing but the episode": ("Episode {n}: {r}", "episodes"),
    "window that grows": (
        "Average return in last {n} consecutive episodes: {r} generation: {n}",
        "iterations",
    ),
    "quoted": ("> Episode {n}\xa0| reward {r} | time 00h 11m 08s", "episodes"),
    "by policy": ("Total num frames: {s}. Lag: (avg: 0.6)\nAvg episode reward: [(0, '{r}')]", "env_steps"),
    "evaluation": ("step {s} loss 0.3\nEvaluation over 10 episodes: {r}", "env_steps"),
    "bar": ("Training: 59%|##| {n}/60 [00:59<00:10, 3.1it/s, reward={r}, loss=0.3]", "iterations"),
}


@pytest.mark.parametrize("name", PRINTED)
def test_a_printed_line_that_counts_and_says_a_return_is_a_row(tmp_path: Path, name: str) -> None:
    shape, axis = PRINTED[name]
    (tmp_path / "train.log").write_text(lines(shape))
    check(read(tmp_path), axis)


def test_a_notebook_of_printed_episodes_is_read_with_its_environment(tmp_path: Path) -> None:
    out = {"output_type": "stream", "name": "stdout", "text": [lines("Episode {n}\tAverage Score: {r}")]}
    cell = {
        "cell_type": "code",
        "source": ["env = gym.make('LunarLander-v2')\n", "agent = DQNAgent(lr=5e-4)\n"],
        "outputs": [out],
        "metadata": {},
    }
    (tmp_path / "dqn.ipynb").write_text(
        json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 4})
    )
    run = read(tmp_path)
    check(run, "episodes")
    assert run.environment == "LunarLander-v2"


@pytest.mark.parametrize(
    "text",
    [
        "Step 1/10 : FROM python:3.11\nStep 2/10 : RUN pip install torch\n" * 10,
        "Epoch 1 loss: 0.31 accuracy: 0.9\n" * 20,
        "Collecting numpy==2.4.6 (12.3 MB)\nInstalling score 3 of 4\n" * 10,
        "Chapter 1. The reward of virtue is 3 coins.\n" * 20,
    ],
)
def test_text_that_counts_nothing_or_says_no_return_is_no_log(text: str) -> None:
    assert parse_counted_lines(text.splitlines()) == ()


def test_a_trainer_that_prints_its_losses_alone_is_read_without_a_return(tmp_path: Path) -> None:
    row = "[INFO] Epoch {}: mean actor loss={} | mean critic loss=5.8 | mean entropy loss=-2.9\n"
    (tmp_path / "train.log").write_text("".join(row.format(at % 4 + 1, "nan" if at < 4 else -0.02) for at in range(12)))
    run = read(tmp_path)
    assert run.returns is None
    assert np.isnan(run["policy_loss"].values).tolist() == [at < 4 for at in range(12)]


def test_steps_that_an_episode_survived_are_its_length() -> None:
    (rows,) = parse_counted_lines([f"Episode {n}: survived {100 - n} steps" for n in range(9)])
    assert [row["episode length"] for row in rows.rows] == [100.0 - n for n in range(9)]


def test_a_single_block_that_names_much_of_a_training_is_a_row_and_a_list_of_settings_is_none() -> None:
    block = "------ Iteration #50 ------\nMean Length: 1.0\nMean Return: .nan\nLoss: nan\nEpsilon: 0.1\n--------"
    (rows,) = parse_counted_lines(block.splitlines())
    assert rows.steps == (50,)
    assert math.isnan(rows.rows[0]["Mean Return"])
    settings = "lr: 0.1\nepsilon: 1.0\nvalue loss coef: 0.5\nentropy coef: 0.01\nreward scale: 1\nepisode length: 200"
    assert parse_counted_lines(settings.splitlines()) == ()


def test_the_bar_of_a_trainer_of_language_models_is_read_and_names_its_framework(tmp_path: Path) -> None:
    bar = "Train epoch [1/1]: 100%|██| 8/8 [00:10<00:00, 2s/it, act_loss=0.1, reward={r}, kl=nan, act_lr=5e-7]"
    (tmp_path / "train.log").write_text(lines(bar))
    run = read(tmp_path)
    assert run.framework == "openrlhf"
    check(run, "rows")


def test_boxes_without_rulers_are_read_as_far_as_they_are_whole(tmp_path: Path) -> None:
    rows = "".join(f"Iteration {n}\n\n| EpLenMean | 200 |\n| EpRewMean      | {r} |\n\n" for n, r in enumerate(RETURNS))
    (tmp_path / "log.txt").write_text(rows)
    check(read(tmp_path), "iterations")


def test_a_length_is_the_return_of_a_task_that_pays_one_for_each_step(tmp_path: Path) -> None:
    text = "Making new env: CartPole-v1\n" + lines("Episode {n}\tLast length: {r}\tAverage length: 30.5")
    (tmp_path / "console.txt").write_text(text)
    check(read(tmp_path), "episodes")
    (tmp_path / "console.txt").write_text(text.replace("CartPole-v1", "Acrobot-v1"))
    assert read(tmp_path).returns is None


def test_three_lines_that_count_on_in_the_same_words_are_a_log() -> None:
    (rows,) = parse_counted_lines([f"Total T: {n}00 Episode T: 20 Reward: {-n}" for n in range(3, 7)])
    assert (rows.axis, rows.steps) == ("env_steps", (300, 400, 500, 600))
    assert parse_counted_lines([f"After {n} tries the reward was {-n}. Then came {n} more" for n in (3, 9, 2)]) == ()


def test_losses_between_two_returns_stand_at_their_own_steps() -> None:
    said = [f"step = {n}: {'Average Return' if n % 4 == 0 else 'loss'} = {n}.5" for n in range(1, 41)]
    (rows,) = parse_counted_lines(said)
    assert rows.steps == tuple(range(1, 41))
    assert sum("loss" in row for row in rows.rows) == 30


def test_a_loss_of_values_alone_is_read_and_a_loss_of_anything_is_not() -> None:
    (rows,) = parse_counted_lines([f"INFO:loss_reporter:TD LOSS: {10**n}.5" for n in range(6)])
    assert rows.axis == "rows"
    assert parse_counted_lines([f"Epoch {n} loss: 0.{n} accuracy: 0.9" for n in range(1, 30)]) == ()


def test_lengths_of_episodes_that_mostly_rise_count_nothing(tmp_path: Path) -> None:
    text = "".join(f"Episode {n} Steps: {15 * n if n % 3 else n} Reward: {value}\n" for n, value in enumerate(RETURNS))
    (tmp_path / "train.log").write_text(text)
    check(read(tmp_path), "episodes")


def test_decimal_commas_and_typographic_signs_are_numbers() -> None:
    said = [f"Episode {n} reward {sign}{n},5 loss 1,{n}" for n, sign in zip(range(10, 16), "-\u2212" * 3, strict=True)]
    (rows,) = parse_counted_lines(said)
    assert [row["reward"] for row in rows.rows] == [-n - 0.5 for n in range(10, 16)]


def test_one_row_of_a_ruled_table_is_read_where_its_names_are_those_of_a_training(tmp_path: Path) -> None:
    names = "| Trial name | status | iter | ts | reward | episode_reward_max | episode_reward_min | episode_len_mean |"
    row = "| PPO_godot_0 | RUNNING | 3 | 3072 | nan | nan | nan | nan |"
    (tmp_path / "console.txt").write_text(f"== Status ==\n{names}\n{'|---' * 8}|\n{row}\n")
    run = read(tmp_path)
    assert run.returns is not None
    assert (run.returns.logged_as, run.returns.steps.tolist()) == ("reward", [3072.0])


def test_a_table_of_one_row_that_is_printed_again_and_again_is_one(tmp_path: Path) -> None:
    rule = "+-------+------------+-------------+"
    table = f"INFO result\n{rule}\n| Name  | train_iter | reward_mean |\n{rule}\n| Value | {{s}}.0 | {{r}} |\n{rule}"
    (tmp_path / "log.txt").write_text(lines(table))
    check(read(tmp_path), "iterations")


def test_columns_behind_the_last_name_are_left_out(tmp_path: Path) -> None:
    head = "ID     Step    maxR |    avgR   stdR |    expR   etc."
    rows = "".join(
        f"0  {n}.00e+03  -95.16 |\n0  {n}.00e+03  -95.16 | {r}  0.1 |  0.4  0.5  0.0\n"
        for n, r in enumerate(RETURNS, start=1)
    )
    (tmp_path / "output.txt").write_text(f"{head}\n{rows}")
    check(read(tmp_path), "env_steps")


def test_a_text_that_holds_nothing_but_a_traceback_is_a_run_that_crashed(tmp_path: Path) -> None:
    trace = 'Traceback (most recent call last):\n  File "train.py", line 9, in <module>\nValueError: 2 is no action\n'
    (tmp_path / "issue.txt").write_text("The edited file throws:\n" + trace)
    assert read(tmp_path).status.state.value == "crashed"


def test_a_monitor_file_without_a_line_end_behind_its_names_is_read(tmp_path: Path) -> None:
    rows = "\n".join(f"{value},20,{n}.5" for n, value in enumerate(RETURNS, start=1))
    (tmp_path / "monitor.csv").write_text('#{"t_start": 1715849469.4, "env_id": "None"}\nr,l,t' + rows + "\n")
    check(read(tmp_path), "env_steps")


@pytest.mark.parametrize("mark", [";", ","])
def test_rows_between_other_lines_with_a_line_of_names_are_a_table(tmp_path: Path, mark: str) -> None:
    rows = lines(mark.join(("{n}", "{r}", "0.5")))
    (tmp_path / "log.txt").write_text("Training on cpu ...\n" + mark.join(("episode", "reward", "loss")) + "\n" + rows)
    check(read(tmp_path), "episodes")


def test_costs_of_training_are_returns_below_zero(tmp_path: Path) -> None:
    (tmp_path / "train.log").write_text(lines("[rl] iter {n} train_cost~{r} loss_pi=-0.002 entropy=+1.8"))
    run = read(tmp_path)
    assert run.returns is not None
    assert run.returns.values.tolist() == pytest.approx([-value for value in RETURNS])


def test_a_readme_with_printed_episodes_tells_task_and_algorithm_by_its_title(tmp_path: Path) -> None:
    printed = lines("> Episode {n} average score: {r}").replace("> Episode 1 ", "> States: 8; Actions: 4\n> Episode 1 ")
    tested = "> Average score: 231.0\n> 85 episodes with score > 200\n> 96 episodes with score > 100\n"
    (tmp_path / "README.md").write_text(f"# DQN + LunarLander\n```\n{printed}```\n{tested}")
    run = read(tmp_path)
    check(run, "episodes")
    assert (run.environment, run.algorithm) == ("LunarLander", "DQN")


def test_a_table_that_a_person_wrote_is_read_with_its_words_as_gaps(tmp_path: Path) -> None:
    cells = [
        "| 60K | ~ -700 | — | Still bad |",
        "| 300K | +600 | 553 | |",
        "| 1.5M | **+1,820** (best) | 587 | ok |",
    ]
    quoted = "Eval num_timesteps=1500000, episode_reward=9.49 +/- 0.33"
    table = "\n".join(["| **Timesteps** | ep_rew_mean | Eval Reward | Note |", "|---|---:|---|---|", *cells])
    (tmp_path / "curve.md").write_text(f"### Training\n{table}\n\n```\n{quoted}\n```\n")
    run = read(tmp_path)
    assert run["return/train"].values.tolist() == [-700.0, 600.0, 1820.0]
    assert run["return/train"].steps.tolist() == [60_000.0, 300_000.0, 1_500_000.0]
    assert run["return/eval"].values.tolist() == [553.0, 587.0]


def test_a_log_that_mentions_one_known_environment_is_of_it(tmp_path: Path) -> None:
    printed = lines("global_step={s}, episodic_return={r}")
    (tmp_path / "terminal.txt").write_text("Moviepy - Writing video videos/ALE/MsPacman-v5__1__17/rl-0.mp4\n" + printed)
    assert read(tmp_path).environment == "ALE/MsPacman-v5"
    (tmp_path / "terminal.txt").write_text("MsPacman-v5 after Pong-v5 and agent-v3\n" + printed)
    assert read(tmp_path).environment == ""


@pytest.mark.parametrize(
    ("name", "metric"),
    [
        ("截断比", "truncated_fraction"),
        ("生成长度", "response_length"),
        ("熵", "entropy"),
        ("zero-var groups", "zero_variance_groups"),
        ("num_tokens", ""),
        ("clip_fraction", ""),
    ],
)
def test_names_of_a_language_model_are_guessed_by_their_words(name: str, metric: str) -> None:
    assert guess(name) == metric


def test_a_folder_with_a_log_that_has_no_metric_is_a_run_that_cannot_be_judged(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "verl.log").write_text("Started a local Ray instance.\n")
    assert read(tmp_path).series == {}


def test_settings_that_are_printed_before_the_first_row_are_no_metrics(tmp_path: Path) -> None:
    head = "Namespace(env_id='CartPole-v1', total_timesteps=500000, learning_rate=0.00025, seed=1)\n"
    rows = "".join(f"global_step={500 * at}, episodic_return={value}\n" for at, value in enumerate(RETURNS, start=1))
    (tmp_path / "train.log").write_text(head + rows)
    run = read(tmp_path)
    assert (run.steps, run.budget) == (500.0 * COUNT, 500_000.0)
    assert set(run.series) == {"return/train"}


def saved(kind: str, folder: Path) -> None:
    records = [{"episode": n, "reward": value, "loss": 0.1} for n, value in enumerate(RETURNS)]
    steps = {f"step_{n}": {"step_count": 1000 * n, "episode_return": [value, value]} for n, value in enumerate(RETURNS)}
    documents: dict[str, object] = {
        "training_log.json": records,
        "results.json": {"rewards": RETURNS, "losses": [0.1] * COUNT, "config": {"lr": 0.001, "env": "CartPole-v1"}},
        "rewards.json": RETURNS,
        "metrics.json": {"CartPole": {"ff_ppo": {"seed_1": {"absolute_metric": {"episode_return": [1.0]}, **steps}}}},
    }
    if kind in documents:
        (folder / kind).write_text(json.dumps(documents[kind]))
    elif kind == "rewards.npy":
        np.save(folder / kind, np.array(RETURNS))
    elif kind == "results.npz":
        np.savez(folder / kind, episode_rewards=np.array(RETURNS), losses=np.ones(3 * COUNT))
    else:
        (folder / kind).write_text({"rewards.txt": lines("{r}"), "scores.csv": lines("{n},{r}")}[kind])


@pytest.mark.parametrize(
    ("kind", "axis"),
    [
        ("training_log.json", "episodes"),
        ("results.json", "episodes"),
        ("rewards.json", "episodes"),
        ("metrics.json", "env_steps"),
        ("rewards.npy", "episodes"),
        ("results.npz", "episodes"),
        ("rewards.txt", "episodes"),
        ("scores.csv", "episodes"),
    ],
)
def test_saved_lists_are_read_by_the_name_of_the_list_or_of_the_file(tmp_path: Path, kind: str, axis: str) -> None:
    saved(kind, tmp_path)
    check(read(tmp_path), axis)
    check(read(tmp_path / kind), axis)


def test_settings_beside_saved_lists_are_the_runs(tmp_path: Path) -> None:
    saved("results.json", tmp_path)
    run = read(tmp_path)
    assert (run.environment, run.config.get("learning_rate")) == ("CartPole-v1", 0.001)


def test_rewards_of_recorded_steps_are_no_returns(tmp_path: Path) -> None:
    columns = {"observations": np.zeros((50, 4)), "actions": np.zeros(50), "rewards": np.ones(50)}
    np.savez(tmp_path / "steps.npz", **columns)
    with pytest.raises(NothingReadable):
        read(tmp_path)


def test_a_pickled_array_is_left_alone(tmp_path: Path) -> None:
    np.save(tmp_path / "rewards.npy", np.array([{"a": 1}] * 20, dtype=object), allow_pickle=True)
    with pytest.raises(NothingReadable):
        read(tmp_path)


def test_a_download_of_one_tag_is_that_metric(tmp_path: Path) -> None:
    rows = lines("1700000000.5,{s},{r}")
    (tmp_path / "run-PPO_1-tag-rollout_ep_rew_mean.csv").write_text(f"Wall time,Step,Value\n{rows}")
    run = read(tmp_path)
    check(run, "env_steps")
    assert run.returns is not None
    assert run.returns.logged_as == "rollout/ep_rew_mean"


def test_a_table_of_pfrl_and_one_of_tonic_are_known_by_their_columns(tmp_path: Path) -> None:
    for folder in ("pfrl", "tonic"):
        (tmp_path / folder).mkdir()
    header = "steps\tepisodes\telapsed\tmean\tmedian\tstdev\tmax\tmin\taverage_q\n"
    (tmp_path / "pfrl" / "scores.txt").write_text(header + lines("{s}\t{n}\t2.5\t{r}\t{r}\t3\t9\t1\t5"))
    header = "train/episode_score/mean,train/steps,train/seconds,actor/loss\n"
    (tmp_path / "tonic" / "log.csv").write_text(header + lines("{r},{s},3,0.1"))
    (tmp_path / "tonic" / "config.yaml").write_text("environment: \"tonic.environments.Gym('Hopper-v4')\"\n")
    pfrl, tonic = read(tmp_path / "pfrl"), read(tmp_path / "tonic")
    check(pfrl, "env_steps")
    check(tonic, "env_steps")
    assert (pfrl.framework, tonic.framework, tonic.environment) == ("pfrl", "tonic", "Hopper-v4")


def test_a_header_in_its_own_spelling_still_counts_steps(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("Episode #,Total steps,Training Reward\n" + lines("{n},{s},{r}"))
    check(read(tmp_path), "env_steps")


def test_the_name_of_a_file_tells_a_return_only_where_its_words_do() -> None:
    assert tells_return("episode_rewards")
    assert tells_return("reward_history")
    assert not tells_return("reward_weights")
    assert not tells_return("learning_rates")
    assert metric_of_file("run-x-tag-eval_mean_reward.csv") == "eval/mean_reward"
    assert metric_of_file("notes.txt") == ""


def test_an_average_by_episodes_that_says_nothing_else_is_the_return(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text(lines("Episode: {n}   Avg: {r}   BestAvg: -inf   Steps: {s}   Secs: 297"))
    assert read(path)["return/train"].logged_as == "Avg"
    path.write_text(lines("Episode: {n}   Avg: 3.5   Score: {r}   Steps: {s}"))
    assert read(path)["return/train"].logged_as == "Score"


def test_pairs_of_a_count_and_a_value_are_not_averaged(tmp_path: Path) -> None:
    (tmp_path / "scores.json").write_text(json.dumps([[n, value] for n, value in enumerate(RETURNS)]))
    check(read(tmp_path), "episodes")


def test_of_a_column_for_each_seed_the_first_is_read_where_the_file_says_what_they_are(tmp_path: Path) -> None:
    text = "seed_0,seed_1\n" + "".join(f"{value},{value / 2}\n" for value in RETURNS)
    (tmp_path / "rewards.csv").write_text(text)
    check(read(tmp_path / "rewards.csv"), "episodes")
    (tmp_path / "weights.csv").write_text(text)
    assert read(tmp_path / "weights.csv").returns is None


def test_lists_and_pairs_that_nothing_calls_a_return_are_none(tmp_path: Path) -> None:
    for data in (RETURNS, [[n, value] for n, value in enumerate(RETURNS)]):
        (tmp_path / "weights.json").write_text(json.dumps(data))
        with pytest.raises(NothingReadable):
            read(tmp_path)


def test_a_share_of_problems_solved_at_the_first_try_is_a_return(tmp_path: Path) -> None:
    rows = "".join(f"{8 * n},{value / 200},0.5\n" for n, value in enumerate(RETURNS))
    (tmp_path / "validation.csv").write_text("checkpoint_step,sampled_pass_at_1,pass_at_4\n" + rows)
    run = read(tmp_path)
    assert run.returns is not None
    assert run.returns.logged_as == "sampled_pass_at_1"


@pytest.mark.parametrize("shape", ["lists", "tables"])
def test_a_json_object_with_a_part_for_each_algorithm_is_as_many_runs(shape: str, tmp_path: Path) -> None:
    data: dict[str, object] = {"PPO": RETURNS, "Dueling DQN": [-value for value in RETURNS]}
    if shape == "tables":
        data = {name: {"rewards": values, "losses": RETURNS} for name, values in data.items()}
    (tmp_path / "results.json").write_text(json.dumps({**data, "note": "two agents"}))
    found = {ref.member: read_ref(ref) for ref in find(tmp_path)}
    assert [(name, run.algorithm) for name, run in sorted(found.items())] == [("Dueling DQN", "DQN"), ("PPO", "PPO")]
    check(found["PPO"], "episodes")
    assert found["Dueling DQN"].series["return/train"].values.tolist() == pytest.approx([-value for value in RETURNS])
    assert any("name another as results.json::" in note for note in found["PPO"].provenance.notes)


def test_what_is_measured_of_one_algorithm_is_one_run(tmp_path: Path) -> None:
    (tmp_path / "results.json").write_text(json.dumps({"dqn_rewards": RETURNS, "dqn_losses": RETURNS}))
    assert [ref.member for ref in find(tmp_path)] == [""]


def test_a_console_of_costs_is_read(tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_text(lines("Episode {n}: Total cost: {r}, steps: 100"))
    run = read(tmp_path)
    assert run.returns is not None
    assert run.returns.values.tolist() == pytest.approx([-value for value in RETURNS])


def test_a_table_with_lengths_of_responses_is_of_a_language_model(tmp_path: Path) -> None:
    rows = [f"| {4 * n} | {value} | 0.0{n:02d} | 40{n % 7} |" for n, value in enumerate(RETURNS, start=1)]
    head = ["| Step | Reward | KL | Mean Completion Length |", "|------|--------|----|------------------------|"]
    (tmp_path / "notes.md").write_text("\n".join([*head, *rows]) + "\n")
    run = read(tmp_path)
    assert run.is_language_model
    assert run.step_axis == "updates"
    assert "kl_ref" in run


def test_moments_are_of_what_the_heading_of_their_line_names(tmp_path: Path) -> None:
    block = "Eval at iteration {n}:\n  Reward: mean={r}, min=-9.0, max=99.5\n  Length: mean=200.0, min=12.0, max=500.0"
    (tmp_path / "log.txt").write_text(lines(block) + "Eval at iteration 99:\n  Reward: mean=nan, min=nan, max=nan\n")
    run = read(tmp_path)
    assert run.returns is not None
    assert run.returns.values[:-1].tolist() == pytest.approx(RETURNS)
    assert math.isnan(run.returns.values[-1])


def test_a_number_that_follows_the_one_before_counts_whatever_it_is_called(tmp_path: Path) -> None:
    block = (
        "Interval {n} (40 done)\n10000/10000 [====] - 45s\n50 episodes - episode_reward: {r} [-9.5, 9.5] - loss: 0.8"
    )
    (tmp_path / "log.txt").write_text("\n".join(lines(block).splitlines()[:18]) + "\n")
    run = read(tmp_path)
    assert run.returns is not None
    assert run.returns.values.tolist() == pytest.approx(RETURNS[:6])


def test_three_full_lines_that_tell_their_place_are_a_log_and_three_short_ones_are_not() -> None:
    """constructed: what a library prints of each episode; remarks that count."""
    full = " {0}/900: episode: {1}, duration: 0.5s, episode steps: 4, episode reward: -{1}.0, loss: 3e{1}, mean_q: -3.5"
    lines = [full.format(100 + n, 20 + n) for n in range(3)]
    (rows,) = parse_counted_lines(lines)
    assert [row["episode reward"] for row in rows.rows] == [-20.0, -21.0, -22.0]
    assert parse_counted_lines([f"{n}/3: reward {n}.5" for n in range(3)]) == ()


def test_what_does_not_say_where_it_stands_belongs_to_what_was_said_before() -> None:
    """constructed: an evaluation in a line of its own, with an epoch but no step."""
    lines = [
        line
        for n in range(1, 7)
        for line in (f"Epoch #{n}: env_step={1000 * n}, rew={n}.5", f"Epoch #{n}: test_reward: {n}.25")
    ]
    (rows,) = parse_counted_lines(lines)
    assert [row["test_reward"] for row in rows.rows] == [n + 0.25 for n in range(1, 7)]


def test_a_log_named_after_its_reward_is_read_beside_the_script_that_wrote_it(tmp_path: Path) -> None:
    lines = [f"Episode {at}: Score = {-30.0 + at % 7}" for at in range(1, 40)]
    (tmp_path / "reward_log.txt").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "train.py").write_text("print('no settings')\n", encoding="utf-8")
    assert len(read(tmp_path)["return/train"]) == 39
