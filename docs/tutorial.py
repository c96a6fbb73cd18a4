"""A newcomer with twelve messy runs: trains them, asks about each, checks the answer and writes docs/tutorial.md.

    OMP_NUM_THREADS=1 python docs/tutorial.py

Everything is real: Stable-Baselines3 trains on one core for a few seconds each, and the command line is asked. An
answer that is not as expected fails the script, so the page stays true.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
import traceback
from collections.abc import Callable
from contextlib import chdir
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from click.testing import CliRunner
from stable_baselines3 import A2C, DQN, PPO
from stable_baselines3.common.logger import configure
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv

from rlclinic.apps.cli.main import app

PAGE = Path(__file__).parent / "tutorial.md"
STEPS = 6_000


@dataclass(frozen=True)
class Case:
    """One run, how it came about, and what the answer must say."""

    name: str
    story: str
    make: Callable[[Path], None]
    expect: tuple[str, ...]
    """Patterns that the answer must match."""
    never: tuple[str, ...] = ("Nothing needs to change", "language.model", "is healthy")
    asked: tuple[str, ...] = ()
    """Further words of the command."""


class Deaf(gymnasium.Wrapper[Any, Any, Any, Any]):
    """A task of one's own in which actions change nothing."""

    def step(self, action: Any) -> Any:
        return self.env.step(self.env.action_space.sample())


class Breaks(gymnasium.Wrapper[Any, Any, Any, Any]):
    """A simulator that dies after a while."""

    left = 2_000

    def step(self, action: Any) -> Any:
        self.left -= 1
        if not self.left:
            raise RuntimeError("simulator lost its connection")
        return self.env.step(action)


def cartpole(folder: Path | None, wrapper: Callable[[Any], Any] = lambda env: env) -> Any:
    env = wrapper(gymnasium.make("CartPole-v1"))
    env.action_space.seed(0)
    return env if folder is None else Monitor(env, str(folder / "monitor.csv"))


def train(
    algorithm: Any, env: Any, folder: Path, formats: tuple[str, ...] = ("csv",), steps: int = STEPS, **settings: Any
) -> None:
    model = algorithm("MlpPolicy", env, seed=1, device="cpu", **settings)
    model.set_logger(configure(str(folder), list(formats)))
    try:
        model.learn(steps, log_interval=1 if algorithm is not DQN else 4)
    finally:
        model.logger.close()
        env.close()


@cache
def too_fast() -> Path:
    """One training with a learning rate of 0.5 and all its logs; what is asked about keeps one of them."""
    folder = Path(tempfile.mkdtemp())
    train(PPO, cartpole(folder), folder, ("csv", "log"), learning_rate=0.5, n_steps=256, batch_size=64)
    return folder


def kept(name: str) -> Callable[[Path], None]:
    return lambda folder: shutil.copy(too_fast() / name, folder / name) and None


def crash(folder: Path) -> None:
    try:
        train(PPO, cartpole(folder, Breaks), folder, n_steps=256, batch_size=64)
    except RuntimeError:
        (folder / "train.log").write_text(traceback.format_exc(), encoding="utf-8")


def empty(folder: Path) -> None:
    (folder / "events.out.tfevents.1700000000.host.1.0").write_bytes(b"")


def two_algorithms(folder: Path) -> None:
    for algorithm, name in ((A2C, "a2c"), (DQN, "dqn")):
        train(algorithm, Monitor(gymnasium.make("CartPole-v1")), folder / "tmp", steps=2_500)
        shutil.move(folder / "tmp" / "progress.csv", folder / f"{name}.csv")
        shutil.rmtree(folder / "tmp")


def with_script(folder: Path) -> None:
    (folder / "train.py").write_text(
        "import gymnasium\nfrom stable_baselines3 import PPO\n\n"
        "model = PPO('MlpPolicy', gymnasium.make('CartPole-v1'), ent_coef=1.0, n_steps=256, batch_size=64)\n"
        f"model.learn({STEPS})\n",
        encoding="utf-8",
    )
    train(PPO, cartpole(folder), folder, ent_coef=1.0, n_steps=256, batch_size=64)


