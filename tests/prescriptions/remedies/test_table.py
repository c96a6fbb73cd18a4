"""Every cause has a remedy or says why not, and the tables say what can be done."""

from __future__ import annotations

import ast

import pytest

from rlclinic.causes.catalogue import NOTHING_WRONG, UNKNOWN, catalogue
from rlclinic.model.prescription import PrescriptionKind
from rlclinic.prescriptions.assessment import Assessment
from rlclinic.prescriptions.checks.class_tests import class_tests
from rlclinic.prescriptions.proposals.effects import Effects
from rlclinic.prescriptions.proposals.proposal import proposal_of
from rlclinic.prescriptions.remedies.computed import COMPUTED
from rlclinic.prescriptions.remedies.snippets import snippet
from rlclinic.prescriptions.remedies.table import Reach, remedies
from tests.prescriptions.made import DQN, PPO, SAC, assessment_of, made_run

CAUSES = sorted(set(catalogue()) - {NOTHING_WRONG, UNKNOWN})
WITHOUT_REMEDY = {"already-solved"}
RUNS = {
    "ppo": made_run(PPO),
    "sac": made_run(SAC, algorithm="SAC", environment="Pendulum-v1"),
    "dqn": made_run(DQN, algorithm="DQN"),
    "unknown": made_run({}, framework_id="unknown", algorithm="", environment=""),
    "grpo": made_run(
        {"num_generations": 8, "learning_rate": 1e-6}, framework_id="trl", algorithm="GRPO", environment=""
    ),
}


def test_every_cause_has_an_entry() -> None:
    assert sorted(remedies()) == CAUSES
    assert len(CAUSES) == 122


@pytest.mark.parametrize("cause", CAUSES)
def test_a_cause_is_treated_in_at_least_one_kind_of_run_or_declares_that_nothing_is_to_be_done(cause: str) -> None:
    made = [proposal_of(assessment, assessment.causes[cause], Effects()) for assessment in _assessments(cause)]
    treated = [item for item in made if item is not None]
    if cause in WITHOUT_REMEDY:
        assert treated == []
        assert remedies()[cause].none
        return
    assert treated
    for item in treated:
        prescription = item.prescription
        assert prescription.instruction.strip()
        assert prescription.risk.endswith(".")
        assert "{" not in prescription.instruction.replace("{start", "")
        assert prescription.causes == (cause,)
        assert (prescription.expected_impact is None) == (
            prescription.kind is PrescriptionKind.CHECK or item.remedy.reach is Reach.NOTHING
        )


def test_every_class_of_causes_has_a_test_that_separates_it() -> None:
    classes = {catalogue()[cause].cause_class for cause in CAUSES}
    assert set(class_tests()) == classes | {UNKNOWN}


def test_no_option_widens_the_clip_range_or_raises_it_by_a_step() -> None:
    options = [option for remedy in remedies().values() for option in remedy.options if option.key == "clip_range"]
    assert options
    assert {option.how for option in options} == {"reference"}


def test_every_computed_value_is_named_in_a_table() -> None:
    named = {option.by for remedy in remedies().values() for option in remedy.options if option.how == "compute"}
    assert set(COMPUTED) == named


@pytest.mark.parametrize("framework", ["sb3", "torchrl"])
def test_every_snippet_of_the_tables_is_there_and_is_python(framework: str) -> None:
    names = {option.snippet for remedy in remedies().values() for option in remedy.options if option.snippet}
    assert names
    for name in names:
        text = snippet(name, framework)
        assert text, name
        ast.parse(text)


def _assessments(cause: str) -> list[Assessment]:
    return [assessment_of(run, {cause: 0.7}) for run in RUNS.values()]
