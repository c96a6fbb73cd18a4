"""Files as strangers' scripts leave them, each written by one real training: what is the return, and what counts it."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import gymnasium
import numpy as np
import pytest

from rlclinic.model.errors import NothingReadable
from rlclinic.model.run import Run
from rlclinic.readers.words import english
from rlclinic.reference.environment_names import environment_of_folder
from rlclinic.reference.tasks import environment_of_path
from rlclinic.store.reading import read

EPISODES, LONGEST = 80, 60


@dataclass(frozen=True)
class Training:
    """What tabular Q-learning on CliffWalking went through, step by step."""

    rewards: list[list[float]]
    actions: list[list[int]]

    @property
    def returns(self) -> list[float]:
        return [sum(rewards) for rewards in self.rewards]

    @property
    def lengths(self) -> list[int]:
        return [len(rewards) for rewards in self.rewards]

    @property
    def clock(self) -> list[int]:
        return np.cumsum(self.lengths).tolist()


@pytest.fixture(scope="module")
def training() -> Training:
    env = gymnasium.make("CliffWalking-v1", max_episode_steps=LONGEST)
    rng = np.random.default_rng(1)
    table = np.zeros((48, 4))
    rewards: list[list[float]] = []
    actions: list[list[int]] = []
    for episode in range(EPISODES):
        state, _ = env.reset(seed=episode)
        rewards.append([])
        actions.append([])
        done = False
        while not done:
            action = int(rng.integers(4)) if rng.random() < 0.1 else int(table[state].argmax())
            after, reward, terminated, truncated, _ = env.step(action)
            target = float(reward) + 0.99 * table[after].max() * (not terminated)
            table[state, action] += 0.5 * (target - table[state, action])
            state, done = after, terminated or truncated
            rewards[-1].append(float(reward))
            actions[-1].append(action)
    return Training(rewards, actions)


def check(run: Run, training: Training, axis: str = "episodes") -> None:
    assert run.returns is not None
    assert run.returns.values.tolist() == pytest.approx(training.returns, abs=0.01)
    assert run.returns.axis == axis


def printed(training: Training, shape: str) -> str:
    """A piece of text for each episode: `{n}` counts them, `{s}` env steps, `{r}` is the return, `{l}` the length."""
    rows = zip(training.returns, training.lengths, training.clock, strict=True)
    return "".join(shape.format(n=n, r=r, l=size, s=s, b=-13.0) + "\n" for n, (r, size, s) in enumerate(rows, start=1))


def table(training: Training, header: list[str], delimiter: str = ",") -> str:
    file = io.StringIO()
    writer = csv.writer(file, delimiter=delimiter)
    if header:
        writer.writerow(header)
    writer.writerows(zip(range(EPISODES), training.returns, training.lengths, strict=True))
    return file.getvalue()


CONSOLES = {
    "names of one letter": ("Ep: {n} | R: {r} | eps 0.9", "episodes"),
    "name with a line": ("Ep:  {n} | Ep_r:  {r}", "episodes"),
    "position in brackets": ("[{s}/50000] loss=0.31 reward={r}", "env_steps"),
    "leading count": ("{s}: done {n} games, mean reward {r:.3f}, eps 0.21, speed 120.1 f/s", "env_steps"),
    "window in brackets": ("Episode {n} - Avg reward (last 100 episodes): {r:.2f}", "episodes"),
    "window in words": ("Episode {n}  Avg reward over last 100 episodes: {r:.2f}", "episodes"),
    "two counters": ("Total T: {s} Episode Num: {n} Episode T: {l} Reward: {r:.3f}", "env_steps"),
    "length is no counter": ("Episode: {n}, episode steps: {l}, reward: {r:.2f}", "episodes"),
    "sentence": ("Episode {n} finished after {l} timesteps with reward {r}", "episodes"),
    "number in a list": ("global_step={s}, episodic_return=[{r}]", "env_steps"),
    "tensors": ("Episode: {n}, Reward: tensor({r:.4f}), loss: tensor(0.3, grad_fn=<MseLossBackward0>)", "episodes"),
    "either of two": (
        "Updates {n}, num timesteps {s}, FPS 8\n Last 10 training episodes: mean/median reward {r:.1f}/0.0",
        "env_steps",
    ),
    "count at the end of a block": ("Reward: {r}\nEpisode: {n}\nSteps: {l}\n-------------", "episodes"),
    "deviation beside the mean": ("Step: {s}. Mean Reward: {r:.3f}. Std of Reward: 12.3.", "env_steps"),
    "generations": ("Generation {n}: best={b:.2f} mean={r:.2f} std=3.00", "iterations"),
    "undiscounted": ("Iteration {n}:\nAverage undiscounted return per training episode: {r:.2f}", "iterations"),
    "nothing counts": ("run_experiment.py:400] Average return per training episode: {r:.2f}", "rows"),
    "reward per step": ("{s}/90000: episode: {n}, episode reward: {r:.3f}, mean reward: -1.0", "episodes"),
    "success beside": ("Episode {n} | Reward: {r} | Success Rate: 10.5% | Time: 3.2s", "episodes"),
}  # fmt: skip


@pytest.mark.parametrize("name", CONSOLES)
def test_a_printed_line_is_read_by_its_words_and_by_what_rises(training: Training, tmp_path: Path, name: str) -> None:
    shape, axis = CONSOLES[name]
    (tmp_path / "train.log").write_text(printed(training, shape))
    check(read(tmp_path), training, axis)


@pytest.mark.parametrize(
    ("first", "shape"),
    [
        ("| Episode | Reward | Length |\n|---|---|---|\n", "| {n} | {r} | {l} |"),
        ("┏━━━━━━━━━┳━━━━━━━━┓\n┃ Episode ┃ Reward ┃\n┡━━━━━━━━━╇━━━━━━━━┩\n", "│ {n:>7} │ {r:>6} │"),
        (" Episode   Total Reward   Loss\n", "{n:>8} {r:>14.2f}   0.0120"),
        ("ID   Step  Time |    avgR   stdR |   objC\n", "0  {s:>6}   12 |{r:8.2f}   12.6 |   1.06"),
    ],
)
def test_a_table_in_a_text_is_read_by_its_line_of_names(
    training: Training, tmp_path: Path, first: str, shape: str
) -> None:
    (tmp_path / "README.md").write_text("# Results\n\n" + first + printed(training, shape))
    check(read(tmp_path), training, "env_steps" if "Step" in first else "episodes")


def test_a_table_of_results_is_no_log(tmp_path: Path) -> None:
    rows = "".join(f"| {seed} | {-13 - seed} | {200 + seed} |\n" for seed in range(8))
    (tmp_path / "README.md").write_text(f"| Seed | Reward | Lines |\n|---|---|---|\n{rows}")
    with pytest.raises(NothingReadable):
        read(tmp_path)


LANGUAGES = {
    "Spanish": ("Episodio", "Recompensa total"),
    "Portuguese": ("episódio", "recompensa"),
    "French": ("Épisode", "Récompense"),
    "German": ("Episode", "Belohnung"),
    "Italian": ("episodio", "ricompensa"),
    "Turkish": ("Bölüm", "Toplam Ödül"),
    "Russian": ("эпизод", "награда"),
    "Chinese": ("回合", "总奖励"),
    "Japanese": ("エピソード", "報酬"),
    "Korean": ("에피소드", "보상"),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_names_in_other_languages_mean_what_they_mean(training: Training, tmp_path: Path, language: str) -> None:
    episode, reward = LANGUAGES[language]
    for folder in ("table", "console"):
        (tmp_path / folder).mkdir()
    (tmp_path / "table" / "log.csv").write_text(table(training, [episode, reward, "n"]), encoding="utf-8")
    lines = printed(training, f"{episode}: {{n}} | {reward}: {{r:.2f}} | Epsilon: 0.1")
    (tmp_path / "console" / "train.log").write_text(lines, encoding="utf-8")
    check(read(tmp_path / "table"), training)
    check(read(tmp_path / "console"), training)


def test_what_is_english_keeps_its_spelling() -> None:
    assert english("rollout/ep_rew_mean") == "rollout/ep_rew_mean"
    assert english("Récompense moyenne") == "reward average"
    assert english("平均奖励") == "average reward"


@pytest.mark.parametrize(
    ("name", "task"),
    [
        ("dqn_cartpole_rewards.csv", "CartPole"),
        ("atari-breakout", "Breakout"),
        ("bipedalwalker_hardcore.md", "BipedalWalkerHardcore"),
        ("frozenlake4x4", "FrozenLake"),
        ("robust-cartpole", ""),
        ("results", ""),
    ],
)
def test_a_file_is_of_a_task_where_its_other_words_are_those_of_files(name: str, task: str) -> None:
    assert environment_of_folder(name) == task


@pytest.mark.parametrize(
    ("name", "environment"),
    [
        ("ppo-CartPole-v1_2", "CartPole-v1"),
        ("hopper_v4", "Hopper-v4"),
        ("half_cheetah_v4_s0", "HalfCheetah-v4"),
        ("MyWarehouse-v0", "MyWarehouse-v0"),
        ("ALE/Pong-v5", "ALE/Pong-v5"),
        ("halfcheetah-medium-replay-v0", "halfcheetah-medium-replay-v0"),
        ("button-press-topdown-v2", "button-press-topdown-v2"),
        # Another suite's task of the same name.
        ("mo-hopper-v4", ""),
        ("Isaac-Ant-v0", "Isaac-Ant-v0"),
        # A user's own versions.
        ("exp-v3", ""),
        ("Model-v5", ""),
        ("baseline-v1", ""),
        ("walking-robot-v2", ""),
        ("dqn_agent-v3", ""),
    ],
)
def test_a_version_at_the_end_of_a_folders_name_is_an_environments_only_with_a_tasks_name(
    name: str, environment: str
) -> None:
    assert environment_of_path(name) == environment


def test_what_is_left_of_a_unity_run_is_still_one(tmp_path: Path) -> None:
    (tmp_path / "run_logs").mkdir()
    (tmp_path / "run_logs" / "timers.json").write_text('{"name": "root", "metadata": {"mlagents_version": "1.0.0"}}')
    assert read(tmp_path).framework == "mlagents"


SAVED: dict[str, Callable[[Training], str | bytes]] = {
    "log.csv": lambda t: table(t, ["episode", "reward", "steps"]),
    "training.csv": lambda t: table(t, ["Episode", "Reward", "Length"], ";").replace(".0;", ",0;"),
    "history.csv": lambda t: table(t, ["", "episode_reward", "episode_length"]),
    "rewards.csv": lambda t: ",0\n" + "".join(f"{n},{r}\n" for n, r in enumerate(t.returns)),
    "returns_seed0.csv": lambda t: table(t, []),
    "rewards.dat": lambda t: "".join(f"{n} {r}\n" for n, r in enumerate(t.returns)),
    "rewards": lambda t: "".join(f"{r:.18e}\n" for r in t.returns),
    "scores.txt": lambda t: ", ".join(map(str, t.returns)),
    "rewards.txt": lambda t: str(t.returns),
    "progress.txt": lambda t: table(t, ["episode", "total_reward", "length"]).replace("\n", "\r\r\n"),
    "log.txt": lambda t: f"lengths = {t.lengths}\nrewards = {t.returns}\n",
    "resultats.csv": lambda t: table(t, ["Épisode", "Récompense", "Durée"]).encode("latin-1"),
    "output.json": lambda t: json.dumps({"config": {"lr": 0.5}, "metrics": {"episode_rewards": t.returns}}),
    "episodes.json": lambda t: json.dumps([{"episode": n, "total_reward": r} for n, r in enumerate(t.returns)]),
    "dicts.log": lambda t: "".join(f"{ {'episode': n, 'reward': r, 'loss': 0.1} }\n" for n, r in enumerate(t.returns)),
}


@pytest.mark.parametrize("name", SAVED)
def test_saved_numbers_are_read_in_whatever_form(training: Training, tmp_path: Path, name: str) -> None:
    content = SAVED[name](training)
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    check(read(tmp_path), training)


def test_of_an_array_with_two_sides_the_longer_one_is_time(training: Training, tmp_path: Path) -> None:
    np.save(tmp_path / "episode_returns.npy", np.array([training.returns] * 3))
    check(read(tmp_path), training)


def steps(training: Training, *, numbered: bool) -> str:
    rows = ["Episode,Step,Action,Reward" if numbered else "action,reward,done"]
    for episode, (actions, rewards) in enumerate(zip(training.actions, training.rewards, strict=True)):
        for at, (action, reward) in enumerate(zip(actions, rewards, strict=True)):
            last = at == len(rewards) - 1
            rows.append(f"{episode},{at},{action},{reward}" if numbered else f"{action},{reward},{int(last)}")
    return "\n".join(rows) + "\n"


@pytest.mark.parametrize("numbered", [True, False])
def test_rewards_of_single_steps_are_summed_over_their_episodes(
    training: Training, tmp_path: Path, *, numbered: bool
) -> None:
    (tmp_path / "training.csv").write_text(steps(training, numbered=numbered))
    run = read(tmp_path)
    check(run, training)
    assert run.series["episode_length"].values.tolist() == training.lengths
    assert any("rows of single steps" in note for note in run.provenance.notes)


def test_a_reward_of_single_steps_without_episodes_is_no_return(training: Training, tmp_path: Path) -> None:
    rows = "".join(f"{at},{action},-1.0\n" for at, action in enumerate(training.actions[0] * 3))
    (tmp_path / "log.csv").write_text("step,action,reward\n" + rows)
    assert read(tmp_path).returns is None
    (tmp_path / "log.csv").unlink()
    lines = "".join(f"Step {at}: Action={action}, Reward=-1.0\n" for at, action in enumerate(training.actions[0]))
    (tmp_path / "train.log").write_text(lines)
    assert read(tmp_path).returns is None


def test_what_another_column_adds_up_to_is_no_return(training: Training, tmp_path: Path) -> None:
    rows = zip(training.returns, np.cumsum(training.returns), training.lengths, strict=True)
    text = "".join(f"{n},{r},{total},{size},{r / size:.5f}\n" for n, (r, total, size) in enumerate(rows))
    (tmp_path / "log.csv").write_text(f"episode,reward,cumulative_reward,steps,mean_reward\n{text}")
    run = read(tmp_path)
    check(run, training)
    assert any("running total of reward" in note for note in run.provenance.notes)
    assert any("per step" in note for note in run.provenance.notes)


def test_the_table_that_a_notebook_shows_while_it_trains_is_read(training: Training, tmp_path: Path) -> None:
    head = "<tr><th>Step</th><th>Training Loss</th><th>reward</th><th>kl</th></tr>"
    rows = "".join(
        f"<tr><td>{n}</td><td>0.1</td><td>{r}</td><td>0.01</td></tr>" for n, r in enumerate(training.returns)
    )
    output = {"output_type": "display_data", "data": {"text/html": [f"<table>{head}{rows}</table>"]}, "metadata": {}}
    cell = {"cell_type": "code", "source": ["trainer.train()"], "outputs": [output], "metadata": {}}
    text = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    (tmp_path / "grpo.ipynb").write_text(text)
    run = read(tmp_path)
    assert run.returns is not None
    assert run.returns.values.tolist() == pytest.approx(training.returns)


def test_returns_of_agents_make_a_team_and_a_team_comes_first(training: Training, tmp_path: Path) -> None:
    rows = "".join(f"{n},{r - 1},{r + 1}\n" for n, r in enumerate(training.returns))
    (tmp_path / "log.csv").write_text(f"episode,agent_0_reward,agent_1_reward\n{rows}")
    check(read(tmp_path), training)
    rows = "".join(f"{n},{r - 8},{r + 1},{r}\n" for n, r in enumerate(training.returns))
    (tmp_path / "log.csv").write_text(f"episode,agent_0_reward,agent_1_reward,team_reward\n{rows}")
    check(read(tmp_path), training)


def test_a_pickle_is_refused_with_a_word(tmp_path: Path) -> None:
    (tmp_path / "rewards.pkl").write_bytes(b"\x80\x04.")
    with pytest.raises(NothingReadable, match=r"rewards\.pkl is pickled and never opened"):
        read(tmp_path)


@pytest.mark.parametrize("shape", ["Epoch {n}: loss 0.3 f1 score: {r}", "episode: {n}/80, cost: {r}, loss: 0.2"])
def test_other_scores_and_costs_are_no_returns(training: Training, tmp_path: Path, shape: str) -> None:
    (tmp_path / "train.log").write_text(printed(training, shape))
    assert read(tmp_path).returns is None
