"""Single seeds of stock algorithms on every case: how often is a seed wrong, and what does it cost?

`python -m bench.probes.false_alarms --trainers sb3:PPO,sb3:DQN --seeds 8` goes on where the record ends, then prints
the right seeds of every case and the chance of a false alarm that follows; `--score` only prints. Budgets and
tolerances are tuned with `--first-seed 1000` and a record elsewhere; the record beside this file holds certification
seeds alone.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.probes.examination import Examination
from bench.probes.subjects import Subject
from rlclinic.probes.ladder import chosen_probes
from rlclinic.probes.seed_run import SeedResult, run_seed
from rlclinic.probes.verdict import failing_chance

RECORD = Path(__file__).parent / "stock_seeds.jsonl"
FIRST_SEED = 3000
"""Certification seeds, apart from those of tuning (1000) and of users' runs (5000)."""
TRAINERS = ("sb3:PPO", "sb3:A2C", "sb3:DQN", "sb3:SAC", "sb3:TD3")
DIGITS = 4


def record(trainers: Sequence[str], only: tuple[str, ...], seeds: Iterable[int], path: Path) -> None:
    """Run what the record does not have yet, one seed of every case before the next seed."""
    done = {_key(row) for row in rows(path)}
    wanted = {(probe.code, case.name) for probe in chosen_probes(only) for case in probe.cases}
    examinations = [Examination(Subject(name, name), quick=False) for name in trainers]
    for place, seed in enumerate(seeds):
        for examination in examinations:
            for probe, case, digest in examination.planned():
                key = (examination.subject.name, probe.code, case.name, digest, seed)
                if key in done or (probe.code, case.name) not in wanted or (probe.exact and place):
                    continue
                began = time.process_time()
                result = run_seed(case, examination.job(probe, case, seed), examination.factory)
                _append(path, _row(key, result, time.process_time() - began))


def score(path: Path) -> list[str]:
    """Right seeds of every case in its newest form, and the chance that its verdict is a false alarm."""
    newest = {_case(row): row["digest"] for row in rows(path)}
    groups: dict[str, dict[str, list[Mapping[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    for row in rows(path):
        if row["digest"] == newest[_case(row)]:
            groups[row["trainer"]][f"{row['code']} {row['case']}"].append(row)
    lines = []
    for trainer, cases in groups.items():
        every = [row for found in cases.values() for row in found]
        right, cpu = sum(row["passed"] for row in every), sum(row["cpu_seconds"] for row in every)
        lines.append(f"{trainer}: {right} of {len(every)} seeds right, {cpu:.0f} s of CPU")
        for name, found in cases.items():
            passed = sum(row["passed"] for row in found)
            alarm = "" if passed == len(found) else f", fails with chance {failing_chance(passed / len(found)):.2g}"
            lines.append(f"  {name}: {passed}/{len(found)}{alarm}")
    return lines


def rows(path: Path = RECORD) -> list[Mapping[str, Any]]:
    """The lines of the record."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def _row(key: tuple[str, str, str, str, int], result: SeedResult, cpu_seconds: float) -> dict[str, Any]:
    trainer, code, case, digest, seed = key
    row: dict[str, Any] = {
        "trainer": trainer, "code": code, "case": case, "digest": digest, "seed": seed, "passed": result.passed,
        "readings": {name: round(value, DIGITS) for name, value in result.readings.items()}, "steps": result.steps,
        "cpu_seconds": round(cpu_seconds, 2),
    }  # fmt: skip
    return row if result.error is None else {**row, "error": f"{result.error}: {result.message}"}


def _append(path: Path, row: Mapping[str, Any]) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")


def _key(row: Mapping[str, Any]) -> tuple[str, str, str, str, int]:
    return row["trainer"], row["code"], row["case"], row["digest"], row["seed"]


def _case(row: Mapping[str, Any]) -> tuple[str, str, str]:
    return row["trainer"], row["code"], row["case"]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trainers", default=",".join(TRAINERS))
    parser.add_argument("--only", action="append", default=[], help="a probe or case (P12, P5.arms); may be repeated")
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--first-seed", type=int, default=FIRST_SEED)
    parser.add_argument("--record", type=Path, default=RECORD)
    parser.add_argument("--score", action="store_true", help="run nothing")
    given = parser.parse_args()
    if not given.score:
        block = range(given.first_seed, given.first_seed + given.seeds)
        record(given.trainers.split(","), tuple(given.only), block, given.record)
    print("\n".join(score(given.record)))
