"""The plan: every run that is recorded, as a fixed list. Same tables, same list.

An instance is what all its seeds share: faults with their levels, base, decoys, layout and what its logger leaves out.
Instances come in rounds, so that the first part of the list is a smaller benchmark of the same make.
"""

from __future__ import annotations

import hashlib
import json
import random
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import Any

from bench.faults.bases import PARTS, base_of, bases, bases_beside
from bench.faults.catalogue import Fault, faults
from bench.mutants.catalogue import Edit
from rlclinic.lab.recipe import Recipe

DOUBLES = Path(__file__).with_name("doubles.toml")
SEEDS, SEEDS_BESIDE = 4, {"fresh": 2, "known": 1}
"""Of an instance of the plan and beside it; clean runs have more, because every label is held against them."""
CLEAN_SEEDS, CLEAN_SEEDS_BESIDE = 6, 3
CASES, MORE = 2, 3
"""Cases of a fault that are recorded, and one more for every so many beyond them; the catalogue has more than that."""
DECOYS = 2
"""Odd settings of a faulty run beside its fault."""
OTHER_LAYOUTS = ("tensorboard", "csv", "wandb", "cleanrl")
"""Written by SB3's own logger, and as CleanRL's scripts write; `lab` is rlclinic's own."""
LAYOUT_FAULTS = {"point-ppo": ("E2", "gross"), "room-dqn": ("F2", "late")}
"""The bases on which each of them is recorded, clean and with one fault."""
PROFILES = {"full": 8, "sb3": 5, "random": 4, "no-evaluation": 2, "returns": 1}
"""What the logger keeps (loggers.toml) -> how often."""
REWARD_GROUPS = frozenset({"B"})
HARMLESS = frozenset({"nothing-wrong", "already-solved"})


@dataclass(frozen=True, slots=True)
class Instance:
    """One (fault, severity, environment, algorithm), or one kind of healthy run."""

    kind: str
    """`fault`, `double`, or the kind of healthy run: clean, odd, long, noisy-evaluation, resumed."""
    base: str
    injected: tuple[tuple[str, str], ...] = ()
    """(fault, level)."""
    decoys: tuple[int, ...] = ()
    layout: str = "lab"

    @property
    def name(self) -> str:
        """Stable and readable."""
        what = "+".join(f"{fault}.{level}" for fault, level in self.injected) or self.kind
        odd = "~" + "".join(map(str, self.decoys)) if self.kind == "odd" else ""
        return f"{what}{odd}@{self.base}" + ("" if self.layout == "lab" else f"/{self.layout}")

    @property
    def accepted(self) -> frozenset[str]:
        """Causes that count as right."""
        if not self.injected:
            return HARMLESS
        return frozenset().union(*(faults()[fault].accepted for fault, _ in self.injected))

    @property
    def group(self) -> str:
        """The group of the (first) fault; empty for a healthy run."""
        return faults()[self.injected[0][0]].group if self.injected else ""

    @property
    def goal(self) -> float | None:
        """The return that its config asks for; none where the fault changes what the return means."""
        changed = {faults()[fault].group for fault, _ in self.injected} & REWARD_GROUPS
        return None if changed else base_of(self.base).target

    @property
    def judged_on(self) -> str:
        """What shows the harm."""
        return faults()[self.injected[0][0]].judged_on if self.injected else "evaluation"

    @property
    def edits(self) -> tuple[Edit, ...]:
        """Of the trainer's code."""
        return tuple(edit for fault, level in self.injected for edit in faults()[fault].levels[level].edits)

    @property
    def profile(self) -> str:
        """What its logger keeps; another layout leaves out enough by itself."""
        if self.layout != "lab":
            return "full"
        # A chance of its own: the order of the plan follows from the name alone.
        return _rng(f"logger of {self.name}").choices(list(PROFILES), list(PROFILES.values()))[0]

    def recipe(self, seed: int) -> Recipe:
        """What is trained."""
        base = base_of(self.base)
        recipe = base.recipe(seed)
        odd: dict[str, Any] = {key: value for at in self.decoys for key, value in base.decoys[at].items()}
        recipe = recipe.with_changes({**odd, **_HEALTHY.get(self.kind, {})})
        if self.kind == "long":
            recipe = recipe.with_changes({"total_steps": int(1.6 * recipe.total_steps)})
        for fault, level in self.injected:
            recipe = faults()[fault].levels[level].inject(recipe)
        return recipe


