"""The component that a suspected bug is about: from findings, with a way to reproduce it and a place to look."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from rlclinic.causes.catalogue import catalogue
from rlclinic.causes.components import code_places, components, suspect_of
from rlclinic.causes.posterior import causes_of
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.diagnosis import Verdict
from rlclinic.model.finding import Finding, Severity
from rlclinic.model.run import Run
from rlclinic.reference.framework import heads
from rlclinic.rules.registry import RULES

BY_NAME = {row.name: row for row in RULES}
INSTALLED = {"stable_baselines3", "torchrl", "ray"}
PLACES = [
    place
    for places in code_places().values()
    for lines in places.values()
    for place in lines
    if place.split("/")[0] in INSTALLED
]


def _finding(name: str, severity: Severity = Severity.ERROR) -> Finding:
    row = BY_NAME[name]
    return Finding(row.code, row.title, row.family, severity, 0.9, "seen", name=name)


def _run(framework: str = "sb3", algorithm: str = "PPO") -> Run:
    return Run("run", "run", framework, algorithm=algorithm, environment="CartPole-v1")


@pytest.mark.parametrize(
    ("rule", "component"),
    [
        ("ratio-off-before-any-step", "log-probability and ratio"),
        ("worse-than-random", "advantage sign"),
        ("q-ignores-episode-ends", "bootstrap and done mask"),
        ("critic-worsens-on-steady-returns", "bootstrap and done mask"),
        ("part-gets-no-gradient", "parameters of the optimiser"),
        ("entropy-out-of-range", "entropy term"),
        ("observation-statistics-drift", "observation normaliser"),
        ("loss-exactly-zero", "logging of losses and returns"),
    ],
)
def test_a_sign_points_to_its_component(rule: str, component: str) -> None:
    suspect = suspect_of(_run(), [_finding(rule)])
    assert suspect is not None
    assert suspect.component == component
    assert suspect.reasons == (BY_NAME[rule].code,)
    assert suspect.look_at


@pytest.mark.parametrize(
    ("framework", "command"),
    [
        ("sb3", "rlclinic probe sb3:PPO"),
        ("torchrl", "rlclinic probe torchrl:PPO"),
        ("cleanrl", "rlclinic probe your.module:make_trainer"),
    ],
)
def test_the_command_drives_the_users_trainer(framework: str, command: str) -> None:
    suspect = suspect_of(_run(framework), [_finding("ratio-off-before-any-step")])
    assert suspect is not None
    assert suspect.command == f"{command} --only S0 --first-seed 0"


def test_notes_and_findings_without_a_component_suspect_nothing() -> None:
    assert suspect_of(_run(), [_finding("loss-exactly-zero", Severity.INFO), _finding("kl-too-large")]) is None


def test_a_sure_sign_of_a_bug_leads_the_causes_and_names_the_component() -> None:
    findings = [_finding("ratio-off-before-any-step")]
    checked = frozenset(BY_NAME)
    causes = causes_of(
        RunFacts(_run()), Verdict.NOT_LEARNING, findings, checked, component="log-probability and ratio"
    ).causes
    assert causes[0].id == "implementation-bug"
    assert causes[0].component == "log-probability and ratio"
    assert [cause.component for cause in causes[1:]] == [None] * (len(causes) - 1)


def test_the_tables_name_only_rules_and_frameworks_that_exist() -> None:
    assert {sign for component in components() for sign in component.signs} <= set(BY_NAME)
    assert set(code_places()) <= {head.id for head in heads()}
    assert "implementation-bug" in catalogue()


@pytest.mark.parametrize("place", sorted(set(PLACES)))
def test_a_place_in_the_code_exists_in_the_installed_release(place: str) -> None:
    file, _, symbol = place.partition(": ")
    spec = importlib.util.find_spec(file.split("/")[0])
    if spec is None or not spec.submodule_search_locations:
        pytest.skip(f"{file.split('/')[0]} is not installed")
    text = (Path(spec.submodule_search_locations[0]).parent / file).read_text(encoding="utf-8")
    for name in symbol.split(" ")[0].split("."):
        assert f"class {name}" in text or f"def {name}(" in text, name
