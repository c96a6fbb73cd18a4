"""The record of the ladder: what is written is read again, what is out of date does not count, scores follow."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

pytest.importorskip("torch")

from bench.mutants.catalogue import mutants
from bench.probes import false_alarms, page, score, stock, store, variants
from bench.probes.costs import UNKNOWN_SECONDS, most_seconds
from bench.probes.examination import Examination
from bench.probes.frozen import ADDED
from bench.probes.record import Recorder, asked, ordered
from bench.probes.subjects import Subject, all_subjects

from rlclinic.probes.ladder import LADDER
from rlclinic.probes.seed_run import SeedResult

LAMBDA = "lambda-hard-coded"


def recorded(path: Path, subject: Subject, codes: tuple[str, ...], **about: object) -> None:
    examination = Examination(subject, quick=True)
    planned = [item for item in examination.planned() if item[0].code in codes]
    lines = {
        "trainer_digest": subject.digest(),
        "family": examination.portrait.family,
        "actions": examination.portrait.actions[0],
        "rule": "quick",
        "planned": len(planned),
    }
    for probe, case, digest in planned:
        store.append(subject, {**lines, **about}, examination.examine(probe, case, digest), path)


@pytest.fixture
def record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "record.jsonl"
    rows = store.rows
    monkeypatch.setattr(store, "rows", lambda: rows(path))
    # The correct variants have a record of their own, which takes long to score.
    monkeypatch.setattr(page, "verdicts", dict)
    return path


def test_a_mutant_is_killed_and_localised_from_its_record(record: Path) -> None:
    recorded(record, Subject(f"ppo+{LAMBDA}", "ppo", mutants()[LAMBDA]), ("S0a", "S0b"))
    (found,) = score.outcomes()
    assert [(result.code, result.verdict) for result in found.results] == [("S0a", "pass"), ("S0b", "fail")]
    assert found.killed
    assert found.whole
    assert found.rank == 1
    (killed,) = (line for line in page.summary([found]) if line.startswith("| killed |"))
    assert killed.startswith("| killed | 1 of ")
    assert "0 survived" in killed


def test_a_failing_probe_of_a_right_trainer_is_a_false_alarm(record: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "stock_verdicts", dict)
    recorded(record, Subject("ppo", "ppo"), ("S0a", "S0b"))
    rows = [json.loads(line) for line in record.read_text(encoding="utf-8").splitlines()]
    rows[0]["verdict"] = "fail"
    record.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    assert "| false alarms per verdict | 1 of 2 (50.0%) | 1% |" in page.summary(score.outcomes())


def test_a_line_of_other_code_does_not_count(record: Path) -> None:
    recorded(record, Subject("ppo", "ppo"), ("S0a",), trainer_digest="other")
    assert score.outcomes() == []


def test_a_partial_vector_is_not_whole(record: Path) -> None:
    recorded(record, Subject("ppo", "ppo"), ("S0a",), planned=5)
    (found,) = score.outcomes()
    assert not found.whole


def test_a_line_that_was_cut_short_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "record.jsonl"
    path.write_text('{"subject": "ppo", "code": "P1", "case": "value"}\n{"subject": "a2c", "co', encoding="utf-8")
    assert list(store.rows(path)) == [("ppo", "P1", "value")]


def test_numbers_that_are_not_finite_come_back(tmp_path: Path) -> None:
    seed = SeedResult(1, {"V": math.inf, "W": 0.5}, {"V": math.nan}, passed=False, steps=3, seconds=0.1)
    again = store.seed_of(json.loads(json.dumps(store._seed_row(seed))))
    assert again.readings == {"V": math.inf, "W": 0.5}
    assert math.isnan(again.untrained["V"])


def test_a_first_kill_run_tries_the_likely_probes_first() -> None:
    subject = Subject("ppo+seeds-shared", "ppo", mutants()["seeds-shared"])
    planned = list(Examination(subject, quick=True).planned())
    assert ordered(subject, planned, "first-kill")[0][0].code == "P9"
    assert ordered(subject, planned, "whole") == planned


def test_a_mutant_from_a_real_fix_meets_younger_cases_last() -> None:
    subject = Subject("dqn+fix-no", "dqn", next(m for m in mutants().values() if m.origin == "from_fixes"))
    planned = list(Examination(Subject("dqn", "dqn"), quick=True).planned())
    young = [(probe.code, case.name) in ADDED for probe, case, _ in ordered(subject, planned, "first-kill")]
    assert young == sorted(young)
    assert any(young)


def test_a_recording_says_at_most_what_it_will_cost(record: Path) -> None:
    subject = Subject(f"ppo+{LAMBDA}", "ppo", mutants()[LAMBDA])
    before = most_seconds([subject], store.rows())
    recorded(record, subject, ("S0b",))
    assert most_seconds([subject], store.rows()) == pytest.approx(before - UNKNOWN_SECONDS)
    assert most_seconds([], store.rows()) == 0.0


def test_every_case_that_came_later_exists() -> None:
    assert {(probe.code, case.name) for probe in LADDER for case in probe.cases} >= ADDED


def test_the_localiser_is_followed_until_it_asks_no_more(record: Path) -> None:
    subject = Subject("ppo+truncation-masked", "ppo", mutants()["truncation-masked"])
    recorded(record, subject, ("S0b",), planned=99)
    (found,) = score.outcomes()
    assert (found.killed, found.settled) == (True, False)
    recorder = Recorder(subject)
    cases = asked(recorder)
    first = [next(cases)[0].code for _ in range(8)]
    assert set(first) == {"S0a", "S0b", "S0c", "S0e", "S0f", "S0g"}
    recorded(record, subject, ("S0a", "S0b", "S0c", "S0e", "S0f", "S0g"), planned=99)
    # Several components explain the contract alike, and what tells them apart comes next.
    asked_for = score.outcome_of(subject, store.rows()).separating
    assert asked_for
    assert next(cases)[0].code == asked_for.partition(".")[0]


def test_a_miss_is_explained_by_the_name_of_a_mutant_that_must_be_found() -> None:
    wrong = {subject.name for subject in all_subjects() if subject.mutant and not subject.right}
    assert set(page._misses()) <= wrong | set(variants.verdicts())


def test_the_page_says_what_is_named_instead_of_a_planted_component(record: Path) -> None:
    subject = Subject("ppo+critic-not-optimised", "ppo", mutants()["critic-not-optimised"])
    recorded(record, subject, ("S0c",))
    (found,) = score.outcomes()
    assert (found.killed, found.settled) == (True, True)
    told = page._mislocalised([found])
    assert "(value loss or optimiser): gradient flow is named first" in told
    assert "The contract" in told


def test_every_mutant_is_a_subject_on_each_of_its_trainers() -> None:
    names = [subject.name for subject in all_subjects()]
    assert len(names) == len(set(names))
    assert {f"{t}+{m.id}" for m in mutants().values() for t in m.trainers} <= set(names)


def test_stock_seeds_come_to_verdicts_by_the_full_rule(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = false_alarms.rows
    path = tmp_path / "seeds.jsonl"
    monkeypatch.setattr(false_alarms, "rows", lambda: rows(path))
    seed = {"trainer": "sb3:PPO", "code": "P1", "case": "value", "digest": "new", "cpu_seconds": 2.0}
    lines = [{**seed, "seed": 3000 + at, "passed": at != 3} for at in range(8)]
    lines += [{**seed, "code": "P3", "seed": 3000 + at, "passed": at > 3} for at in range(5)]
    lines += [{**seed, "code": "S0b", "seed": 3000, "passed": True}, {**seed, "code": "P2", "seed": 1, "passed": True}]
    path.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    stock._groups.cache_clear()
    assert stock.stock_verdicts() == {"sb3:PPO": {"P1 value": "pass", "P3 value": "fail", "S0b value": "pass"}}
    # Two seeds of P1, P2 and P3 each, and one of the static contract.
    assert stock.stock_costs("sb3:PPO")["preflight"] == (14.0, 4)
    stock._groups.cache_clear()
