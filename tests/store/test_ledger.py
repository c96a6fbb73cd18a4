"""The ledger of trials."""

from pathlib import Path

import pytest

from rlclinic.model.errors import UsageError
from rlclinic.model.trial import Outcome, OutcomeState
from rlclinic.store.effects import measured_effects
from rlclinic.store.ledger import Ledger


def started(path: Path) -> Ledger:
    ledger = Ledger(path / "trials.sqlite")
    ledger.start("t1", environment="CartPole-v1", algorithm="PPO", plan={"seeds": [0, 1]})
    return ledger


def test_outcomes_survive_the_process_that_wrote_them(tmp_path: Path) -> None:
    outcome = Outcome("change", 1, OutcomeState.DONE, 3.0, 2.0, 10.0, 1.5, 20.0, "f", "", ((0.0, 1.0), (20.0, 3.0)))
    started(tmp_path).record("t1", outcome)
    again = Ledger(tmp_path / "trials.sqlite")
    assert again.outcomes("t1") == (outcome,)
    assert again.plan("t1") == {"seeds": [0, 1]}


def test_a_run_that_was_stopped_is_to_be_trained_again(tmp_path: Path) -> None:
    ledger = started(tmp_path)
    ledger.record("t1", Outcome("change", 1, OutcomeState.STOPPED))
    assert ledger.outcomes("t1") == ()


def test_starting_a_trial_again_keeps_what_it_has(tmp_path: Path) -> None:
    ledger = started(tmp_path)
    ledger.record("t1", Outcome("change", 1, OutcomeState.FAILED, error="boom"))
    ledger.start("t1", environment="CartPole-v1", algorithm="PPO", plan={"seeds": [0, 1]})
    assert [outcome.error for outcome in ledger.outcomes("t1")] == ["boom"]
    assert ledger.listing()[0]["runs"] == 1
    assert ledger.listing()[0]["finished"] is False


def test_a_ledger_that_does_not_exist_is_empty_and_is_not_made_by_looking(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "none.sqlite")
    assert ledger.results() == []
    assert ledger.plan("t1") is None
    assert not ledger.path.exists()


def test_a_ledger_that_cannot_be_written_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot be used"):
        Ledger(tmp_path / "file" / "trials.sqlite").start("t", environment="", algorithm="", plan={})


def arm(effects: dict[str, float], *changes: tuple[str, object, object]) -> dict[str, object]:
    return {
        "verdict": "proved",
        "causes": ["learning-rate-too-high"],
        "changes": [{"key": key, "from": before, "to": after} for key, before, after in changes],
        "effects": effects,
    }


def finished(tmp_path: Path, *arms: dict[str, object]) -> Ledger:
    ledger = started(tmp_path)
    result = {"id": "t1", "environment": "CartPole-v1", "algorithm": "PPO", "seeds": 5, "arms": list(arms)}
    ledger.finish("t1", result)
    return ledger


def test_a_finished_trial_feeds_the_table_of_effects(tmp_path: Path) -> None:
    ledger = finished(tmp_path, arm({"steps-to-threshold": -0.4, "final-return": 0.2}, ("learning_rate", 0.1, 0.03)))
    (row,) = measured_effects(ledger)
    assert (row.cause, row.key, row.direction, row.metric, row.effect, row.n_seeds) == (
        "learning-rate-too-high", "learning_rate", "down", "steps-to-threshold", -0.4, 5,
    )  # fmt: skip


def test_the_final_return_stands_in_where_no_run_reached_the_threshold(tmp_path: Path) -> None:
    (row,) = measured_effects(finished(tmp_path, arm({"final-return": 0.2}, ("normalize_obs", False, True))))
    assert (row.metric, row.direction) == ("final-return", "set")


def test_changes_that_came_together_cannot_be_told_apart_and_count_for_none(tmp_path: Path) -> None:
    both = arm({"final-return": 0.2}, ("n_steps", 128, 256), ("batch_size", 64, 128))
    assert measured_effects(finished(tmp_path, both)) == ()


def test_an_effect_that_is_not_finite_is_left_out(tmp_path: Path) -> None:
    assert measured_effects(finished(tmp_path, arm({"final-return": float("nan")}, ("gamma", 0.9, 0.99)))) == ()
