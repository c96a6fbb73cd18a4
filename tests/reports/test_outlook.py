"""The outlook in reports: what to do first, and that progress is never called a result."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rlclinic.model.outlook import Advice, Expectation, Outlook, Trajectory
from rlclinic.model.run import RunStatus, Status
from rlclinic.reports.diagnosis_html import diagnosis_html
from rlclinic.reports.diagnosis_json import diagnosis_json, diagnosis_object
from rlclinic.reports.diagnosis_markdown import diagnosis_markdown
from rlclinic.reports.diagnosis_text import diagnosis_text
from tests.reports.cases import healthy
from tests.reports.schema_check import problems

SCHEMA: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / "docs" / "diagnosis.schema.json").read_text(encoding="utf-8")
)
OUTLOOK = Outlook(
    Trajectory.RISING,
    "so far rollout/ep_rew_mean went from 22.7 to 149",
    Advice.CONTINUE,
    "the chance of the goal within the budget is 81%",
    0.4,
    475.0,
    "the threshold of CartPole",
    Expectation(0.81, 480.0, 300.0, 500.0, 31_000.0, 25_000.0, 40_000.0),
    125.0,
)


@pytest.mark.parametrize("render", [diagnosis_text, diagnosis_markdown, diagnosis_html])
def test_every_format_says_what_to_do_what_to_expect_and_that_it_is_no_result(render: Any) -> None:
    text = " ".join(render(replace(healthy(), outlook=OUTLOOK)).split())
    for words in (
        "Outlook",
        "Let it run: the chance of the goal within the budget is 81%",
        "about 2 min left at this speed",
        "475, the threshold of CartPole",
        "at step 31,000 (25,000 to 40,000)",
        "progress so far, not a result",
    ):
        assert words in text, words


@pytest.mark.parametrize("render", [diagnosis_text, diagnosis_markdown, diagnosis_html])
def test_a_run_that_has_ended_has_no_such_section(render: Any) -> None:
    assert "Outlook" not in render(healthy())


def test_the_performance_of_a_running_run_has_no_end() -> None:
    run = replace(healthy().run, status=RunStatus(Status.RUNNING, "the log grows"))
    text = diagnosis_text(replace(healthy(), run=run, outlook=OUTLOOK))
    performance = text[text.index("Performance\n") : text.index("Outlook\n")]
    assert "now" in performance
    assert " end" not in performance
    assert "never" not in performance


def test_the_json_carries_it_under_the_published_schema() -> None:
    value = json.loads(diagnosis_json(replace(healthy(), outlook=OUTLOOK)))
    assert problems(value, SCHEMA, SCHEMA) == []
    assert value["outlook"]["advice"] == "continue"
    assert value["outlook"]["expectation"]["step_interval"] == [25_000.0, 40_000.0]
    assert diagnosis_object(healthy())["outlook"] is None


def test_the_schema_knows_every_advice_and_trajectory() -> None:
    fields = SCHEMA["$defs"]["outlook"]["properties"]
    assert fields["advice"]["enum"] == [advice.value for advice in Advice]
    assert fields["trajectory"]["enum"] == [trajectory.value for trajectory in Trajectory]


def test_an_unlikely_target_has_no_expected_step() -> None:
    doubtful = replace(OUTLOOK, expectation=Expectation(0.1, 200.0, 100.0, 300.0, 49_000.0, 48_000.0, 50_000.0))
    assert "49,000" not in diagnosis_text(replace(healthy(), outlook=doubtful))
