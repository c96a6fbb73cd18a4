"""`python -m bench.imitation [NAME ...] [--seeds N] [--minutes M] [--report]`: variants of DAgger, and planted faults.

Every variant learns three tasks from rules of thumb that solve them, over the same steps and without an early end, so
that labels can be counted until the goal and in all. Faults are planted in the same runs. Each run is trained, read and
diagnosed once; what it showed is a line of bench/imitation.jsonl. It can be stopped and goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median
from typing import Any

import numpy as np

from bench.offline.score import FINE

RECORD = Path(__file__).with_suffix(".jsonl")
PAGE = Path(__file__).parents[1] / "docs" / "benchmarks" / "imitation.md"
VARIANTS = ("bc", "dagger", "safe-dagger", "ensemble-dagger", "lazy-dagger", "gated-dagger")
# Evaluations at the end that say where a run ended.
LAST = 3
HEAD = """# Learning from an expert: variants and planted faults

`python -m bench.imitation` trains and diagnoses the runs, `python -m bench.imitation --report` writes this page. The
experts are rules of thumb in that file. A run takes twelve rounds, of 50 steps on CartPole and Acrobot and of 200 on
Pendulum, all other settings are the defaults, and none ends early. The goal is 90% of the way from a random policy to
the expert. **In-sample**: after a look at LazyDAgger on Acrobot, which was accused of an expert that cannot be
imitated, the labels of neighbouring states are compared from 200 labels on only.
"""
LABELS = """
## Labels until the goal

What was expected: DAgger asks about every step, and variants with a gate come to the goal with fewer labels. "Labels to
it" is what was asked until the first evaluation at the goal; "end" is the mean of the last three evaluations. Medians
of the seeds.

| task | variant | seeds | at the goal | labels to it | labels in all | ends there | end | expert | first causes |
|---|---|---|---|---|---|---|---|---|---|"""
FAULTY = """
## Planted faults

The faults are those of the rules' own fixtures, one run each on Pendulum, but for the imitator that does not see the
speed; the limits were set there. A fault did no harm where the run ends at the goal all the same.

| task | fault | seeds | no harm | right cause first | first causes |
|---|---|---|---|---|---|"""


@dataclass(frozen=True)
class Task:
    """An environment, its expert in this module, and the steps of a round."""

    environment: str
    expert: str
    n_steps: int
    rounds: int = 12


@dataclass(frozen=True)
class Fault:
    """What is changed in a run of DAgger, or of another algorithm, and the causes that are right."""

    causes: tuple[str, ...]
    settings: tuple[str, ...]
    algorithm: str = "dagger"


TASKS = {
    "cartpole": Task("CartPole-v1", "balance", 50),
    "acrobot": Task("Acrobot-v1", "pump", 50),
    "pendulum": Task("Pendulum-v1", "swing_up", 200),
}
# As planted in tests/fixtures/make/fault_runs.yaml, where the rules were made with a look at one run each on Pendulum.
FAULTS: Mapping[str, Fault] = {
    "two-annotators": Fault(("expert-inconsistent",), ("expert_inconsistency=0.33",)),
    "last-round": Fault(("aggregation-schedule-wrong",), ("aggregate=false",)),
    "rare-fits": Fault(("aggregation-schedule-wrong",), ("retrain_every=6",)),
    "led": Fault(("mixing-decays-wrong", "covariate-shift-accumulates"), ("beta_schedule=constant", "beta_decay=0.95")),
    "few-labels": Fault(("expert-queries-too-few",), ("query_budget={n_steps}", "warm_start=true")),
    "hasty": Fault(
        ("aggregate-underfit", "learning-rate-too-low", "too-few-updates"), ("n_epochs=1", "learning_rate=1e-4")
    ),
    "cloned": Fault(("covariate-shift-accumulates",), (), "bc"),
}


def balance(observation: Any) -> int:
    """CartPole: push towards where the pole leans; 500 in every episode."""
    position, speed, angle, turn = observation
    return int(0.1 * position + 0.3 * speed + 3.0 * angle + turn > 0)


def pump(observation: Any) -> int:
    """Acrobot: torque in the direction in which the lower link turns; about -80, rarely a whole episode."""
    return int(np.sign(observation[5])) + 1


def swing_up(observation: Any) -> list[float]:
    """Pendulum: bring the energy to that of the upright pole, then hold it; about -140."""
    cosine, sine, speed = (float(value) for value in observation)
    if cosine > 0.85:
        torque = -12.0 * float(np.arctan2(sine, cosine)) - 3.0 * speed
    else:
        lacks_energy = speed * speed / 6.0 + 5.0 * (cosine - 1.0) < 0.0
        torque = 2.0 if (speed >= 0.0) == lacks_energy else -2.0
    return [float(np.clip(torque, -2.0, 2.0))]


def runs() -> list[str]:
    """Names of all runs of a seed: TASK/VARIANT, then TASK/FAULT."""
    return [f"{task}/{what}" for kinds in (VARIANTS, FAULTS) for task in TASKS for what in kinds]


def measured(name: str, seed: int) -> dict[str, Any]:
    """Train, read and diagnose one run."""
    from rlclinic.engine import diagnose
    from rlclinic.lab.imitation.asking import imitation_recipe
    from rlclinic.lab.train import train
    from rlclinic.readers.open import read

    task, what = TASKS[name.partition("/")[0]], name.partition("/")[2]
    fault = FAULTS.get(what)
    settings = [setting.format(n_steps=task.n_steps) for setting in (fault.settings if fault else ())]
    settings += [f"n_steps={task.n_steps}", f"total_steps={task.rounds * task.n_steps}", f"seed={seed}"]
    began = time.process_time()
    algorithm = fault.algorithm if fault else what
    recipe = imitation_recipe(task.environment, f"bench.imitation:{task.expert}", algorithm, settings)
    with tempfile.TemporaryDirectory() as root:
        run = read(train(recipe.with_changes({"stop_at_threshold": False}), root))
    found = diagnose(run)
    series, first = run.series, found.causes[0]
    returns = series["return/eval"]
    asked = dict(zip(series["imitation/queries"].steps, series["imitation/queries"].values, strict=True))
    return {
        "name": name, "seed": seed, "goal": recipe.threshold, "expert": recipe.number("expert_return"),
        "steps": returns.steps.tolist(), "returns": np.round(returns.values, 2).tolist(),
        "queries": [int(asked[step]) for step in returns.steps], "verdict": found.verdict, "cause": first.id,
        "probability": round(first.probability, 3), "cpu": round(time.process_time() - began, 1),
    }  # fmt: skip


def record(names: Iterable[str], seeds: int, minutes: float) -> None:
    """Train what is missing, until so many CPU minutes are used."""
    known = {(row["name"], row["seed"]) for row in recorded()}
    wanted = [(name, seed) for seed in range(seeds) for name in names if (name, seed) not in known]
    for name, seed in wanted:
        if time.process_time() > 60.0 * minutes:
            return
        row = measured(name, seed)
        with RECORD.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        print(name, seed, row["queries"][-1], row["returns"][-LAST:], row["cause"], row["cpu"], flush=True)


def recorded() -> list[dict[str, Any]]:
    """What is recorded."""
    lines = RECORD.read_text(encoding="utf-8").splitlines() if RECORD.exists() else []
    return [json.loads(line) for line in lines]


def report() -> str:
    """The page of what is recorded."""
    rows = recorded()
    healthy = [row for row in rows if not _fault(row) and _reached(row)]
    faulty = [row for row in rows if _fault(row)]
    harmful = [row for row in faulty if not _reached(row)]
    alarms = [row for row in healthy if row["cause"] not in FINE]
    verdicts = ["", f"{len(healthy)} runs without a fault end at the goal: {len(alarms)} false alarms."]
    parts = [LABELS, *_label_lines(rows), "", *_orders(rows)]
    if faulty:
        verdicts.append(
            f"{len(faulty)} runs with a fault, of which {len(faulty) - len(harmful)} did no harm: right cause first in "
            f"{sum(map(_right, faulty))}, in {sum(map(_right, harmful))} of the {len(harmful)} that did."
        )
        parts += [FAULTY, *_fault_lines(rows)]
    return HEAD + "\n".join([*verdicts, *parts]) + "\n"


def _orders(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Which variants came to the goal with fewer labels than DAgger, by task."""
    found = {
        name: median(asked)
        for name, own in _by_name(rows, VARIANTS)
        if len(asked := [labels for row in own if (labels := _labels_to_goal(row)) is not None]) == len(own)
    }
    for task in TASKS:
        plain = found.get(f"{task}/dagger", float("inf"))
        fewer = [what for what in VARIANTS if found.get(f"{task}/{what}", float("inf")) < plain]
        yield f"- {task}: fewer labels than DAgger to the goal, on all seeds there: {', '.join(fewer) or 'none'}"


