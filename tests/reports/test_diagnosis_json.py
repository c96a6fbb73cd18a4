"""The JSON contract: its fields, its numbers, and the published schema."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest

from rlclinic.model.diagnosis import Cause, Verdict
from rlclinic.model.finding import Evidence, Severity
from rlclinic.model.run import Status
from rlclinic.model.series import StepAxis
from rlclinic.reference.framework import heads
from rlclinic.reports.diagnosis_json import diagnosis_json, diagnosis_object
from tests.reports.cases import CASES, collapsed
from tests.reports.hostile import ATTACKS, hostile_diagnosis
from tests.reports.kept import assert_golden
from tests.reports.schema_check import checked

SCHEMA: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / "docs" / "diagnosis.schema.json").read_text(encoding="utf-8")
)


def check(value: Any) -> list[str]:
    """What the schema finds wrong, by jsonschema as well where it is installed."""
    return checked(value, SCHEMA)


@pytest.mark.parametrize("name", CASES)
def test_every_kind_of_diagnosis_fits_the_published_schema(name: str) -> None:
    assert check(json.loads(diagnosis_json(CASES[name]()))) == []


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_text_breaks_the_json(attack: str) -> None:
    value = json.loads(diagnosis_json(hostile_diagnosis(attack)))
    assert check(value) == []
    assert value["run"]["id"] == attack


def test_the_object_reads_as_kept() -> None:
    assert_golden("collapsed.json", diagnosis_json(collapsed()))


def test_the_contract_of_the_design_is_met() -> None:
    value = diagnosis_object(collapsed())
    assert value["schema"] == "rlclinic.diagnosis/1"
    assert {
        "schema", "run", "verdict", "findings", "not_checked", "causes", "classes", "prescriptions", "decision_path",
        "next_steps", "unknowns",
    } <= set(value)  # fmt: skip
    assert {
        "id", "path", "framework", "algorithm", "environment", "status", "source", "step_axis", "steps", "env_steps",
        "budget", "return",
    } <= set(value["run"])  # fmt: skip
    assert {"code", "title", "severity", "confidence", "onset_step", "summary", "evidence"} <= set(value["findings"][0])
    assert {"metric", "logged_as", "steps", "value", "threshold", "points"} <= set(value["findings"][0]["evidence"][0])
    assert set(value["causes"][0]) == {
        "id", "class", "kind", "title", "probability", "metrics_only", "config_only", "component", "for", "against",
    }  # fmt: skip
    assert {
        "priority", "kind", "instruction", "changes", "native", "rationale", "expected_impact", "risk", "safety",
        "causes",
    } <= set(value["prescriptions"][0])  # fmt: skip
    assert value["prescriptions"][0]["changes"] == [
        {"key": "learning_rate", "native_key": "policy_lr", "from": 0.05, "to": 0.001}
    ]
    assert value["prescriptions"][1]["native"] is None


def test_causes_below_five_percent_are_left_out_and_the_rest_are_ranked() -> None:
    causes = tuple(Cause(f"c{index}", "x", "root", "x", share) for index, share in enumerate((0.04999, 0.05, 0.9)))
    shown = diagnosis_object(replace(collapsed(), causes=causes))["causes"]
    assert [cause["id"] for cause in shown] == ["c2", "c1"]


def test_probabilities_have_four_digits() -> None:
    causes = (Cause("c", "x", "root", "x", 1 / 3, 2 / 3, 1 / 7),)
    value = diagnosis_object(replace(collapsed(), causes=causes, classes={"x": 1 / 3, "y": 2 / 3}))
    cause = value["causes"][0]
    assert (cause["probability"], cause["metrics_only"], cause["config_only"]) == (0.3333, 0.6667, 0.1429)
    assert value["classes"] == [{"id": "y", "probability": 0.6667}, {"id": "x", "probability": 0.3333}]


def test_numbers_that_are_not_finite_are_strings() -> None:
    base = collapsed()
    evidence = (Evidence("entropy", "e", float("nan"), float("-inf"), (0.0, float("inf")), 3),)
    value = json.loads(diagnosis_json(replace(base, findings=(replace(base.findings[0], evidence=evidence),))))
    shown = value["findings"][0]["evidence"][0]
    assert (shown["value"], shown["threshold"], shown["steps"]) == ("nan", "-inf", [0.0, "inf"])
    assert check(value) == []


@pytest.mark.parametrize(
    "spoil",
    [
        lambda value: value.update(verdict="fine"),
        lambda value: value.pop("unknowns"),
        lambda value: value["run"].update(framework="PyTorch 2"),
        lambda value: value["causes"][0].update(probability=1.2),
        lambda value: value["causes"][0].update(extra=1),
        lambda value: value["findings"][0].update(severity="fatal"),
        lambda value: value["findings"][0]["evidence"][0].update(steps=[1]),
        lambda value: value["findings"][0]["evidence"][0].update(points=True),
        lambda value: value["findings"][0]["evidence"][0].update(value=None),
        lambda value: value["prescriptions"].append({"priority": "high"}),
    ],
)
def test_the_schema_refuses_what_is_wrong(spoil: Callable[[dict[str, Any]], object]) -> None:
    value = json.loads(diagnosis_json(collapsed()))
    assert check(value) == []
    spoil(value)
    assert check(value) != []


def test_the_schema_lets_the_top_and_the_run_grow() -> None:
    value = json.loads(diagnosis_json(collapsed()))
    value["new"] = value["run"]["new"] = 1
    assert check(value) == []


def test_a_prescription_of_the_design_fits() -> None:
    value = json.loads(diagnosis_json(collapsed()))
    value["prescriptions"] = [
        {
            "priority": "high",
            "kind": "config",
            "instruction": "Lower the learning rate.",
            "changes": [{"key": "learning_rate", "native_key": "lr", "from": 0.05, "to": "3e-4"}],
            "native": {"format": "yaml", "text": "lr: 3e-4"},
            "rationale": "x",
            "expected_impact": {"metric": "return", "low": 0.1, "high": 0.4, "basis": "guess"},
            "risk": "x",
            "safety": "unsafe",
            "causes": ["learning-rate-too-high"],
        }
    ]
    assert check(value) == []


def test_the_schema_knows_every_word_of_the_model() -> None:
    run = SCHEMA["$defs"]["run"]["properties"]
    assert SCHEMA["properties"]["verdict"]["enum"] == [word.value for word in Verdict]
    assert set(run["status"]["enum"]) == {word.value for word in Status}
    assert set(run["step_axis"]["enum"]) == set(get_args(StepAxis))
    assert set(SCHEMA["$defs"]["finding"]["properties"]["severity"]["enum"]) == {word.value for word in Severity}
    assert [head.id for head in heads() if not re.fullmatch(run["framework"]["pattern"], head.id)] == []
