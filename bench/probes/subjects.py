"""What the ladder is run against: reference trainers with and without a mutant, and stock algorithms."""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from typing import Any

from bench.mutants.catalogue import SOURCES, Mutant, mutants
from bench.mutants.plant import Planted
from bench.mutants.registry import TRAINERS
from rlclinic.probes.definition import Case, Given
from rlclinic.probes.load import load_trainer

STOCK = {
    "sb3:PPO": "stable-baselines3", "sb3:A2C": "stable-baselines3", "sb3:DQN": "stable-baselines3",
    "sb3:SAC": "stable-baselines3", "sb3:TD3": "stable-baselines3", "torchrl:PPO": "torchrl", "torchrl:SAC": "torchrl",
    "torchrl:DQN": "torchrl", "torchrl:REINFORCE": "torchrl",
}  # fmt: skip
"""Unmutated algorithms of others -> the package whose version counts."""


@dataclass(frozen=True, slots=True)
class Subject:
    """One trainer to probe."""

    name: str
    """`ppo`, `ppo+done-mask-dropped` or `sb3:PPO`."""
    trainer: str
    mutant: Mutant | None = None

    @property
    def right(self) -> bool:
        """Must every probe pass?"""
        return self.mutant is None or self.mutant.equivalent

    @property
    def stock(self) -> bool:
        """Is it an algorithm of somebody else?"""
        return ":" in self.name

    def factory(self) -> Any:
        """For the probe protocol."""
        return load_trainer(self.name) if self.stock else Planted(self.trainer, self.mutant.id if self.mutant else "")

    def digest(self) -> str:
        """Changes when the trainer's code changes."""
        if self.stock:
            return f"{STOCK[self.name]} {metadata.version(STOCK[self.name])}"
        texts = {path.name: path.read_text(encoding="utf-8") for path in sorted(SOURCES.glob("*.py"))}
        for edit in self.mutant.edits if self.mutant else ():
            texts[edit.file] = edit.apply(texts[edit.file])
        return _hashed(*(_without_docstrings(text) for text in texts.values()))


def all_subjects() -> Iterator[Subject]:
    """Right trainers first, then every mutant on every trainer that it names."""
    for name in TRAINERS:
        yield Subject(name, name)
    for mutant in mutants().values():
        for trainer in mutant.trainers:
            yield Subject(f"{trainer}+{mutant.id}", trainer, mutant)
    for name in STOCK:
        yield Subject(name, name)


def case_digest(code: str, case: Case, given: Given) -> str:
    """Changes when what a case asks, or how long it runs, changes."""
    queries = [(query.name, query.how, round(query.truth, 6), query.tolerance) for query in case.questions(given)]
    settings = sorted((name, repr(value)) for name, value in given.settings.items())
    pace = [] if case.pace is None else [case.pace.logits]
    return _hashed(code, case.name, json.dumps([queries, settings, case.budget[given.family], given.gamma, *pace]))


def _without_docstrings(text: str) -> str:
    tree = ast.parse(text)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [item for item in body if not _is_text(item)] or [ast.Pass()]  # type: ignore[attr-defined]
    return ast.unparse(tree)


def _is_text(node: Any) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _hashed(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:12]