def _label_lines(rows: list[dict[str, Any]]) -> Iterator[str]:
    for name, own in _by_name(rows, VARIANTS):
        first = [asked for row in own if (asked := _labels_to_goal(row)) is not None]
        to_goal = f"{median(first):g}" if first else "-"
        cells = [
            str(len(own)), str(len(first)), to_goal, f"{median(row['queries'][-1] for row in own):g}",
            str(sum(map(_reached, own))), f"{median(map(_end, own)):.4g}",
            f"{median(row['expert'] for row in own):.4g}", _causes(own),
        ]  # fmt: skip
        yield f"| {' | '.join([*name.split('/'), *cells])} |"


def _fault_lines(rows: list[dict[str, Any]]) -> Iterator[str]:
    for name, own in _by_name(rows, FAULTS):
        cells = [str(len(own)), str(sum(map(_reached, own))), str(sum(map(_right, own))), _causes(own)]
        yield f"| {' | '.join([*name.split('/'), *cells])} |"


def _causes(rows: list[dict[str, Any]]) -> str:
    return ", ".join(f"{cause} {count}" for cause, count in Counter(row["cause"] for row in rows).most_common())


def _by_name(rows: list[dict[str, Any]], kinds: Iterable[str]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    for name in (f"{task}/{what}" for task in TASKS for what in kinds):
        if own := [row for row in rows if row["name"] == name]:
            yield name, own


def _labels_to_goal(row: dict[str, Any]) -> int | None:
    pairs = zip(row["queries"], row["returns"], strict=True)
    return next((asked for asked, found in pairs if found >= row["goal"]), None)


def _end(row: dict[str, Any]) -> float:
    return fmean(row["returns"][-LAST:])


def _reached(row: dict[str, Any]) -> bool:
    return _end(row) >= row["goal"]


def _fault(row: dict[str, Any]) -> Fault | None:
    return FAULTS.get(row["name"].partition("/")[2])


def _right(row: dict[str, Any]) -> bool:
    fault = _fault(row)
    return fault is not None and row["cause"] in fault.causes


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--minutes", type=float, default=60.0, help="CPU minutes after which no further run begins")
    parser.add_argument("--report", action="store_true", help="write the page of what is recorded")
    told = parser.parse_args()
    if told.report:
        PAGE.write_text(report(), encoding="utf-8")
    else:
        record(told.names or runs(), told.seeds, told.minutes)
