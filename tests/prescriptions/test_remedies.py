"""Every cause has a remedy or says why not, and the tables say what can be done."""

from __future__ import annotations

import ast

import pytest

from rlclinic.causes.catalogue import NOTHING_WRONG, UNKNOWN, catalogue
from rlclinic.model.prescription import PrescriptionKind
from rlclinic.prescriptions.candidate import candidate_of
from rlclinic.prescriptions.case import Case
from rlclinic.prescriptions.checks import checks
from rlclinic.prescriptions.effects import Effects
from rlclinic.prescriptions.remedies import Reach, remedies
from rlclinic.prescriptions.snippets import snippet
from tests.prescriptions.made import DQN, PPO, SAC, case_of, made_run

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


def test_there_are_107_causes_with_an_entry() -> None:
    assert sorted(remedies()) == CAUSES
    assert len(CAUSES) == 107


@pytest.mark.parametrize("cause", CAUSES)
def test_a_cause_is_treated_in_at_least_one_kind_of_run_or_declares_that_nothing_is_to_be_done(cause: str) -> None:
    made = [candidate_of(case, case.causes[cause], Effects()) for case in _cases(cause)]
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
            prescription.kind is PrescriptionKind.CHECK or item.reach is Reach.NOTHING
        )


def test_every_class_of_causes_has_a_test_that_separates_it() -> None:
    classes = {catalogue()[cause].cause_class for cause in CAUSES}
    assert set(checks()) == classes | {UNKNOWN}


def test_no_row_widens_the_clip_range_or_raises_it_by_a_step() -> None:
    rows = [(cause, row) for cause, remedy in remedies().items() for row in remedy.rows if row.key == "clip_range"]
    assert rows
    assert {row.how for _, row in rows} == {"reference"}


@pytest.mark.parametrize("framework", ["sb3", "torchrl"])
def test_every_snippet_of_the_tables_is_there_and_is_python(framework: str) -> None:
    names = {row.snippet for remedy in remedies().values() for row in remedy.rows if row.snippet}
    assert names
    for name in names:
        text = snippet(name, framework)
        assert text, name
        ast.parse(text)


def _cases(cause: str) -> list[Case]:
    return [case_of(run, {cause: 0.7}) for run in RUNS.values()]
