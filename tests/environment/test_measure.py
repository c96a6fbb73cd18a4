"""The examination of running environments, in this process: what it finds, and where it finds nothing."""

from __future__ import annotations

import base64
import struct
from collections.abc import Callable
from typing import Any

import pytest

from rlclinic.causes.catalogue import NOTHING_WRONG
from rlclinic.engine import examine
from rlclinic.environment import measure as measuring
from rlclinic.environment.clones import Simulator, State
from rlclinic.environment.frames import COUNT, strip_of
from rlclinic.environment.measure import Wanted, measure
from rlclinic.environment.play import play, recorder_of, step
from rlclinic.environment.resets import reset_facts
from rlclinic.model.answer import answer_of
from rlclinic.model.diagnosis import Diagnosis, Verdict
from rlclinic.model.environment_facts import EnvironmentFacts, ResetFacts, facts_of_json
from rlclinic.reports.examination import environment_blocks
from tests.environment import tasks

SECONDS = 120.0
"""Never used up: the work is bounded, and the machine may be busy."""
pytestmark = pytest.mark.usefixtures("small")


def examined(kind: Callable[[], Any], **more: object) -> tuple[EnvironmentFacts, Diagnosis]:
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
    assert repr(facts_of_json(facts.to_json())) == repr(facts)


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
    facts, found = examined(kind)
    assert found.causes[0].id == cause
    assert found.verdict is Verdict.MISCONFIGURED
    assert found.prescriptions
    told = "".join(item.instruction for item in found.prescriptions)
    assert "ended the run" not in told
    assert "MODULE:make_env" not in told + str(found.commands)
    assert not any("--budget" in text for text in facts.skipped)


def test_a_range_that_is_clipped_inside_its_bounds_is_told() -> None:
    facts, found = examined(tasks.Clipped)
    assert facts.action is not None
    assert [one.inner for one in facts.action.effects] == [1.0]
    assert found.causes[0].id == "action-space-unnormalised"


def test_running_statistics_are_set_aside_and_said() -> None:
    facts, found = examined(tasks.normalised)
    assert [item.summary for item in found.findings if item.severity.rank > 0] == []
    assert [one.of for one in facts.normalisers] == ["rewards", "observations"]
    assert "NormalizeReward, NormalizeObservation" in facts.skipped[0]


def test_a_success_that_pays_less_than_a_failure_is_the_finding() -> None:
    facts, found = examined(tasks.Success)
    assert facts.episodes is not None
    assert facts.episodes.success_pays < 0.1
    assert found.causes[0].id == "reward-hacking"


def test_a_cost_of_force_is_a_reward_that_actions_change() -> None:
    facts, found = examined(tasks.Forced)
    assert facts.reward is not None
    assert facts.reward.effect_lag == 0
    assert facts.reward.same_action == 0.0
    assert [item.code for item in found.findings if item.severity.rank > 0] == []


def test_terms_that_the_user_names_are_taken_apart_and_those_that_cancel_are_told() -> None:
    named = {"bonus": "terms.bonus", "cost": "terms.cost", "way": "terms.way"}
    facts, found = examined(tasks.TakenBack, components=named)
    assert facts.reward is not None
    assert [part.name for part in facts.reward.components] == list(named)
    assert "ENV65" in [item.code for item in found.findings]
    facts, _ = examined(tasks.TakenBack)
    assert facts.reward is not None
    assert not facts.reward.components


def test_an_oracle_that_earns_less_than_chance_points_to_the_sign_of_the_reward() -> None:
    _, found = examined(tasks.Slide, policies=(("oracle", tasks.away),))
    assert found.causes[0].id == "reward-sign-wrong"


def test_an_oracle_and_a_trained_policy_that_do_well_are_no_finding_and_their_episodes_are_shown() -> None:
    both = (("oracle", tasks.to_zero), ("trained", tasks.to_zero))
    facts, found = examined(tasks.Slide, policies=both, rendering=tasks.Drawn)
    assert [(one.policy, one.label) for one in facts.shown] == [
        ("random", "median"), ("trained", "best"), ("trained", "median"), ("trained", "worst")
    ]  # fmt: skip
    best, median, worst = facts.shown[1:]
    assert best.total > median.total > worst.total
    assert best.course["reward"][-1] == pytest.approx(best.total, rel=1e-4)
    assert best.components == {"way": pytest.approx(best.total)}
    assert len(best.frames) == COUNT
    assert base64.b64decode(best.frames[0]).startswith(b"\x89PNG")
    assert facts.shown[0].frames == ()
    oracle, chance = facts.policy("oracle"), facts.policy("random")
    assert oracle is not None
    assert chance is not None
    assert oracle.low > chance.high
    assert found.verdict is Verdict.NO_FAULT_FOUND


