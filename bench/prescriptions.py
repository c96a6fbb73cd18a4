"""What is prescribed first, and whether it undoes the fault.

`python -m bench.prescriptions [fixtures | faults | fresh | known]`. `fixtures` are the fault runs of the tests: three
shares of the runs whose fault a setting undoes (the first prescription is that change; it is the first change, behind a
test; it is among the three that lead), and the false prescriptions on healthy runs. The others are the recorded runs of
the fault benchmark, with their config or (`--metrics-only`) without: how many prescriptions each gets, what the
leading one acts on, and whom it sends to look at the environment. Nothing is trained.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from rlclinic.causes.catalogue import catalogue
from rlclinic.engine import diagnose
from rlclinic.model.diagnosis import Diagnosis
from rlclinic.model.prescription import Change, Prescription, PrescriptionKind, Priority

RUNS = Path(__file__).parents[1] / "tests" / "fixtures" / "runs"
NAME_WIDTH, TEXT_WIDTH = 30, 70
# Marks of the table, the best first.
FIRST, BEHIND_TEST, LATER, MISSED = "first", "behind a test", "later", "missed"
TREATED, UNTREATED = "treats", "other"
QUIET, ALARM = "quiet", "ALARM"
# Settings that say the same in other words: a change of one undoes a fault in the other.
SAME: Mapping[str, str] = {
    "train_freq": "gradient_steps", "rollout_size": "n_steps", "n_minibatches": "batch_size",
    "autotune_alpha": "ent_coef", "learning_rate_final": "learning_rate_schedule", "target_update_interval": "tau",
    "exploration_steps": "exploration_fraction",
}  # fmt: skip
OPPOSITE = frozenset({"train_freq", "n_minibatches", "target_update_interval"})
"""Those of them that count the other way round."""
# Classes of causes that lie in the environment or its reward.
OF_ENVIRONMENT = frozenset({"no-signal", "reward-design", "environment"})
CLEAN, HARMLESS = "clean runs", "runs with a fault that does no harm"
LOST_MOST = 0.8
"""Lost share of the return from which on a fault must not be called small."""


@dataclass(frozen=True, slots=True)
class Advised:
    """One recorded run with what was advised for it."""

    name: str
    kind: str
    """`settings`, `environment`, `code` or `other`; else what kind of run it is."""
    lost: float
    verdict: str
    advice: tuple[Prescription, ...]
    is_right: bool
    """Whether the leading prescription undoes the fault, or names a cause of it where no setting does."""

    @property
    def lead(self) -> Prescription | None:
        """The leading prescription."""
        return self.advice[0] if self.advice else None

    @property
    def examines(self) -> bool:
        """Whether the leading prescription sends the user to the environment."""
        return self.lead is not None and _examines(self.lead)


def main(arguments: list[str] | None = None) -> dict[str, float]:
    """Print one line per run and the shares; return the shares."""
    parser = argparse.ArgumentParser(prog="python -m bench.prescriptions")
    parser.add_argument("part", nargs="?", choices=("fixtures", "faults", "fresh", "known"), default="fixtures")
    parser.add_argument("--quiet", action="store_true", help="the shares alone")
    parser.add_argument("--metrics-only", action="store_true", help="recorded runs without their config")
    chosen = parser.parse_args(arguments)
    if chosen.part == "fixtures":
        return _fixtures(quiet=chosen.quiet)
    found = list(_recorded(chosen.part, config=not chosen.metrics_only))
    if not chosen.quiet:
        for item in found:
            right = "right" if item.is_right else "-"
            print(
                f"{item.name:52s} {item.lost:5.2f} {item.verdict:14s} {len(item.advice)} {right:6s} {_told(item.lead)}"
            )
    shares = _recorded_shares(found)
    for text, share in shares.items():
        print(f"{text}: {share:.3f}")
    return shares


def _fixtures(*, quiet: bool) -> dict[str, float]:
    undoing = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
    cases = yaml.safe_load((RUNS / "faults" / "cases.yaml").read_text(encoding="utf-8"))
    marks = []
    for case in cases:
        diagnosis = diagnose(RUNS / case["path"])
        name = Path(case["path"]).name
        marks.append(_mark(diagnosis, case, undoing.get(name)))
        if not quiet:
            print(f"{name:{NAME_WIDTH}s} {marks[-1]:14s}{diagnosis.verdict.value:14s} {_lead(diagnosis)}")
    shares = {
        "the first prescription undoes the fault": _share(marks, {FIRST}, {BEHIND_TEST, LATER, MISSED}),
        "the first change undoes the fault, a test may precede": _share(marks, {FIRST, BEHIND_TEST}, {LATER, MISSED}),
        "a leading prescription undoes the fault": _share(marks, {FIRST, BEHIND_TEST, LATER}, {MISSED}),
        "a fault of code or task: a leading prescription treats it": _share(marks, {TREATED}, {UNTREATED}),
        "false prescriptions on healthy runs": _share(marks, {ALARM}, {QUIET}),
    }
    for text, share in shares.items():
        print(f"{text}: {share:.3f}")
    return shares


def _recorded(part: str, *, config: bool) -> Iterator[Advised]:
    """The first seed of every instance that is a fault, and of every one that is none."""
    from bench.faults import shards
    from bench.faults.fresh import part_of
    from bench.faults.labels import labels
    from bench.faults.plan import entries
    from bench.faults.replay import replay

    beside = None if part == "faults" else part_of(part)
    known = beside.entries if beside else entries()
    records = [item for item in shards.latest(beside.folder if beside else shards.FOLDER) if item.name in known]
    found = labels(records, known, seeds=1) if beside else labels(records)
    for record in sorted(records, key=lambda item: item.name):
        entry = known[record.name]
        label = found.get(entry.instance.name)
        if label is None or entry.seed or label.label not in ("fault", "healthy", "benign"):
            continue
        with tempfile.TemporaryDirectory() as place:
            diagnosis = diagnose(replay(record, entry.instance, Path(place), config=config))
        kind, undoing = (
            _planted(entry) if label.label == "fault" else (HARMLESS if entry.instance.injected else CLEAN, {})
        )
        lead = diagnosis.prescriptions[:1]
        right = any(_undoes(item, undoing) or set(item.causes) & label.accepted for item in lead)
        if kind == "environment":
            right = right or any(_examines(item) for item in lead)
        yield Advised(
            name=record.name,
            kind=kind,
            lost=label.lost,
            verdict=diagnosis.verdict.value,
            advice=diagnosis.prescriptions,
            is_right=right,
        )


def _planted(entry: Any) -> tuple[str, dict[str, str]]:
    """Where the fault of a run lies, and which way its settings lead back."""
    from bench.faults.bases import base_of
    from bench.faults.catalogue import faults

    levels = [(faults()[fault], faults()[fault].levels[level]) for fault, level in entry.instance.injected]
    if any(level.wrap for fault, level in levels if fault.group in "AB"):
        return "environment", {}
    if any(level.edits for _, level in levels):
        return "code", {}
    clean, faulty = base_of(entry.instance.base).recipe(0), entry.instance.recipe(0)
    undoing = {}
    for key in {key for _, level in levels for key in level.touched}:
        change = Change(key, key, faulty.get(key), clean.get(key))
        undoing[_plain(key)] = _turned(key, direction_of(change))
    return ("settings", undoing) if undoing else ("other", {})


def _recorded_shares(found: list[Advised]) -> dict[str, float]:
    faulty = [item for item in found if item.kind not in (CLEAN, HARMLESS)]
    counts = Counter(min(len(item.advice), 3) for item in faulty)
    kinds = {
        kind: [item for item in faulty if item.kind == kind] for kind in ("settings", "environment", "code", "other")
    }
    shares = {
        f"{number} prescriptions, of {len(faulty)} faulty runs": counts[number] / len(faulty) for number in range(4)
    }
    shares |= {
        f"the leading one is right, {len(items)} faults of {kind}": _part(items, lambda item: item.is_right)
        for kind, items in kinds.items()
    }
    gross = [item for item in faulty if item.lost >= LOST_MOST]
    urgent = (Priority.CRITICAL, Priority.HIGH)
    shares |= {
        "faults of the environment that are sent to it": _part(kinds["environment"], lambda item: item.examines),
        "faults of settings that are sent to the environment": _part(kinds["settings"], lambda item: item.examines),
        f"high or critical, {len(gross)} faults that lost {LOST_MOST:.0%} or more": _part(
            gross, lambda item: item.lead is not None and item.lead.priority in urgent
        ),
    }
    for kind in (CLEAN, HARMLESS):
        items = [item for item in found if item.kind == kind]
        changed = _part(items, lambda item: any(advice.changes for advice in item.advice))
        shares[f"a change of the config, {len(items)} {kind}"] = changed
    return shares


def _part(items: list[Advised], holds: Any) -> float:
    return sum(bool(holds(item)) for item in items) / max(len(items), 1)


def _examines(item: Prescription) -> bool:
    if item.changes:
        return False
    known = catalogue()
    classes = {known[cause].cause_class for cause in item.causes if cause in known}
    return "rlclinic examine" in item.instruction or bool(classes & OF_ENVIRONMENT)


def _mark(diagnosis: Diagnosis, case: dict[str, Any], undoing: dict[str, str] | None) -> str:
    made = diagnosis.prescriptions
    if case["healthy"]:
        return ALARM if len(made) > 1 or any(item.priority is not Priority.LOW for item in made) else QUIET
    if undoing is None:
        return TREATED if any(set(item.causes) & set(case["accepted_causes"]) for item in made) else UNTREATED
    wanted = {_plain(key): _turned(key, way) for key, way in undoing.items()}
    places = [index for index, item in enumerate(made) if _undoes(item, wanted)]
    if not places:
        return MISSED
    tests = [item.kind is PrescriptionKind.CHECK for item in made[: places[0]]]
    return FIRST if not tests else BEHIND_TEST if all(tests) else LATER


def _undoes(item: Prescription, undoing: Mapping[str, str]) -> bool:
    return any(
        undoing.get(_plain(change.key)) in (_turned(change.key, direction_of(change)), "set") for change in item.changes
    )


def _plain(key: str) -> str:
    return SAME.get(key, key)


def _turned(key: str, way: str) -> str:
    return {"up": "down", "down": "up"}.get(way, way) if key in OPPOSITE else way


def direction_of(change: Change) -> str:
    """`up`, `down`, or `set` where a value has no size."""
    before, after = change.before, change.after
    if after is None:
        # A limit that is taken away is as far up as it goes.
        return "up"
    if isinstance(before, int | float) and isinstance(after, int | float):
        return "up" if after > before else "down"
    return "set"


def _lead(diagnosis: Diagnosis) -> str:
    causes = [cause for cause in diagnosis.causes if cause.id not in ("unknown", "nothing-wrong")]
    cause = f"{causes[0].id} {causes[0].probability:.2f}" if causes else "no cause"
    return f"{cause:40s} {_told(diagnosis.prescriptions[0] if diagnosis.prescriptions else None)}"


def _told(first: Prescription | None) -> str:
    told = f"{first.priority.value} {first.kind.value}: {first.instruction}" if first else "nothing"
    return told[:TEXT_WIDTH]


def _share(marks: list[str], good: set[str], others: set[str]) -> float:
    return sum(mark in good for mark in marks) / max(sum(mark in good | others for mark in marks), 1)


if __name__ == "__main__":
    main()
