"""What the treatments come to: shares of repaired configurations, and of treatments that did harm."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.repair.run import BASELINES, PATIENTS
from bench.repair.tasks import tasks
from bench.repair.treatment import HARM, HEALTHY_SEEDS, RESTORED

Lines = Sequence[Mapping[str, Any]]
NAMES = ("task", "fault", "seed")
"""Of a patient."""


@dataclass(frozen=True, slots=True)
class Case:
    """One faulty configuration: mean levels over its seeds."""

    task: str
    fault: str
    known: bool
    fresh: bool
    seeds: int
    faulty: float
    first: float
    """After the first prescription, where that is a change of the config; else as it was."""
    change: float
    """After the first change of the config that is advised, wherever it stands."""
    rounds: float
    """After at most three rounds."""
    reset: float
    slower: float

    @property
    def valid(self) -> bool:
        """Whether the fault does any damage."""
        return self.faulty < RESTORED


@dataclass(frozen=True, slots=True)
class Harm:
    """How often a change made things worse."""

    treatments: int
    on_healthy: int
    """Of those, on runs at a healthy level."""
    seen: int
    """Fell by more than the margin on the seed that was treated."""
    confirmed: int
    """Did so on the mean with two further seeds."""


def patients() -> list[dict[str, Any]]:
    """The last record of every patient on the seeds of the benchmark."""
    return [line for line in _own() if line["seed"] in HEALTHY_SEEDS]


def held_out() -> list[dict[str, Any]]:
    """The same on further seeds, of which no run was looked at."""
    return [line for line in _own() if line["seed"] not in HEALTHY_SEEDS]


def strangers() -> list[dict[str, Any]]:
    """The first record of every patient on strangers' terms: a later look would not be one."""
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for line in _lines(PATIENTS):
        if line["task"] in tasks() and tasks()[line["task"]].is_stranger:
            found.setdefault(tuple(line[name] for name in NAMES), line)
    return list(found.values())


def _own() -> list[dict[str, Any]]:
    return [line for line in _last(PATIENTS, NAMES) if not tasks()[line["task"]].is_stranger]


def baselines() -> list[dict[str, Any]]:
    """The last record of every baseline."""
    return _last(BASELINES, ("what", "task", "fault", "seed"))


def cases(lines: Lines, others: Lines) -> list[Case]:
    """Every faulty configuration with its means."""
    found = []
    for name, task in tasks().items():
        for fault in task.faults:
            mine = [line for line in lines if (line["task"], line["fault"]) == (name, fault)]
            rivals = [line for line in others if (line["task"], line["fault"]) == (name, fault)]
            if mine:
                found.append(
                    Case(
                        task=name,
                        fault=fault,
                        known=task.known,
                        fresh=task.fresh,
                        seeds=len(mine),
                        faulty=_mean([line["level"] for line in mine]),
                        first=_mean([first_level(line) for line in mine]),
                        change=_mean([change_level(line) for line in mine]),
                        rounds=_mean([last_level(line) for line in mine]),
                        reset=_mean([line["level"] for line in rivals if line["what"] == "reset"]),
                        slower=_mean([line["level"] for line in rivals if line["what"] == "slower"]),
                    )
                )
    return found


def first_level(line: Mapping[str, Any]) -> float:
    """The level after the leading prescription, if that could be applied."""
    first = line["rounds"][0]
    return float(first["after"] if first["applied"] == 0 else line["level"])


def change_level(line: Mapping[str, Any]) -> float:
    """The level after the first change that was advised."""
    return float(line["rounds"][0]["after"])


def last_level(line: Mapping[str, Any]) -> float:
    """The level at the end: a user keeps the best of the runs, which is the last unless a round made it worse."""
    return float(max(line["level"], *(item["after"] for item in line["rounds"])))


def harm(lines: Lines) -> Harm:
    """Over every treatment of every round, clean runs included."""
    rounds = [item for line in lines for item in line["rounds"] if item["applied"] is not None]
    return Harm(
        treatments=len(rounds),
        on_healthy=sum(item["before"] >= RESTORED for item in rounds),
        seen=sum(item["after"] < item["before"] - HARM for item in rounds),
        confirmed=sum(_is_harm(item["confirmed"]) for item in rounds),
    )


def share(values: Iterable[float]) -> tuple[int, int]:
    """How many levels count as restored, of how many that are known."""
    measured = [value for value in values if math.isfinite(value)]
    return sum(value >= RESTORED for value in measured), len(measured)


def interval(hits: int, total: int) -> tuple[float, float]:
    """Wilson's 95% interval of a share."""
    if not total:
        return 0.0, 1.0
    z, p = 1.96, hits / total
    centre = (p + z * z / (2 * total)) / (1 + z * z / total)
    half = z * math.sqrt(p * (1 - p) / total + z * z / (4 * total * total)) / (1 + z * z / total)
    return max(0.0, centre - half), min(1.0, centre + half)


def _is_harm(levels: Sequence[float] | None) -> bool:
    return levels is not None and levels[1] < levels[0] - HARM


def _last(path: Path, names: tuple[str, ...]) -> list[dict[str, Any]]:
    found = {tuple(line[name] for name in names): line for line in _lines(path)}
    return [line for line in found.values() if line["fault"] in ("", *tasks()[line["task"]].faults)]


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    for text in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        try:
            yield json.loads(text)
        except ValueError:
            # A line that a killed run left half written.
            continue


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else math.nan