def test_a_trained_policy_that_does_no_better_than_chance_sends_to_the_trainer() -> None:
    facts, found = examined(tasks.Slide, policies=(("trained", tasks.away),))
    assert facts.learned_nothing
    assert found.verdict is Verdict.NO_FAULT_FOUND
    assert "look for the fault in the trainer" in found.next_steps[0]
    assert "the trained policy earns no more than random actions" in str(answer_of(found))


def test_numbers_that_are_the_same_are_told() -> None:
    facts, _ = examined(tasks.Twice)
    assert dict(environment_blocks(facts)[0].rows)["always the same number"] == "[1] and [0]"  # type: ignore[union-attr]


def test_an_environment_without_an_end_has_no_return_of_nan() -> None:
    facts, _ = examined(tasks.Endless)
    rows = dict(environment_blocks(facts)[0].rows)  # type: ignore[union-attr]
    assert rows["episodes"] == "none came to an end"
    assert "return" not in rows


def test_the_pictures_of_an_episode_stand_side_by_side_in_a_strip() -> None:
    (strip,) = strip_of(tasks.Drawn, tasks.to_zero, 3, 25)
    width, height = struct.unpack(">II", base64.b64decode(strip)[16:24])
    assert (width, height) == (40 * COUNT, 30)
    assert strip_of(tasks.Slide, tasks.to_zero, 3, 25) == ()


def test_too_few_steps_are_no_clean_bill(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rlclinic.environment.measure.MOST_STEPS", 60)
    facts, found = examined(tasks.Slide)
    assert facts.reward is None
    assert found.verdict is Verdict.INSUFFICIENT_DATA
    assert any("too few" in line for line in found.unknowns)


@pytest.mark.parametrize(("kind", "left"), [(tasks.Slide, False), (tasks.Chaotic, False), (tasks.Worn, True)])
def test_rounding_that_a_solver_keeps_of_the_past_is_no_leak(kind: type, *, left: bool) -> None:
    used = kind()
    record, space = recorder_of(used), used.action_space
    for seed in range(12):
        play(used, lambda _: space.sample(), record, seed=seed, end=float("inf"))
    found = reset_facts(kind, used, record.see, ResetFacts())
    assert found.reproducible
    assert found.carried_over is left


def test_copies_of_a_state_go_on_alike_and_leave_the_original_alone() -> None:
    environment = tasks.Slide()
    simulator = Simulator(tasks.Slide, lambda seen: seen, reproducible=True)
    assert simulator.mode == "copy"
    environment.action_space.seed(0)
    actions = tuple(environment.action_space.sample() for _ in range(5))
    one, two = simulator.at(State(3, actions), 2)
    assert step(one, actions[0])[1] == step(two, actions[0])[1]


@pytest.mark.parametrize(
    ("kind", "code", "cause"),
    [
        (tasks.SameChance, "ENV44", "reset-broken"),
        (tasks.SameArray, "ENV33", "observation-corrupted"),
        (tasks.CountsOn, "ENV42", "reset-broken"),
        (tasks.Away, "ENV68", "reward-hacking"),
        (tasks.Stale, "ENV38", "observation-insufficient"),
        (tasks.Summed, "ENV70", "reward-favours-staying"),
        (tasks.Hover, "ENV70", "reward-favours-staying"),
        (tasks.Rounds, "ENV70", "reward-favours-staying"),
        (tasks.Weak, "ENV39", "action-without-effect"),
        (tasks.Waits, "ENV68", "reward-hacking"),
        (tasks.Falls, "ENV61", "reward-favours-ending"),
        (tasks.Rightwards, "ENV67", "reward-component-dominates"),
        (tasks.Lost, "ENV31", "physics-unstable"),
        (tasks.Hunt, "ENV38", "observation-insufficient"),
        (tasks.jittery, "ENV36", "observation-corrupted"),
    ],
)
def test_a_mistake_that_people_make_is_named(
    kind: Callable[[], Any], code: str, cause: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measuring, "NOISE_STATES", 20)
    _, found = examined(kind)
    assert code in [item.code for item in found.findings if item.severity.rank > 0]
    assert found.causes[0].id == cause


@pytest.mark.parametrize(
    "kind",
    [
        lambda: tasks.Hunt(told=True),
        tasks.Long,
        tasks.Guess,
        tasks.Gusts,
        tasks.Nearest,
        tasks.Counter,
        tasks.Homing,
        lambda: tasks.Rounds(back=1.0),
        tasks.Paces,
    ],
)
def test_what_only_looks_like_a_mistake_is_none(kind: Callable[[], Any]) -> None:
    facts = measure(kind, "sound", Wanted(SECONDS), lambda *_: None)
    assert [item.summary for item in examine(facts).findings if item.severity.rank > 0] == []
