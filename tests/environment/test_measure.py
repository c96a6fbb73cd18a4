"""The examination of running environments, in this process: what it finds, and where it finds nothing."""

from __future__ import annotations

import pytest

from rlclinic.causes.catalogue import NOTHING_WRONG
from rlclinic.engine import examine
from rlclinic.environment.clones import Simulator, State
from rlclinic.environment.measure import Wanted, measure
from rlclinic.environment.play import step
from rlclinic.model.diagnosis import Diagnosis, Verdict
from rlclinic.model.environment_facts import EnvironmentFacts, facts_of_json
from tests.environment import tasks

SECONDS = 120.0
"""Never used up: the work is bounded, and the machine may be busy."""
pytestmark = pytest.mark.usefixtures("small")


def examined(kind: type, **more: object) -> tuple[EnvironmentFacts, Diagnosis]:
    facts = measure(kind, kind.__name__, Wanted(SECONDS, **more), lambda *_: None)  # type: ignore[arg-type]
    return facts, examine(facts)


def test_a_sound_environment_gets_no_finding_that_matters() -> None:
    facts, found = examined(tasks.Slide)
    assert [item.summary for item in found.findings if item.severity.rank > 0] == []
    assert found.verdict is Verdict.NO_FAULT_FOUND
    assert found.causes[0].id == NOTHING_WRONG
    assert found.prescriptions == ()
    assert facts.reset is not None
    assert facts.reset.reproducible
    assert facts.policy("random") is not None
    assert facts.reward is not None
    assert [part.name for part in facts.reward.components] == ["way"]


@pytest.mark.parametrize(
    ("kind", "cause"),
    [
        (tasks.Deaf, "action-without-effect"),
        (tasks.Noisy, "noisy-reward"),
        (tasks.Blind, "observation-insufficient"),
        (tasks.Raises, "exception"),
    ],
)
def test_a_broken_environment_is_named(kind: type, cause: str) -> None:
    _, found = examined(kind)
    assert found.causes[0].id == cause
    assert found.verdict is Verdict.MISCONFIGURED
    assert found.prescriptions


def test_an_oracle_that_earns_less_than_chance_points_to_the_sign_of_the_reward() -> None:
    _, found = examined(tasks.Slide, policies=(("oracle", tasks.away),))
    assert found.causes[0].id == "reward-sign-wrong"


def test_an_oracle_that_does_well_is_no_finding() -> None:
    facts, found = examined(tasks.Slide, policies=(("oracle", tasks.to_zero),))
    oracle, chance = facts.policy("oracle"), facts.policy("random")
    assert oracle is not None
    assert chance is not None
    assert oracle.low > chance.high
    assert found.verdict is Verdict.NO_FAULT_FOUND


def test_facts_survive_the_way_through_json() -> None:
    facts, _ = examined(tasks.Raises)
    again = facts_of_json(facts.to_json())
    assert again.problems == facts.problems
    assert again.observation is not None
    assert again.to_json().keys() == facts.to_json().keys()


def test_copies_of_a_state_go_on_alike_and_leave_the_original_alone() -> None:
    environment = tasks.Slide()
    simulator = Simulator(tasks.Slide, lambda seen: seen, reproducible=True)
    assert simulator.mode == "copy"
    environment.action_space.seed(0)
    actions = tuple(environment.action_space.sample() for _ in range(5))
    one, two = simulator.at(State(3, actions), 2)
    assert step(one, actions[0])[1] == step(two, actions[0])[1]


def test_holms_correction_asks_more_of_the_first_of_many_tests() -> None:
    alone = EnvironmentFacts("trace", "x", tests={"leak": 0.008})
    many = EnvironmentFacts("trace", "x", tests={"leak": 0.008, "other": 0.5, "third": 0.9})
    assert alone.surely("leak")
    assert not many.surely("leak")
    assert not alone.surely("not made")
