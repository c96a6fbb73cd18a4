"""Whole diagnoses of recorded runs."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from rlclinic.apps.cli.main import app
from rlclinic.causes.catalogue import NOTHING_WRONG
from rlclinic.engine import diagnose
from rlclinic.model.diagnosis import Diagnosis, Verdict
from rlclinic.model.errors import UsageError
from rlclinic.model.finding import Severity
from rlclinic.readers.open import read
from rlclinic.reports.diagnosis_text import diagnosis_text
from rlclinic.rules.registry import RULES
from tests.conftest import RUNS, diagnosis_of

CASES: list[dict[str, Any]] = yaml.safe_load((RUNS / "faults" / "cases.yaml").read_text(encoding="utf-8"))
HARMLESS = frozenset({NOTHING_WRONG, "already-solved", "unknown"})
HEALTHY = [
    "sb3/ppo_cartpole",
    "sb3/ppo_cartpole_vec4",
    "sb3/a2c_cartpole",
    "sb3/dqn_cartpole",
    "torchrl/ppo_cartpole_csv",
    "rsl_rl/cartpole",
    "zoo/ppo_cartpole/logs/ppo/CartPole-v1_1",
    "trl/grpo_tiny",
    "verl/grpo_v0.4",
    "verl/grpo_v0.5",
    "openrlhf/grpo",
]


# What leads on runs that work, and accuses no setting and no code.
WORKS = {"already-solved", "budget-too-small", "validation-missing"}


@pytest.mark.parametrize("path", HEALTHY)
def test_a_healthy_run_gets_a_clean_bill(path: str) -> None:
    diagnosis = diagnosis_of(path)
    assert diagnosis.verdict in {Verdict.LEARNING, Verdict.SOLVED, Verdict.PLATEAUED, Verdict.INSUFFICIENT_DATA}
    assert [f"{f.code} {f.summary}" for f in diagnosis.findings if f.severity is Severity.ERROR] == []
    accused = [cause for cause in diagnosis.causes if cause.probability > 0.5 and cause.id != NOTHING_WRONG]
    assert [cause.id for cause in accused if cause.id not in WORKS] == []


@pytest.fixture(scope="module")
def diagnosed() -> list[tuple[dict[str, Any], Diagnosis]]:
    return [(case, diagnosis_of(f"faults/{Path(case['path']).name}")) for case in CASES]


def test_nine_of_ten_recorded_cases_get_an_acceptable_verdict(
    diagnosed: list[tuple[dict[str, Any], Diagnosis]],
) -> None:
    misses = [
        f"{case['path']}: {item.verdict.value}, not one of {case['verdicts']}"
        for case, item in diagnosed
        if item.verdict.value not in case["verdicts"]
    ]
    assert len(misses) <= 0.1 * len(CASES), misses


def test_three_of_four_faults_are_named_among_the_first_three_causes(
    diagnosed: list[tuple[dict[str, Any], Diagnosis]],
) -> None:
    faulty = [(case, item) for case, item in diagnosed if not case["healthy"] and case["accepted_causes"]]
    misses = [
        f"{case['path']}: {[cause.id for cause in item.causes[:3]]}"
        for case, item in faulty
        if not any(cause.id in case["accepted_causes"] for cause in item.causes[:3])
    ]
    assert len(misses) <= 0.25 * len(faulty), misses


def test_no_healthy_case_is_accused(diagnosed: list[tuple[dict[str, Any], Diagnosis]]) -> None:
    accused = [
        f"{case['path']}: {cause.id} {cause.probability:.2f}"
        for case, item in diagnosed
        for cause in item.causes
        if case["healthy"] and cause.probability > 0.5 and cause.id not in {*HARMLESS, *case["accepted_causes"]}
    ]
    assert accused == []


def concluded(diagnosis: Diagnosis) -> tuple[Any, ...]:
    """All that follows from the findings."""
    kept = (
        "verdict",
        "reason",
        "causes",
        "classes",
        "prescriptions",
        "decision_path",
        "next_steps",
        "onsets",
        "suspect",
    )
    return tuple(getattr(diagnosis, name) for name in kept)


def test_no_filter_changes_what_is_concluded(diagnosed: list[tuple[dict[str, Any], Diagnosis]]) -> None:
    chance = random.Random(16)
    for case, whole in diagnosed:
        names = [chance.choice(RULES).code, *(finding.code for finding in whole.findings[:1])]
        filters = {"select": names} if chance.random() < 0.5 else {"ignore": names}
        told = diagnose(whole.run, **filters)
        assert concluded(told) == concluded(whole), (case["path"], filters)
        assert {finding.code in names for finding in told.findings} <= {"select" in filters}


@pytest.mark.usefixtures("errors_are_contained")
def test_a_rule_that_raises_is_a_line_and_the_report_goes_on(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(facts: object) -> None:
        raise OverflowError("int too large")

    path = str(runs / "sb3" / "ppo_cartpole_high_lr")
    monkeypatch.setattr({row.code: row for row in RULES}["POL04"].module, "check", broken)
    found = diagnose(path)
    (failed,) = [item for item in found.not_checked if item.error]
    assert (failed.code, failed.error.partition(" in ")[0]) == ("POL04", "rlclinic failed on it (OverflowError")
    assert found.verdict is Verdict.COLLAPSED
    assert "report this fault of the check itself (rlclinic failed on it (OverflowError in" in diagnosis_text(found)
    assert CliRunner().invoke(app, ["diagnose", path]).exit_code == 1
    assert CliRunner().invoke(app, ["diagnose", path, "--select", "POL04"]).exit_code == 2
    assert CliRunner().invoke(app, ["diagnose", path, "--select", "LMR01"]).exit_code == 5


def test_selecting_a_family_runs_only_its_rules(runs: Path) -> None:
    diagnosis = diagnose(runs / "sb3" / "ppo_cartpole_high_lr", select=["policy"])
    assert {finding.family for finding in diagnosis.findings} == {"policy"}


def test_an_ignored_rule_says_nothing(runs: Path) -> None:
    codes = {finding.code for finding in diagnose(runs / "sb3" / "ppo_cartpole_high_lr", ignore=["POL04"]).findings}
    assert "POL04" not in codes
    assert "POL13" in codes


def test_the_decision_path_begins_where_the_first_check_fails() -> None:
    path = diagnosis_of("sb3/ppo_cartpole_high_lr").decision_path
    assert path[0].startswith("Are all numbers finite?")
    assert sum("Begin here." in line for line in path) == 1


def test_what_is_missing_is_said_not_passed_over() -> None:
    diagnosis = diagnosis_of("sb3/ppo_cartpole_no_monitor")
    assert any("return/train|return/eval" in item.needs for item in diagnosis.not_checked)
    assert diagnosis.verdict is Verdict.INSUFFICIENT_DATA


def test_a_diagnosis_shows_itself_in_a_notebook() -> None:
    html = diagnosis_of("sb3/ppo_cartpole_high_lr")._repr_html_()
    assert "learning-rate-too-high" in html
    assert "collapsed" in html


def test_a_goal_that_the_user_tells_comes_before_that_of_the_task(runs: Path) -> None:
    path = runs / "sb3" / "ppo_cartpole"
    low, high = (diagnose(path, goal=goal) for goal in (60.0, 100_000.0))
    assert [(told.goal.level, told.goal.origin) for told in (low, high) if told.goal] == [
        (60.0, "set with --goal"),
        (100_000.0, "set with --goal"),
    ]
    assert low.verdict is Verdict.SOLVED
    assert high.verdict is not Verdict.SOLVED
    assert diagnose(path).goal != low.goal


def test_a_run_without_a_goal_hints_at_how_to_tell_one(runs: Path) -> None:
    run = replace(read(runs / "sb3" / "ppo_cartpole"), environment="MyRobot-v0", threshold=None)
    assert any("`--goal`" in line for line in diagnose(run).unknowns)
    assert not any("goal" in line for line in diagnose(run, goal=400.0).unknowns)


@pytest.mark.parametrize("goal", [math.nan, math.inf])
def test_a_goal_that_is_no_number_is_refused(runs: Path, goal: float) -> None:
    with pytest.raises(UsageError, match="goal"):
        diagnose(runs / "sb3" / "ppo_cartpole", goal=goal)


def test_other_runs_are_named_like_the_run() -> None:
    path = RUNS / "sb3/ppo_cartpole"
    named = diagnose(str(path), others=[RUNS / "sb3/ppo_cartpole_vec4"])
    assert named.verdict is diagnose(path, others=[read(RUNS / "sb3/ppo_cartpole_vec4")]).verdict
    with pytest.raises(UsageError, match="a list of runs"):
        diagnose(path, others=str(path))
