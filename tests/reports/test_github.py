"""Workflow commands for GitHub: where they point, how many there are, and that no text of a log is a command."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from rlclinic.model.config import Config, Origin, Setting
from rlclinic.model.diagnosis import Diagnosis
from rlclinic.model.finding import Evidence, Finding, Severity
from rlclinic.model.prescription import (
    Basis,
    Change,
    Impact,
    Prescription,
    PrescriptionKind,
    Priority,
    Safety,
)
from rlclinic.reports.formats import Context
from rlclinic.reports.github import MOST, diagnoses_github, step_summary
from rlclinic.reports.location import finding_location, source_file
from tests.reports.cases import CASES, collapsed
from tests.reports.hostile import ATTACKS, hostile_diagnosis
from tests.reports.kept import assert_golden

COMMAND = re.compile(r"::(error|warning|notice) (?:file=[^,:]*,line=\d+,)?title=[^,:]*::.*")


def with_config(diagnosis: Diagnosis) -> Diagnosis:
    """The same with a config file, a finding about it and a prescription that treats the leading cause."""
    rate = Setting("learning_rate", 0.05, "learning_rate", Origin("config.yml", 12))
    lead = Finding(
        "CFG01",
        "Hyperparameters lie far from those of working configs",
        "config",
        Severity.INFO,
        0.9,
        "learning_rate 0.05 (usual 0.0003)",
        (Evidence("learning_rate", "learning_rate", 3.2, 2.0),),
        name="far-from-reference",
    )
    change = Prescription(
        Priority.CRITICAL,
        PrescriptionKind.CONFIG,
        "Lower learning_rate from 0.05 to 0.0003",
        "KL of one update reached 1.66: 22 times its early level",
        Impact("final-return", 0.2, 3.0, Basis.GUESS),
        "slower at first",
        Safety.SAFE,
        ("learning-rate-too-high",),
        (Change("learning_rate", "learning_rate", 0.05, 0.0003),),
    )
    run = replace(diagnosis.run, config=Config({"learning_rate": rate}, {"learning_rate": rate}))
    return replace(diagnosis, run=run, findings=(*diagnosis.findings, lead), prescriptions=(change,))


def test_the_commands_read_as_kept() -> None:
    assert_golden("collapsed.github", diagnoses_github([with_config(collapsed())], Context()))


def test_a_finding_about_a_setting_points_at_its_line() -> None:
    diagnosis = with_config(collapsed())
    place = finding_location(diagnosis, diagnosis.findings[-1])
    assert place is not None
    assert (place.file, place.line) == ("runs/sb3/ppo_cartpole_high_lr/config.yml", 12)


def test_a_finding_that_supports_a_treated_cause_points_at_the_value_to_change() -> None:
    diagnosis = with_config(collapsed())
    place = finding_location(diagnosis, diagnosis.findings[1])
    assert place is not None
    assert place.line == 12
    assert finding_location(diagnosis, diagnosis.findings[2]) is None


def test_files_below_the_workspace_are_named_relative_to_it() -> None:
    diagnosis = with_config(collapsed())
    moved = replace(diagnosis, run=replace(diagnosis.run, path="/home/me/project/runs/a"))
    assert "file=runs/a/config.yml,line=12," in diagnoses_github([moved], Context(root="/home/me/project"))
    assert "file=/home/me/project/runs/a/config.yml" in diagnoses_github([moved], Context(root="/other"))


def test_a_run_that_is_one_file_has_its_config_beside_it() -> None:
    diagnosis = with_config(collapsed())
    files = replace(diagnosis.run.provenance, files=(replace(diagnosis.run.provenance.files[0], path="progress.csv"),))
    single = replace(diagnosis, run=replace(diagnosis.run, path="runs/a/progress.csv", provenance=files))
    place = finding_location(single, single.findings[-1])
    assert place is not None
    assert place.file == "runs/a/config.yml"
    assert source_file(single, single.findings[1]).startswith("runs/a/")


def test_the_worst_come_first_and_no_level_has_more_than_github_shows() -> None:
    finding = collapsed().findings[0]
    many = tuple(
        replace(finding, code=f"X{index:02d}", severity=severity, confidence=index / 100)
        for index in range(25)
        for severity in Severity
    )
    lines = diagnoses_github([replace(collapsed(), findings=many)], Context()).splitlines()
    levels = [line.split()[0].strip(":") for line in lines if line.startswith("::")]
    assert levels == ["error"] * MOST + ["warning"] * MOST + ["notice"] * MOST
    assert "title=X24" in lines[0]
    assert lines.count("15 more of level error are in the step summary") == 1


def test_what_to_change_leads_the_notices() -> None:
    notices = [
        line for line in diagnoses_github([with_config(collapsed())], Context()).splitlines() if "::notice" in line
    ]
    assert "critical priority" in notices[0]


@pytest.mark.parametrize("attack", [*ATTACKS, "a::error::b", "::stop-commands::x", "50% off, now: a,b\r\n::warning::x"])
def test_no_text_of_a_run_is_a_command_or_ends_a_property(attack: str) -> None:
    for line in diagnoses_github([hostile_diagnosis(attack)], Context()).splitlines():
        assert COMMAND.fullmatch(line) or not line.lstrip().startswith("::"), line
        assert "##[" not in line


def test_the_escapes_are_those_of_the_toolkit() -> None:
    finding = replace(collapsed().findings[0], title="a: b, c", summary="50% of\r\nthe way")
    text = diagnoses_github([replace(collapsed(), findings=(finding,))], Context())
    assert "title=POL01 a%3A b%2C c (ppo_cartpole_high_lr)::50%25 of the way. Confidence 80%25." in text


def test_an_instruction_of_several_lines_stays_one_command() -> None:
    diagnosis = with_config(collapsed())
    change = replace(diagnosis.prescriptions[0], instruction="first\r\nsecond", rationale="third\n::error::fourth")
    lines = diagnoses_github([replace(diagnosis, prescriptions=(change,), findings=())], Context()).splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("::notice file=")


@pytest.mark.parametrize("name", CASES)
def test_every_kind_of_diagnosis_ends_with_its_verdict(name: str) -> None:
    diagnosis = CASES[name]()
    last = diagnoses_github([diagnosis], Context()).splitlines()[-1]
    assert last.startswith(f"{diagnosis.run.id}: {diagnosis.verdict.value}. ")


def test_a_summary_that_is_too_long_is_cut_at_a_line_and_says_so() -> None:
    whole = step_summary([collapsed()])
    assert whole.startswith("# ")
    short = step_summary([collapsed()], room=2_000)
    assert len(short.encode()) <= 2_000
    assert short.endswith("the rest is left out.\n")
    assert whole.startswith(short.split("\n\nThe report is longer")[0])
