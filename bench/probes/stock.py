"""What the recorded seeds of stock algorithms come to: verdicts by the full rule, and the cost of the ladder."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from statistics import mean
from typing import Any

from bench.probes import false_alarms
from rlclinic.probes.ladder import LADDER
from rlclinic.probes.verdict import AGREE, QUICK, decide

Rows = list[Mapping[str, Any]]


def stock_verdicts() -> dict[str, dict[str, str]]:
    """Trainer -> case -> verdict, where the recorded seeds suffice for one."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    exact = {probe.code for probe in LADDER if probe.exact}
    for (trainer, code, case), rows in _groups().items():
        right = wrong = 0
        for row in rows:
            right, wrong = right + row["passed"], wrong + (not row["passed"])
            verdict = decide(right, wrong, exact=code in exact)
            if verdict is not None:
                found[trainer][f"{code} {case}"] = verdict
                break
    return dict(found)


def stock_costs(trainer: str) -> dict[str, tuple[float, int]]:
    """CPU seconds of the preflight and of the whole ladder where every case passes, with the cases recorded."""
    costs = {}
    for name, seeds in (("preflight", QUICK), ("ladder", AGREE)):
        probes = {probe.code: probe for probe in LADDER if probe.preflight or name == "ladder"}
        cases = {key: rows for key, rows in _groups().items() if key[0] == trainer and key[1] in probes}
        total = sum(
            mean(row["cpu_seconds"] for row in rows) * (1 if probes[key[1]].exact else seeds)
            for key, rows in cases.items()
        )
        costs[name] = (total, len(cases))
    return costs


@cache
def _groups() -> Mapping[tuple[str, str, str], Rows]:
    """The seeds of every case in its newest form, in order."""
    rows = sorted(false_alarms.rows(), key=lambda row: int(row["seed"]))
    newest = {(row["trainer"], row["code"], row["case"]): row["digest"] for row in false_alarms.rows()}
    found: dict[tuple[str, str, str], Rows] = defaultdict(list)
    for row in rows:
        key = (row["trainer"], row["code"], row["case"])
        if row["digest"] == newest[key] and "error" not in row:
            found[key].append(row)
    return found
