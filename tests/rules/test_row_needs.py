"""What a row of the registry asks for, and which findings stand behind others."""

from __future__ import annotations

import pytest

from rlclinic.model.finding import Severity
from rlclinic.rules.registry import RULES, examine
from tests.rules.scene import fault, flat, line, recorded, scene

BY_CODE = {row.code: row for row in RULES}


@pytest.mark.parametrize(("name", "missing"), [("grad_norm/anything", False), ("grad_norms", True)])
def test_any_member_of_a_family_of_metrics_will_do(name: str, *, missing: bool) -> None:
    facts = scene(series={name: flat(1.0), "return/train": line(20, 200)})
    _, skipped = examine(facts, (BY_CODE["OPT08"],))
    assert bool(skipped) == missing


def test_a_row_is_covered_only_by_rows_that_exist() -> None:
    assert {code for row in RULES for code in row.rule.covered_by} <= set(BY_CODE)


def test_two_findings_on_one_thing_give_one_alarm() -> None:
    findings, _ = examine(fault("large_reward_ppo_cartpole"), (BY_CODE["ENV06"], BY_CODE["VAL04"]))
    assert {finding.code: finding.severity for finding in findings} == {
        "VAL04": Severity.WARNING,
        "ENV06": Severity.INFO,
    }


def test_a_finding_without_the_one_that_covers_it_keeps_its_severity() -> None:
    findings, _ = examine(recorded("sb3/ppo_cartpole_no_monitor"), (BY_CODE["ENV03"],))
    assert [finding.severity for finding in findings] == [Severity.WARNING]