@dataclass(frozen=True, slots=True)
class Entry:
    """One run of the plan."""

    instance: Instance
    seed: int

    @property
    def name(self) -> str:
        """Stable and readable."""
        return f"{self.instance.name}#{self.seed}"

    def key(self) -> str:
        """Follows from everything that is trained."""
        asked = [self.instance.recipe(self.seed).to_config(), [asdict(edit) for edit in self.instance.edits]]
        text = json.dumps([*asked, self.instance.layout, self.instance.kind == "resumed"], sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


# Healthy kinds -> what they change in a clean run.
_HEALTHY: Mapping[str, Mapping[str, Any]] = {
    "noisy-evaluation": {"eval_episodes": 1},
    "resumed": {"checkpoint_freq": 1000},
}


@cache
def plan() -> tuple[Entry, ...]:
    """Every run, the most needed first: what an instance is held against comes before it."""
    harmful, harmless = list(_faulty()), list(_healthy())
    # Two faulty instances, then a healthy one: any part of the list has the same make.
    turns = zip_longest(harmful[::2], harmful[1::2], harmless)
    entries: list[Entry] = []
    begun: set[str] = set()
    for instance in (one for turn in turns for one in turn if one is not None):
        if instance.base not in begun:
            begun.add(instance.base)
            entries += [Entry(Instance("clean", instance.base), seed) for seed in range(SEEDS)]
        entries += [Entry(instance, seed) for seed in _seeds(instance)]
    found = {entry.name: entry for entry in entries}
    if len(found) != len(entries):
        raise ValueError("two entries of the plan have one name")
    return tuple(entries)


@cache
def entries() -> Mapping[str, Entry]:
    """The plan by name."""
    return {entry.name: entry for entry in plan()}


@cache
def beside(part: str) -> Mapping[str, Entry]:
    """A part beside the plan by name: clean runs, then the first seed of every instance, then the others."""
    found = bases_beside(part)
    clean = [Entry(Instance("clean", name), seed) for seed in range(CLEAN_SEEDS_BESIDE) for name in found]
    odd = [Instance("odd", name, decoys=tuple(range(0, len(base.decoys), 2))) for name, base in found.items()]
    faulty = _mixed(
        _instance(*text.split()[:2], name, *text.split()[2:]) for name, base in found.items() for text in base.faults
    )
    rest = [Entry(instance, seed) for seed in range(SEEDS_BESIDE[part]) for instance in (*odd, *faulty)]
    return {entry.name: entry for entry in (*clean, *rest)}


def entry_of(name: str) -> Entry:
    """An entry of any part."""
    return next(found[name] for found in (entries(), *map(beside, PARTS)) if name in found)


def _seeds(instance: Instance) -> range:
    return range(SEEDS, CLEAN_SEEDS) if instance.kind == "clean" and instance.layout == "lab" else range(SEEDS)


def _faulty() -> Iterator[Instance]:
    """One case of every fault with the doubles and other layouts, then a second case of each fault, and so on."""
    first, *later = zip_longest(*(_cases(fault) for fault in faults().values()))
    for some in ([*first, *_doubles(), *_in_other_layouts()], *later):
        yield from _mixed(some)


def _doubles() -> Iterator[Instance]:
    for raw in tomllib.loads(DOUBLES.read_text(encoding="utf-8"))["double"]:
        first, second = (tuple(text.split()) for text in raw["faults"])
        yield Instance("double", raw["base"], ((first[0], first[1]), (second[0], second[1])))


def _in_other_layouts() -> Iterator[Instance]:
    for layout in OTHER_LAYOUTS:
        for base, injected in LAYOUT_FAULTS.items():
            yield Instance("fault", base, (injected,), layout=layout)


def _cases(fault: Fault) -> list[Instance]:
    """In the order of the catalogue."""
    found, further = (
        [_instance(fault.id, level, base) for base, chosen in cases.items() for level in chosen]
        for cases in (fault.cases, fault.further)
    )
    return found[: CASES + max(len(found) - CASES, 0) // MORE] + further


def _mixed(instances: Iterable[Instance | None]) -> list[Instance]:
    """In an order by chance: a part of the list has all groups and algorithms."""
    found = [instance for instance in instances if instance is not None]
    return sorted(found, key=lambda instance: _rng(instance.name).random())


def _healthy() -> Iterator[Instance]:
    for name, base in bases().items():
        yield Instance("odd", name, decoys=tuple(range(0, len(base.decoys), 2)))
    for layout in OTHER_LAYOUTS:
        for name in LAYOUT_FAULTS:
            yield Instance("clean", name, layout=layout)
    for at, name in enumerate(bases()):
        yield Instance(("long", "noisy-evaluation", "resumed")[at % 3], name)
    for name in bases():
        yield Instance("clean", name)


def _instance(fault: str, level: str, base: str, layout: str = "lab") -> Instance:
    touched = faults()[fault].levels[level].touched
    free = [at for at, decoy in enumerate(base_of(base).decoys) if not touched & set(decoy)]
    chosen = _rng(f"{fault}.{level}@{base}").sample(free, min(DECOYS, len(free)))
    return Instance("fault", base, ((fault, level),), tuple(sorted(chosen)), layout)


def _rng(text: str) -> random.Random:
    """Chance that follows from a name."""
    return random.Random(hashlib.sha256(text.encode()).digest())
