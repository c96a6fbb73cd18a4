"""What is recorded beside the plan: other environments, predictions before scores, every look counted."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from bench.faults import shards
from bench.faults.__main__ import PAGE
from bench.faults.bases import SIDES, base_of, bases, bases_beside
from bench.faults.catalogue import faults
from bench.faults.fresh import (
    HEADING,
    LOOKS,
    NEXT,
    PARTS,
    PREDICTIONS,
    Part,
    _lines,
    _side,
    into_page,
    part_of,
    predict,
    score,
    section,
    sections,
)
from bench.faults.labels import labels
from bench.faults.plan import entries
from bench.faults.split import sides

from rlclinic.reference.tasks import task_of

ROOT = Path(__file__).parents[2]
ENOUGH = 40
"""Faulty instances that a score is about."""

each_part = pytest.mark.parametrize("part", PARTS, ids=lambda part: part.name)


@each_part
def test_a_part_shares_no_environment_and_no_run_with_what_came_before(part: Part) -> None:
    before = [bases(), *(bases_beside(other.name) for other in PARTS[: PARTS.index(part)])]
    held = {name for found in before for base in found.values() for name in (base.environment, base.env_id)}
    found = bases_beside(part.name).values()
    assert len({base.environment for base in found}) >= 4
    assert held.isdisjoint({name for base in found for name in (base.environment, base.env_id)})
    assert not set(part.entries) & set(entries())
    assert not {entry.instance.name for entry in part.entries.values()} & set(sides())


@each_part
def test_its_faults_are_of_all_groups_and_enough(part: Part) -> None:
    injected = {entry.instance.name: entry.instance for entry in part.entries.values() if entry.instance.injected}
    assert len(injected) >= ENOUGH
    assert {instance.group for instance in injected.values()} == {fault.group for fault in faults().values()}


def test_no_environment_of_the_well_known_tasks_is_on_both_sides_and_the_table_knows_all() -> None:
    found = {side: {b.environment for b in bases_beside("known").values() if b.side == side} for side in SIDES}
    assert all(found.values())
    assert found["development"].isdisjoint(found["test"])
    assert all(task_of(base.env_id) is not None for base in bases_beside("known").values())


@each_part
def test_every_recorded_run_is_planned_and_those_of_the_test_bases_are_predicted(part: Part) -> None:
    recorded = set(shards.keys(part.folder))
    assert recorded <= set(part.entries)
    tested = {name for name in recorded if _side(part.entries[name]) == "test"}
    assert {line["run"] for line in _lines(part.folder / PREDICTIONS)} == tested


@each_part
def test_clean_runs_were_recorded_with_the_settings_of_the_table(part: Part) -> None:
    clean = {record.name: record.recipe for record in shards.latest(part.folder) if record.name.startswith("clean@")}
    assert clean
    for recorded, recipe in clean.items():
        base = base_of(part.entries[recorded].instance.base)
        assert {key: recipe[key] for key in base.settings} == base.settings
        assert (recipe["env_id"], recipe["total_steps"]) == (base.env_id, base.total_steps)


@each_part
def test_clean_runs_of_every_recorded_base_learn(part: Part) -> None:
    found = labels(shards.latest(part.folder), part.entries, seeds=1)
    assert {label.label for label in found.values() if label.instance.kind == "clean"} == {"healthy"}


def test_predictions_are_not_replaced_unasked(tmp_path: Path) -> None:
    (tmp_path / PREDICTIONS).write_text("", encoding="utf-8")
    with pytest.raises(SystemExit, match="another look"):
        predict(part_of("fresh"), tmp_path)
    assert predict(part_of("fresh"), tmp_path, again=True) == 0


def test_a_look_counts_once_for_the_same_predictions_and_again_for_others(tmp_path: Path) -> None:
    part = part_of("fresh")
    for path in part.folder.glob("*"):
        shutil.copy(path, tmp_path)
    (tmp_path / LOOKS).unlink()
    assert section(part, tmp_path) == ""
    assert score(part, tmp_path) == score(part, tmp_path)
    assert len(_lines(tmp_path / LOOKS)) == 1
    fewer = (tmp_path / PREDICTIONS).read_text(encoding="utf-8").splitlines(keepends=True)[:-1]
    (tmp_path / PREDICTIONS).write_text("".join(fewer), encoding="utf-8")
    score(part, tmp_path)
    assert len(_lines(tmp_path / LOOKS)) == 2


def test_the_page_has_the_sections_that_the_predictions_give() -> None:
    text = (ROOT / PAGE).read_text(encoding="utf-8")
    assert sections() in text
    assert into_page(text, sections()) == text
    assert into_page(f"before\n\n{NEXT}\n", f"{HEADING}\n") == f"before\n\n{HEADING}\n\n\n{NEXT}\n"
