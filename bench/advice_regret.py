"""`python -m bench.advice_regret [--seeds N] [--most N] [--report]`: what advised settings cost.

For each pair of environment and algorithm one setting at a time is swept over the advised value, what the rules say
where the environment is not known, the library's default and values around them; the other settings are known to work.
The best of the sweep, the advised value and the default are then trained on as many fresh seeds. Regret is how far a
value stays behind the best, as a share of the way from random to the best. It can be stopped and goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from rlclinic.advisor.advise import advise
from rlclinic.reference.reference_configs import reference_config
from rlclinic.reference.tasks import task_of

RECORD = Path(__file__).with_name("advice_regret.jsonl")
PAGE = Path(__file__).parents[1] / "docs" / "benchmarks" / "advice.md"
PAIRS: Mapping[tuple[str, str], int] = {
    ("CartPole-v1", "PPO"): 8_000,
    ("CartPole-v1", "A2C"): 15_000,
    ("Acrobot-v1", "PPO"): 40_000,
    ("Acrobot-v1", "A2C"): 40_000,
    ("CartPole-v1", "DQN"): 8_000,
    ("Pendulum-v1", "PPO"): 25_000,
}
"""Environment and algorithm -> env steps of a run: small, so that settings differ in how fast they learn."""
QUESTIONS = ("learning-rate", "batch-size", "discount")
FRESH = 100
"""First of the seeds that no sweep uses."""
EPISODES = 10


class Enough(Exception):  # noqa: N818 - reads as what it is
    """As many runs are trained as were asked for."""


left: list[int] = []
"""Runs that may still be trained, where the caller set a limit."""
GOAL, SHARE = 0.2, 0.8
LEARNED = 0.1
"""Share of the way from random to the target that the best value must have come for a case to count."""
ACTIONS = {"CartPole-v1": "discrete", "Acrobot-v1": "discrete", "Pendulum-v1": "box"}


def candidates(environment: str, algorithm: str, question: str) -> tuple[str, dict[str, float]]:
    """The setting and its values: advised, by rules alone, the default, and some around the advised one."""
    advised = advise(question, environment=environment, algorithm=algorithm).values[0]
    facts = {"task.action": ACTIONS[environment], "task.obs": "vector", "task.horizon": 200}
    alone = [value for value in advise(question, facts, algorithm=algorithm).values if value.key == advised.key]
    found = {"advised": advised.start, "default": advised.default if advised.default is not None else advised.start}
    found["rules"] = alone[0].start if alone else found["default"]
    if question == "discount":
        found |= {"low": 0.9, "high": 0.999}
    else:
        found |= {"low": advised.start / 4.0, "high": advised.start * 4.0}
    if question == "batch-size":
        found = {name: float(max(2, round(value))) for name, value in found.items()}
    return advised.key, found


def trained(environment: str, algorithm: str, changes: Mapping[str, float], seed: int) -> float:
    """The mean return of the policy at the end of a run."""
    from rlclinic.lab.evaluation import evaluate
    from rlclinic.lab.instruments.episodes import EpisodeLog
    from rlclinic.lab.recipe import Recipe
    from rlclinic.lab.sb3.model import build_model, policy_function

    settings = {**reference_config(environment, algorithm), **changes}
    if algorithm == "PPO":
        # A minibatch is at most the rollout.
        rollout = int(settings["n_steps"]) * int(settings.get("n_envs", 1))
        settings["batch_size"] = min(int(settings["batch_size"]), rollout)
    for key in ("batch_size", "n_steps"):
        if key in settings:
            settings[key] = int(settings[key])
    recipe = Recipe("sb3", algorithm, environment, PAIRS[environment, algorithm], hyperparameters=settings, seed=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = build_model(recipe, EpisodeLog())
        model.learn(recipe.total_steps)
    return evaluate(recipe, policy_function(model, deterministic=True), episodes=EPISODES, seed=seed).mean


def lines() -> list[dict[str, Any]]:
    """What is recorded."""
    if not RECORD.exists():
        return []
    return [json.loads(line) for line in RECORD.read_text(encoding="utf-8").splitlines()]


def measured(environment: str, algorithm: str, key: str, value: float, seed: int) -> float:
    """The return of a run, from the record or trained now."""
    wanted = {"env": environment, "algorithm": algorithm, "key": key, "value": value, "seed": seed}
    base = reference_config(environment, algorithm).get(key)
    if base is not None and float(base) == value:
        # The known-good setting is one run, whichever setting is swept.
        wanted |= {"key": "", "value": 0.0}
    for line in lines():
        if all(line[name] == told for name, told in wanted.items()):
            return float(line["return"])
    if left and not left[0]:
        raise Enough
    left[:1] = [left[0] - 1] if left else []
    began = time.process_time()
    found = trained(environment, algorithm, {key: value}, seed)
    line = {**wanted, "return": round(found, 3), "cpu": round(time.process_time() - began, 2)}
    with RECORD.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
    return found


def cases(seeds: int) -> Iterator[dict[str, Any]]:
    """Every sweep whose runs are recorded or may be trained, one question after the other."""
    for question in QUESTIONS:
        for environment, algorithm in PAIRS:
            with suppress(Enough):
                yield _case(environment, algorithm, question, seeds)


def _case(environment: str, algorithm: str, question: str, seeds: int) -> dict[str, Any]:
    """A sweep with its fresh measurements."""
    task = task_of(environment)
    assert task is not None
    assert task.random_mean is not None
    key, values = candidates(environment, algorithm, question)

    def mean(value: float, first: int) -> float:
        return float(np.mean([measured(environment, algorithm, key, value, first + at) for at in range(seeds)]))

    swept = {value: mean(value, 0) for value in sorted(set(values.values()))}
    best = max(swept, key=lambda value: swept[value])
    again = {value: mean(value, FRESH) for value in {best, values["advised"], values["default"], values["rules"]}}
    top = max(again.values())
    way = max(top - task.random_mean, 1e-9)
    regret = {name: (top - again[values[name]]) / way for name in ("advised", "rules", "default")}
    if task.target is not None and way < LEARNED * (task.target - task.random_mean):
        # Where no value learned anything, none can be behind.
        regret = dict.fromkeys(regret, float("nan"))
    return {"env": environment, "algorithm": algorithm, "question": question, "key": key, "values": values,
            "best": best, "top": top, "regret": regret}  # fmt: skip


def report(found: list[dict[str, Any]], seeds: int) -> str:
    """The page."""
    rows = [
        "| environment, algorithm | setting | best | advised | by rules alone | default |",
        "|---|---|---|---|---|---|",
    ]
    for case in found:
        cells = [f"{case['values'][name]:.4g}: {case['regret'][name]:.2f}" for name in ("advised", "rules", "default")]
        rows.append(
            f"| {case['env']}, {case['algorithm']} | {case['key']} | {case['best']:.4g} ({case['top']:.4g}) | "
            + " | ".join(cells)
            + " |"
        )
    found = [case for case in found if case["regret"]["advised"] == case["regret"]["advised"]]
    within = {name: sum(case["regret"][name] <= GOAL for case in found) for name in ("advised", "rules", "default")}
    every = len(PAIRS) * len(QUESTIONS)
    word = "reached" if within["advised"] >= SHARE * len(found) else "not reached"
    if len(found) < every:
        word = f"not decided: {len(found)} of {every} cases are measured and learned anything"
    told = lines()
    return "\n".join(
        [
            "# What advised settings cost",
            "",
            f"Made by `python -m bench.advice_regret` from {len(told)} runs "
            f"({sum(line['cpu'] for line in told) / 60:.0f} CPU minutes). One setting at a time is swept, the others",
            "are known to work on the task. Regret is the share of the way from random to the best by which a value",
            f"stays behind, on {seeds} seeds that no sweep used; the best is the best value on those. Cells are",
            "value and regret.",
            "",
            *rows,
            "",
            f"Regret at most {GOAL}: advised {within['advised']} of {len(found)}, by rules alone {within['rules']}, "
            f"the library's default {within['default']}.",
            f"The goal of {SHARE:.0%} for the advised value is {word}.",
            "",
            'The advised value of these tasks is the one of a published configuration that is known to work; "by rules',
            'alone" is what is advised where the environment is not known. So few seeds are noise: one bad seed is a',
            "large regret, so single rows say little. The budgets are small; advice for long runs is not tested here.",
            "",
        ]
    )


def main() -> None:
    """Entry of the command."""
    parser = argparse.ArgumentParser(prog="python -m bench.advice_regret", description=__doc__)
    parser.add_argument("--seeds", type=int, default=2, help="of the sweep, and as many fresh ones")
    parser.add_argument("--most", type=int, default=10_000, help="runs to train before it stops")
    parser.add_argument("--report", action="store_true", help="write the page from what is recorded")
    asked = parser.parse_args()
    found = []
    left.append(asked.most)
    for case in cases(asked.seeds):
        found.append(case)
        print(case["env"], case["algorithm"], case["question"], case["regret"], flush=True)
    found.sort(key=lambda case: list(PAIRS).index((case["env"], case["algorithm"])))
    if asked.report and found:
        PAGE.write_text(report(found, asked.seeds), encoding="utf-8")


if __name__ == "__main__":
    main()
