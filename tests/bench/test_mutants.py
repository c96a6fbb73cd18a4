"""Mutants are planted where they say, break what they say, and leave the reference alone."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

from bench.mutants.catalogue import SOURCES, BadMutant, Edit, Mutant, mutants, variants
from bench.mutants.plant import Planted
from bench.mutants.registry import TRAINERS

from rlclinic.probes import probe
from rlclinic.probes.environment import WorldEnv
from rlclinic.probes.faults import components
from rlclinic.probes.ladder import LADDER, find_probe
from rlclinic.probes.ladder.p03_discount import WORLD
from rlclinic.probes.world import UNIT_BOX

GROUND = {"rewards": [[1.0], [0.0]], "values": [[0.0], [0.0]], "next_values": [[2.0], [2.0]],
          "terminated": [[0.0], [1.0]], "truncated": [[0.0], [0.0]]}  # fmt: skip


def batch() -> dict[str, Any]:
    return {name: np.array(rows) for name, rows in GROUND.items()}


def env_fn(trainer: str) -> Callable[[], WorldEnv]:
    world = WORLD.with_actions(UNIT_BOX) if trainer == "sac" else WORLD
    return lambda: WorldEnv(world, default_seed=0)


def built(trainer: str, mutant: str = "") -> Any:
    return Planted(trainer, mutant)(env_fn(trainer), seed=0, gamma=0.7)


@pytest.mark.parametrize("mutant", mutants().values(), ids=lambda mutant: mutant.id)
def test_every_replacement_finds_its_text_once_and_leaves_python(mutant: Mutant) -> None:
    for edit in mutant.edits:
        text = (SOURCES / edit.file).read_text(encoding="utf-8")
        changed = edit.apply(text)
        assert changed != text
        assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(text))


@pytest.mark.parametrize("mutant", mutants().values(), ids=lambda mutant: mutant.id)
def test_every_mutant_speaks_the_words_of_the_ladder(mutant: Mutant) -> None:
    words = {*components(), *(word for probe in LADDER for word in probe.components)}
    assert set(mutant.components) <= words
    assert all(find_probe(code) for code in mutant.likely)


@pytest.mark.parametrize("variant", variants().values(), ids=lambda variant: variant.id)
def test_every_variant_is_a_trainer_that_learns(variant: Mutant) -> None:
    for trainer in variant.trainers:
        built(trainer, variant.id).train(70)


def test_every_reference_trainer_has_at_least_twelve_correct_variants() -> None:
    counts = Counter(trainer for variant in variants().values() for trainer in variant.trainers)
    assert min(counts[name] for name in TRAINERS) >= 12
    assert all(variant.equivalent for variant in variants().values())
    assert not set(variants()) & set(mutants())


@pytest.mark.parametrize("case", ["clip", "luck"])
def test_the_clip_holds_a_policy_of_any_make_in_the_same_place(case: str) -> None:
    found = probe(Planted("ppo", "two-layers-of-64-as-torch-makes-them"), f"P5.{case}", preflight=True, processes=0)
    (result,) = found.results
    assert result.verdict == "pass", result.answers
    assert abs(result.seeds[0].readings["move of pi(best|1)"] - 0.1) < 0.1


def test_there_are_enough_mutants_and_some_that_are_no_bugs() -> None:
    found = mutants().values()
    assert sum(not mutant.equivalent for mutant in found) >= 70
    assert sum(mutant.equivalent for mutant in found) >= 4
    fixes = [mutant for mutant in found if mutant.origin == "from_fixes"]
    assert len(fixes) >= 20
    assert all(mutant.seen_in for mutant in fixes)


@pytest.mark.parametrize("mutant", mutants().values(), ids=lambda mutant: mutant.id)
def test_every_mutant_can_be_built_and_trained(mutant: Mutant) -> None:
    trainer = built(mutant.trainers[0], mutant.id)
    trainer.train(2)
    assert np.isfinite(np.asarray(trainer.act(np.zeros(1, np.float32)), dtype=float)).all()


def test_a_planted_mutant_changes_its_copy_and_not_the_reference() -> None:
    broken = built("ppo", "done-mask-dropped").advantages(batch())
    right = built("ppo").advantages(batch())
    assert right[1, 0] == pytest.approx(0.0)
    assert broken[1, 0] == pytest.approx(0.7 * 2.0)


def test_a_text_that_stands_there_twice_is_refused() -> None:
    with pytest.raises(BadMutant, match="2 times"):
        Edit("ppo.py", "ratio", "rate").apply("ratio ratio")


def test_an_equivalent_mutant_gives_the_same_numbers() -> None:
    values = []
    for mutant in ("", "ratio-negated-twice"):
        trainer = built("ppo", mutant)
        trainer.train(64)
        values.append(trainer.value(np.zeros(1, np.float32)))
    assert values[0] == pytest.approx(values[1], abs=1e-5)
