"""An entry is a whole: single values of it hold where the run is set up alike."""

from __future__ import annotations

import pytest

from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.task_entry import entry_holds
from rlclinic.facts.unusual_settings import unusual
from rlclinic.prescriptions.remedies.careful_step import stepped
from rlclinic.prescriptions.remedies.computed.exploration import usual_action_std
from rlclinic.reference.reference_configs import gradient_steps_per_sample, reference_config
from rlclinic.reference.usual import Basis
from tests.prescriptions.made import DQN, PPO, advised, assessment_of, made_run

# Its PPO entry updates ten times on every eight steps, with state-dependent exploration.
ENVIRONMENT = "MountainCarContinuous-v0"
LARGE_ROLLOUTS = {**PPO, "n_envs": 16, "n_steps": 64, "batch_size": 256, "n_epochs": 8}
LIKE_THE_ENTRY = {**PPO, "n_envs": 1, "n_steps": 8, "batch_size": 8, "n_epochs": 10}


def facts_of(config: dict[str, object], environment: str = ENVIRONMENT, algorithm: str = "PPO") -> RunFacts:
    return RunFacts(made_run(config, environment=environment, algorithm=algorithm))


def test_a_rate_holds_where_gradient_steps_per_sample_are_alike() -> None:
    assert not entry_holds(facts_of(LARGE_ROLLOUTS), "learning_rate")
    assert entry_holds(facts_of(LIKE_THE_ENTRY), "learning_rate")
    assert entry_holds(facts_of(LARGE_ROLLOUTS), "gamma")
    assert entry_holds(facts_of(DQN, "CartPole-v1", "DQN"), "learning_rate")


def test_without_an_entry_nothing_holds() -> None:
    assert not entry_holds(facts_of(PPO, "MyRobot-v0"), "gamma")


def test_a_minibatch_is_never_larger_than_the_rollout() -> None:
    assert gradient_steps_per_sample(reference_config(ENVIRONMENT, "PPO")) == pytest.approx(10 / 8)


def test_a_rate_of_another_pace_is_held_against_working_configs_in_general() -> None:
    found = [unusual(facts_of(config), "learning_rate") for config in (LARGE_ROLLOUTS, LIKE_THE_ENTRY)]
    assert [away.basis for away in found if away is not None] == [Basis.ALGORITHM, Basis.TASK]


def test_of_an_entry_of_another_pace_a_rate_too_low_takes_how_far_the_weights_move_per_sample() -> None:
    series = {"approx_kl": [1e-8] * 40}
    after = [
        stepped(
            assessment_of(made_run({**config, "learning_rate": 3e-6}, environment=ENVIRONMENT, series=series), {}),
            "learning_rate",
            up=True,
        )
        for config in (LARGE_ROLLOUTS, LIKE_THE_ENTRY)
    ]
    # The entry takes 40 times as many gradient steps per sample: 7.77e-5 * 40, although the KL asks for more.
    assert after == [pytest.approx(3e-3), pytest.approx(7.77e-5)]


def test_a_rate_at_the_pace_of_the_run_stays_within_a_step_of_what_works() -> None:
    slow = {**PPO, "n_envs": 64, "n_steps": 512, "batch_size": 32768, "n_epochs": 1, "learning_rate": 1e-7}
    assert stepped(assessment_of(made_run(slow, environment=ENVIRONMENT), {}), "learning_rate", up=True) == 3e-3


def test_the_rationale_says_that_the_entry_works_as_a_whole() -> None:
    run = made_run({**LARGE_ROLLOUTS, "learning_rate": 3e-6}, environment=ENVIRONMENT)
    first = advised(run, {"learning-rate-too-low": 0.99})[0]
    assert first.changes[0].key == "learning_rate"
    assert "7.77e-05 that works" in first.rationale
    assert "as far per sample the weights move here with 0.003" in first.rationale
    assert "times below" not in first.rationale


@pytest.mark.parametrize(("noise", "wanted"), [({"use_sde": False}, 0.0), ({}, 0.0), ({"use_sde": True}, -3.29)])
def test_a_first_spread_is_that_of_the_same_kind_of_noise(noise: dict[str, object], wanted: float) -> None:
    config = {**PPO, **noise, "policy_kwargs.log_std_init": -6.0}
    changes = usual_action_std(assessment_of(made_run(config, environment=ENVIRONMENT), {}))
    assert [change.to for change in changes] == [wanted]
