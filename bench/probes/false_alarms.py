"""Single seeds of stock SB3 algorithms on every case: how often is a seed wrong, and what does it cost?

`python -m bench.probes.false_alarms --algorithms PPO,DQN --seeds 8 --record seeds.jsonl` goes on where the record ends,
and prints per algorithm the share of wrong seeds and the chance that a probe verdict is a false alarm.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from pathlib import Path

from rlclinic.probes.ladder import LADDER
from rlclinic.probes.load import load_trainer
from rlclinic.probes.portrait import draw_portrait, why_not
from rlclinic.probes.seed_run import Job, run_seed
from rlclinic.probes.verdict import failing_chance

FIRST_SEED = 3000
"""Certification seeds, apart from those of tuning (1000) and of users' runs (5000)."""


def record(algorithms: list[str], seeds: int, path: Path) -> None:
    """Run what the record does not have yet, the first seeds of every case first."""
    done = {tuple(row["key"]) for row in _rows(path)}
    for number in range(seeds):
        for name in algorithms:
            factory = load_trainer(f"sb3:{name}")
            portrait = draw_portrait(factory)
            for probe in LADDER:
                for case in probe.cases:
                    key = (name, probe.code, case.name, number)
                    if key in done or why_not(case, portrait) or (probe.exact and number):
                        continue
                    kind = portrait.actions[0] if case.actions == "any" else case.actions
                    known = {k: v for k, v in case.settings(portrait.family).items() if k not in portrait.unknown}
                    job = Job(probe.code, case.name, FIRST_SEED + number, 0.7, portrait.family, kind, known)
                    began = time.process_time()
                    result = run_seed(case, job, factory)
                    row = {
                        "key": key, "passed": result.passed, "readings": dict(result.readings), "steps": result.steps,
                        "cpu_seconds": time.process_time() - began, "error": result.error, "message": result.message,
                    }  # fmt: skip
                    with path.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(row) + "\n")


def score(path: Path) -> None:
    """Print wrong seeds and cost per algorithm, and every case with a wrong seed."""
    groups: dict[str, list[dict[str, object]]] = defaultdict(list)
    for row in _rows(path):
        groups[row["key"][0]].append(row)
    for name, rows in groups.items():
        wrong = [row for row in rows if not row["passed"]]
        cpu = sum(float(str(row["cpu_seconds"])) for row in rows)
        print(f"{name}: {len(wrong)} of {len(rows)} seeds wrong, {cpu:.0f} s of CPU")
        cases: dict[tuple[str, str], list[bool]] = defaultdict(list)
        for row in rows:
            cases[row["key"][1], row["key"][2]].append(bool(row["passed"]))  # type: ignore[index]
        for (code, case), passed in cases.items():
            if not all(passed):
                share = sum(passed) / len(passed)
                print(f"  {code} {case}: {sum(passed)}/{len(passed)} right, fails with {failing_chance(share):.2g}")


def _rows(path: Path) -> list[dict[str, list[str]]]:
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--algorithms", default="PPO,A2C,DQN,SAC,TD3")
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--record", type=Path, default=Path("probe_seeds.jsonl"))
    given = parser.parse_args()
    record(given.algorithms.split(","), given.seeds, given.record)
    score(given.record)
