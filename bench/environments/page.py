"""The page of the benchmark of environments."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.environments.case import Case
from bench.environments.others import TOOLS
from bench.repair.score import interval as wilson


def page_of(cases: Mapping[str, Case], record: Mapping[str, Mapping[str, Any]]) -> str:
    """The page, from the record of the cases that there is."""
    parts = [*_table(cases, record), "", *_missed(cases, record), *_observed(), *_overhead(), "", *_all(cases, record)]
    return "\n".join([HEAD, _versions(cases, record), "", *parts]) + "\n"


HEAD = """# Environments: what an examination finds

Made by `python -m bench.environments` from `bench/environments/record.jsonl`. Each broken environment has one known
fault. Those called seen were there while the checks were written or changed; the unseen ones
(`bench/environments/unseen.py`) were written after a first freeze, and four of them, which were missed then (28 of 32
had the right cause, 1 of 25 healthy ones an alarm), have since been used to mend checks. **These and the healthy ones
are in-sample now.** The fresh ones (`bench/environments/fresh.py`) and the custom ones, as people write them for their
own problems (`bench/environments/custom.py`, and again `bench/environments/people.py`), were labelled before any
examination. **Their first look is blind**: one examination with the checks as they were, which is kept. Checks were
mended with a look at what they missed there, so how they do now is in-sample. Those of people, again, were written
before the checks were read, and looked at once after four new checks; four faults of the kinds that these look for were
known to be missed before, and three such are among the sixteen. An alarm is a
finding that is a warning or an error; the cause is right if the likeliest one is among those that the case accepts.
Intervals are Wilson's, 95%. A complaint of another checker counts where it is not about style; others name no cause.
Processor seconds were taken on a busy machine.
"""
OBSERVED = """## Groups A and B of the fault benchmark with Observe

`python -m bench.faults.observed record` trained the first seed of every harmful instance of groups A and B and of every
clean base again with `Observe` in its place, `score` diagnosed the recorded runs without and with what it saw, and once
more with the environment's id hidden. **In-sample**: rules about what is observed were changed with a look at them.
"""
COST = """`python -m bench.observe_overhead`: one training of PPO and one of DQN on CartPole-v1, watched in every other
stretch of 512 steps; processor time with over without it in neighbouring stretches less 1, with a 95% interval of the
median by a bootstrap.
"""
OVERHEAD = Path(__file__).parents[1] / "observe_overhead.json"
PARTS = {
    "seen": "seen",
    "unseen": "unseen once",
    "fresh": "fresh",
    "custom": "custom",
    "people": "of people, again",
    "healthy": "healthy",
    "fresh healthy": "fresh healthy",
    "custom healthy": "custom healthy",
    "people healthy": "of people, again, healthy",
}


def _versions(cases: Mapping[str, Case], record: Mapping[str, Mapping[str, Any]]) -> str:
    """How much is recorded, and with which checks."""
    counts = Counter(row["commit"] for row in record.values())
    told = ", ".join(f"{count} with the checks of commit {name}" for name, count in counts.most_common())
    looks = {
        row["first"]["commit"]: cases[name].part.partition(" ")[0] for name, row in record.items() if "first" in row
    }
    first = ", ".join(f"{part} at {commit}" for commit, part in sorted(looks.items(), key=lambda item: item[1]))
    return f"{len(record)} of {len(cases)} cases are recorded: {told}. First looks: {first}."


def _table(cases: Mapping[str, Case], record: Mapping[str, Mapping[str, Any]]) -> list[str]:
    lines = [
        "| environments | measure | first look, blind | now | Gymnasium check_env | SB3 check_env | reward-scope |",
        "|---|---|---|---|---|---|---|",
    ]
    for part, title in PARTS.items():
        rows = [record[name] for name, case in cases.items() if case.part == part and name in record]
        asked = [row for row in rows if set(TOOLS) <= row.keys()]
        others = " | ".join(_share(asked, [bool(row[tool]) for row in asked]) for tool in TOOLS)
        word = "false alarms" if part.endswith("healthy") else "found"
        firsts = [{"name": row["name"], **row["first"]} for row in rows if "first" in row]
        first, own = (_share(them, [_alarm(row) for row in them]) for them in (firsts, rows))
        lines.append(f"| {len(rows)} {title} | {word} | {first} | {own} | {others} |")
        if word == "found":
            first, own = (_share(them, [is_right(cases[row["name"]], row) for row in them]) for them in (firsts, rows))
            lines.append(f"| {len(rows)} {title} | right cause first | {first} | {own} | - | - | - |")
    return lines


def is_right(case: Case, row: Mapping[str, Any]) -> bool:
    """Found, and with the right cause."""
    return _alarm(row) and row["lead"] in case.accepted


def _missed(cases: Mapping[str, Case], record: Mapping[str, Mapping[str, Any]]) -> list[str]:
    now = [line for name, row in record.items() if (line := _wrong(cases[name], row))]
    blind = [line for name, row in record.items() if (line := _wrong(cases[name], {**row, **row.get("first", row)}))]
    then = [line for line in blind if line not in now]
    return [
        "## What goes wrong",
        "",
        *(now or ["Nothing."]),
        "",
        "## What went wrong at the first look alone",
        "",
        *then,
    ]


def _wrong(case: Case, row: Mapping[str, Any]) -> str:
    """What was missed, named wrongly, or alarmed about without reason."""
    wrong = not is_right(case, row) if case.accepted else _alarm(row)
    return f"- {case.name} ({case.part}): {row['lead']} ({', '.join(row['findings']) or 'nothing found'})" * wrong


def _observed() -> list[str]:
    """The runs of the fault benchmark that were trained again with `Observe`."""
    from bench.faults.observed import page_lines

    lines = page_lines()
    return ["", *OBSERVED.splitlines(), "", *lines] if lines else []


def _overhead() -> list[str]:
    """What `Observe` costs."""
    if not OVERHEAD.exists():
        return []
    found = json.loads(OVERHEAD.read_text(encoding="utf-8"))
    told = [
        f"{name} {100 * one['median']:.1f}% ({100 * one['low']:.1f} to {100 * one['high']:.1f}%, {one['pairs']} pairs)"
        + (f"; {100 * one['inside']:.2g}% inside of it, with its clock" if "inside" in one else "")
        for name, one in found.items()
    ]
    return ["", "## What Observe costs", "", *COST.splitlines(), f"Median: {'; '.join(told)}."]


def _all(cases: Mapping[str, Case], record: Mapping[str, Mapping[str, Any]]) -> list[str]:
    lines = [
        "## All cases",
        "",
        "| case | part | likeliest cause | findings | processor seconds |",
        "|---|---|---|---|---|",
    ]
    for name, row in record.items():
        found = ", ".join(row["findings"]) or "none"
        lines.append(f"| {name} | {cases[name].part} | {row['lead']} | {found} | {row['seconds']} |")
    return lines


def _alarm(row: Mapping[str, Any]) -> bool:
    return any(not item.endswith(" info") for item in row["findings"])


def _share(rows: Sequence[Any], hits: Sequence[bool]) -> str:
    if not rows:
        return "-"
    low, high = wilson(sum(hits), len(rows))
    return f"{sum(hits)} of {len(rows)} ({100 * low:.0f}-{100 * high:.0f}%)"
