"""What comes after the diagnosis: variations of the change, and what to monitor."""

from __future__ import annotations

import pytest

from rlclinic.prescriptions.commands import commands_of
from rlclinic.prescriptions.next_steps import next_steps, variations
from tests.prescriptions.made import PPO, advised, made_run

RUN = made_run({**PPO, "learning_rate": 0.05})


def test_values_to_either_side_of_the_change_are_variations_to_try() -> None:
    made = advised(RUN, {"learning-rate-too-high": 0.9}, "kl-too-large")
    assert "learning_rate 0.00033 and 0.003" in variations(made[0])
    assert any(line.startswith("Variations to try") for line in next_steps(RUN, made))


def test_a_test_that_may_find_nothing_is_followed_by_variations_of_the_rate() -> None:
    made = advised(made_run(PPO), {"unknown": 0.7})
    assert variations(made[0]) == ""
    told = [line for line in next_steps(made_run(PPO), made) if "variations to try" in line]
    assert len(told) == 1
    assert told[0].startswith("If these tests find nothing")
    assert told[0].endswith("learning_rate 0.0001 and 0.0009.")


def test_where_no_rate_is_known_there_is_nothing_to_vary() -> None:
    bare = made_run({"total_timesteps": 50_000}, framework_id="generic", algorithm="")
    assert not any("variations" in line for line in next_steps(bare, advised(bare, {"unknown": 0.7})))


@pytest.mark.parametrize(
    ("cause", "tells", "command"),
    [
        ("learning-rate-too-high", "If none of this helps", "rlclinic examine CartPole-v1"),
        # The standard id cannot show why the user's own environment departs from it.
        ("reward-sign-wrong", "plays the environment that was trained in", "rlclinic examine MODULE:make_env"),
    ],
)
def test_what_no_prescription_looks_at_is_named_with_its_command(cause: str, tells: str, command: str) -> None:
    run = made_run({**PPO, "learning_rate": 0.05})
    told = [line for line in next_steps(run, advised(run, {cause: 0.9})) if "rlclinic examine" in line]
    assert len(told) == 1
    assert tells in told[0]
    assert f"`{command}`" in told[0]
    assert "MODULE:make_env" in told[0]


def test_what_the_log_itself_names_is_not_looked_for_elsewhere() -> None:
    lines = next_steps(RUN, advised(RUN, {"exception": 0.9}))
    assert lines
    assert not any("rlclinic examine" in line for line in lines)


def test_a_fault_of_the_environment_is_seen_by_examining_it() -> None:
    advice = advised(RUN, {"reward-sign-wrong": 0.9})
    assert commands_of(RUN, advice, (), None).test.startswith("rlclinic examine")


def test_there_is_no_step_beside_a_horizon_without_end() -> None:
    made = advised(made_run({**PPO, "gae_lambda": 0.2}, environment="Reacher-v5"), {"gae-lambda-wrong": 0.9})
    [item] = [item for item in made if item.changes]
    assert item.changes[0].after == 1.0
    assert variations(item) == ""


def test_the_standard_id_is_not_examined_where_the_run_departs_from_it() -> None:
    made = advised(made_run(PPO), {"unknown": 0.7}, "untrained-policy-earns-far-less")
    assert "rlclinic examine MODULE:make_env" in made[0].instruction
    assert "rlclinic examine CartPole" not in made[0].instruction
