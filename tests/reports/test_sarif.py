"""SARIF: the essentials of the standard, rules with help, and results that point somewhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rlclinic.reports.formats import Context
from rlclinic.reports.sarif import diagnoses_sarif
from rlclinic.rules.documentation import page_of
from rlclinic.rules.registry import RULES
from tests.reports.cases import CASES, collapsed
from tests.reports.hostile import ATTACKS, hostile_diagnosis
from tests.reports.kept import assert_golden
from tests.reports.schema_check import checked
from tests.reports.test_github import with_config

SCHEMA: dict[str, Any] = json.loads((Path(__file__).parent / "sarif_essentials.json").read_text(encoding="utf-8"))
GUIDES = {row.code: page_of(row).sections for row in RULES}


def check(value: Any) -> list[str]:
    """What the essentials find wrong, by jsonschema as well where it is installed."""
    return checked(value, SCHEMA)


def sarif(*diagnoses: Any) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(diagnoses_sarif(diagnoses, Context(guides=GUIDES)))
    return value


def test_the_document_reads_as_kept() -> None:
    assert_golden("collapsed.sarif", diagnoses_sarif([with_config(collapsed())], Context()))


@pytest.mark.parametrize("name", CASES)
def test_every_kind_of_diagnosis_meets_the_essentials(name: str) -> None:
    assert check(sarif(CASES[name]())) == []


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_text_breaks_the_document(attack: str) -> None:
    assert check(sarif(hostile_diagnosis(attack))) == []


def test_the_check_finds_what_is_wrong() -> None:
    value = sarif(collapsed())
    del value["runs"][0]["results"][0]["message"]
    assert check(value) != []


def test_several_runs_are_one_run_with_many_results_and_each_rule_once() -> None:
    value = sarif(collapsed(), collapsed())
    (run,) = value["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert len(run["results"]) == 6
    assert rules == sorted(set(rules))
    assert all(rules[result["ruleIndex"]] == result["ruleId"] for result in run["results"])


def test_rules_carry_their_documentation_as_help() -> None:
    rules = {rule["id"]: rule for rule in sarif(collapsed())["runs"][0]["tool"]["driver"]["rules"]}
    assert "What to change:" in rules["POL04"]["help"]["text"]
    assert "**Why it hurts.**" in rules["POL04"]["help"]["markdown"]


def test_a_result_points_at_the_config_line_or_at_the_file_of_its_numbers() -> None:
    results = {result["ruleId"]: result for result in sarif(with_config(collapsed()))["runs"][0]["results"]}
    places = {code: result["locations"][0]["physicalLocation"] for code, result in results.items()}
    assert places["CFG01"] == {
        "artifactLocation": {"uri": "runs/sb3/ppo_cartpole_high_lr/config.yml"},
        "region": {"startLine": 12},
    }
    assert places["SUC02"]["artifactLocation"]["uri"].startswith("runs/sb3/ppo_cartpole_high_lr/")
    assert places["SUC02"]["region"] == {"startLine": 1}


def test_the_mark_of_a_finding_stays_the_same_between_two_looks() -> None:
    first, second = (sarif(collapsed())["runs"][0]["results"] for _ in range(2))
    marks = [result["partialFingerprints"] for result in first]
    assert marks == [result["partialFingerprints"] for result in second]
    assert len({json.dumps(mark) for mark in marks}) == len(marks)