FIVE = (r"Verdict ", r"Cause ", r"Change |Test first ", r"If not that ", r"How sure ")
TASK = ("--env", "CartPole-v1", "--algo", "PPO")
CASES = (
    Case("ppo-csv", "PPO with a learning rate of 0.5, logged with SB3's csv logger.",
         kept("progress.csv"),
         (*FIVE, r"learning-rate-too-high", r"Lower learning_rate"), asked=TASK),
    Case("ppo-monitor", "The same training, of which only monitor.csv was kept: single episodes from the first on, "
         "where the other logs have means over many. No setting is in it, so that no cause can be named.",
         kept("monitor.csv"),
         (*FIVE, r"(Not learning|Collapsed):", r"First ideas?:[^.]*learning-rate-too-high"), asked=TASK),
    Case("ppo-console", "The same training, of which only the console output was kept.", kept("log.txt"),
         (*FIVE, r"learning-rate-too-high"), asked=TASK),
    Case("dqn-late", "DQN that begins to learn after its budget ends.",
         lambda at: train(DQN, cartpole(at), at, steps=5_000, learning_starts=50_000),
         (*FIVE, r"(Not learning|Misconfigured|Cannot be judged yet):"),
         asked=("--env", "CartPole-v1", "--algo", "DQN")),
    Case("no-return", "PPO on an environment without Monitor, so that no return is logged.",
         lambda at: train(PPO, DummyVecEnv([lambda: cartpole(None)]), at, n_steps=256, batch_size=64),
         (*FIVE, r"Cannot be judged yet: training metrics are logged, but no return", r"return-not-logged")),
    Case("crashed", "PPO whose simulator died; the traceback is in train.log.", crash,
         (*FIVE, r"Crashed:", r"simulator lost its connection"), asked=TASK),
    Case("empty", "A TensorBoard folder with an empty event file.", empty,
         (*FIVE, r"Cannot be judged yet: no metric was logged")),
    Case("ppo-random", "PPO with an entropy bonus of 1, and the training script beside it.", with_script,
         (*FIVE, r"[Ll]ower ent_coef|entropy-bonus-too-high"), asked=("--config", "train.py", "--env", "CartPole-v1")),
    Case("short", "A2C as it comes, stopped after a few thousand steps.",
         lambda at: train(A2C, cartpole(at), at, steps=5_000),
         FIVE, asked=("--env", "CartPole-v1", "--algo", "A2C")),
    Case("my-env", "PPO with a wrapper of one's own in which actions change nothing; the command names nothing but the run.",
         lambda at: train(PPO, cartpole(at, Deaf), at, n_steps=256, batch_size=64), FIVE),
    Case("own-goal", "PPO with a short horizon, compared with a goal that the user sets.",
         lambda at: train(PPO, cartpole(at), at, gamma=0.1, n_steps=256, batch_size=64),
         (*FIVE, r"475"), asked=(*TASK, "--goal", "475")),
    Case("two", "Two CSV files of different algorithms in one folder.", two_algorithms,
         (r"2 runs: ", r"a2c", r"dqn")),
)  # fmt: skip


def ask(case: Case) -> str:
    """What the command line answers, in the folder of the runs."""
    words = [case.name, *(f"{case.name}/{word}" if word == "train.py" else word for word in case.asked)]
    result = CliRunner().invoke(app, [*words, "--brief"], prog_name="rlclinic")
    answer = result.stdout
    flat = " ".join(answer.split())
    missing = [pattern for pattern in case.expect if not re.search(pattern, flat)]
    said = [pattern for pattern in case.never if re.search(pattern, flat)]
    if missing or said:
        problems = f"missing {missing}, must not be said {said}"
        sys.exit(f"{case.name}: {problems}\n\n{answer}\n{result.stderr} {result.exception}")
    return f"$ rlclinic {' '.join(words)} --brief\n{answer}"


def page(folder: Path) -> str:
    parts, verdicts = [HEAD], {}
    with chdir(folder):
        for case in CASES:
            place = Path(case.name)
            place.mkdir()
            np.random.seed(0)
            case.make(place)
            for file in place.rglob("*"):
                # Ended an hour ago: what was written just now may still go on.
                os.utime(file, (file.stat().st_mtime - 3600,) * 2)
            answer = ask(case)
            sys.stderr.write(f"{case.name}\n")
            verdicts[case.name] = re.findall(r"Verdict +(.*?):", answer)
            parts.append(f"## {case.name}\n\n{case.story}\n\n```\n{answer.rstrip()}\n```\n")
        if verdicts["ppo-csv"] != verdicts["ppo-console"]:
            sys.exit(f"the same table has different verdicts: {verdicts}")
        shutil.rmtree("two")
        overview = CliRunner().invoke(app, ["."], prog_name="rlclinic").stdout
        story = "A folder of runs gives one line for each, the worst first."
        parts.append(f"## All of them\n\n{story}\n\n```\n$ rlclinic .\n{overview}```\n")
    return "\n".join([*parts, TAIL])


HEAD = """# Tutorial: twelve messy runs

Made by docs/tutorial.py, which trains these runs with Stable-Baselines3, asks about each, and fails where an answer is
not as expected. `pip install rlclinic` is all that asking needs.

Every answer has the same lines: the verdict with its reason, the leading cause with the facts that carry it, the change
with the command that applies it and the one that proves it, what to do if it is not that, and how sure that is.
Without `--brief` what it rests on follows below; `-v` shows everything.
"""
TAIL = """## Where to go from here

- `rlclinic fix RUN` shows the change in your own file, `--write` makes it: [fix](fix.md).
- `rlclinic trial RUN` trains with and without the change, on the same seeds: [trials](trials.md).
- `rlclinic diagnose --help`, and every option: [diagnose](diagnose.md).
"""

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        PAGE.write_text(page(Path(made)), encoding="utf-8")
