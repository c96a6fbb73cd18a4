"""The fresh part: other environments, predictions before scores, every look counted."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from bench.faults import shards
from bench.faults.__main__ import PAGE
from bench.faults.bases import bases, fresh_bases
from bench.faults.catalogue import faults
from bench.faults.fresh import FOLDER, HEADING, LOOKS, NEXT, PREDICTIONS, _lines, into_page, predict, score, section
from bench.faults.labels import labels
from bench.faults.plan import entries, fresh
from bench.faults.split import sides

ROOT = Path(__file__).parents[2]
ENOUGH = 40
"""Faulty instances that a score is about."""


def test_the_fresh_part_shares_no_environment_and_no_run_with_the_plan() -> None:
    held = {base.environment for base in bases().values()} | {base.env_id for base in bases().values()}
    assert len({base.environment for base in fresh_bases().values()}) == 4
    assert held.isdisjoint({base.environment for base in fresh_bases().values()})
    assert held.isdisjoint({base.env_id for base in fresh_bases().values()})
    assert not set(fresh()) & set(entries())
    assert not {entry.instance.name for entry in fresh().values()} & set(sides())


def test_its_faults_are_of_all_groups_and_enough() -> None:
    injected = {entry.instance.name: entry.instance for entry in fresh().values() if entry.instance.injected}
    assert len(injected) >= ENOUGH
    assert {instance.group for instance in injected.values()} == {fault.group for fault in faults().values()}


def test_every_recorded_run_is_planned_and_predicted() -> None:
    recorded = set(shards.keys(FOLDER))
    assert recorded <= set(fresh())
    assert {line["run"] for line in _lines(FOLDER / PREDICTIONS)} == recorded


def test_clean_runs_were_recorded_with_the_settings_of_the_table() -> None:
    clean = {record.name: record.recipe for record in shards.latest(FOLDER) if record.name.startswith("clean@")}
    for name, base in fresh_bases().items():
        recipe = clean[f"clean@{name}#0"]
        assert {key: recipe[key] for key in base.settings} == base.settings
        assert (recipe["env_id"], recipe["total_steps"]) == (base.env_id, base.total_steps)


def test_clean_runs_of_every_base_learn() -> None:
    found = labels(shards.latest(FOLDER), fresh(), seeds=1)
    assert {found[f"clean@{name}"].label for name in fresh_bases()} == {"healthy"}


def test_predictions_are_not_replaced_unasked(tmp_path: Path) -> None:
    (tmp_path / PREDICTIONS).write_text("", encoding="utf-8")
    with pytest.raises(SystemExit, match="another look"):
        predict(tmp_path)
    assert predict(tmp_path, again=True) == 0


def test_a_look_counts_once_for_the_same_predictions_and_again_for_others(tmp_path: Path) -> None:
    for path in FOLDER.glob("*"):
        shutil.copy(path, tmp_path)
    (tmp_path / LOOKS).unlink()
    assert section(tmp_path) == ""
    assert score(tmp_path) == score(tmp_path)
    assert len(_lines(tmp_path / LOOKS)) == 1
    fewer = (tmp_path / PREDICTIONS).read_text(encoding="utf-8").splitlines(keepends=True)[:-1]
    (tmp_path / PREDICTIONS).write_text("".join(fewer), encoding="utf-8")
    assert "The fresh part: 2 (" in score(tmp_path)


def test_the_page_has_the_section_that_the_predictions_give() -> None:
    text = (ROOT / PAGE).read_text(encoding="utf-8")
    assert section() in text
    assert into_page(text, section()) == text
    assert into_page(f"before\n\n{NEXT}\n", f"{HEADING}\n") == f"before\n\n{HEADING}\n\n\n{NEXT}\n"
