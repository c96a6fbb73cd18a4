"""Every rule fires on its positive run, and stays silent on a near miss and on a healthy run (cases.yaml)."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Finding, Severity
from rlclinic.rules.registry import RULES, applicable, examine
from rlclinic.rules.rule import RuleInfo
from tests.conftest import RUNS
from tests.rules.cases import HEALTHY, ROLES, Case, Healthy, cases
from tests.rules.scene import recorded

CASES = [case for entry in cases().values() for case in entry]
BY_CODE = {row.code: row for row in RULES}


def test_every_rule_has_a_positive_a_near_miss_and_a_healthy_run() -> None:
    found = {code: tuple(case.role for case in entry) for code, entry in cases().items()}
    assert found == dict.fromkeys(BY_CODE, ROLES)


def test_a_constructed_scene_and_a_near_miss_say_why() -> None:
    owing = [case for case in CASES if not case.recorded or case.role == "near_miss"]
    assert [f"{case.code} {case.role}" for case in owing if len(case.why) < 10] == []


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.code}-{case.role}")
def test_a_rule_fires_on_its_positive_run_alone(case: Case, tmp_path: Path) -> None:
    found = _findings(case.facts(tmp_path), BY_CODE[case.code])
    if case.role == "positive":
        assert [finding.severity for finding in found] == [case.severity]
    else:
        assert [finding.summary for finding in found] == []


@pytest.mark.parametrize("healthy", HEALTHY, ids=lambda healthy: healthy.name)
def test_a_healthy_run_gets_only_the_notes_that_are_listed(healthy: Healthy) -> None:
    findings, _ = examine(recorded(healthy.name))
    notes = {finding.code for finding in findings if finding.severity is Severity.INFO}
    alarms = {finding.code for finding in findings} - notes
    assert notes <= healthy.notes
    assert alarms <= healthy.warnings


def test_every_fault_run_that_did_no_harm_is_among_the_healthy_ones() -> None:
    judged = yaml.safe_load((RUNS / "faults" / "cases.yaml").read_text(encoding="utf-8"))
    harmless = {case["path"] for case in judged if case["healthy"]}
    assert harmless <= {healthy.name for healthy in HEALTHY}


def _findings(facts: RunFacts, row: RuleInfo) -> tuple[Finding, ...]:
    """What one rule says; a run that it is not about, or that lacks its inputs, proves nothing."""
    assert row in applicable(facts)
    found, skipped = examine(facts, (row,))
    assert skipped == ()
    return found
