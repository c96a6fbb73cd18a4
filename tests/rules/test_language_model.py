"""Rules about language models: the score decides whether a change of length, entropy or KL is an alarm."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.language_model import (
    entropy_and_length_explode,
    entropy_gone_score_stalled,
    format_learned_not_answer,
    groups_without_variance,
    only_supervised,
    reference_differs_at_start,
    reference_kl_explodes,
    response_length_explodes,
    responses_cut,
    reward_component_constant,
    reward_part_given_up,
    sampler_and_trainer_disagree,
    score_falls_while_reward_rises,
    settings_at_odds,
    train_up_validation_flat,
    valid_actions_rare,
)
from tests.rules.scene import POINTS, Values, line, recorded, scene

RISES = line(0.1, 0.7, noise=0.05)
STALLS = line(0.3, 0.3, noise=0.1, seed=1)
FALLS = line(0.5, 0.2, noise=0.05, seed=2)


def _model(series: Mapping[str, Values], **more: Any) -> RunFacts:
    """constructed: curves of models larger than those that can be trained here."""
    curves = {"response_length": line(200.0, 200.0), **series}
    return scene(algorithm="GRPO", framework="verl", axis="updates", steps=60, series=curves, **more)


def test_a_reward_that_rises_while_the_score_falls_is_an_error() -> None:
    found = score_falls_while_reward_rises.check(
        _model({"return/train": FALLS, "reward/shaped": line(-18.0, -2.0)}, config={"kl_coef": 0.05})
    )
    assert found is not None
    assert found.severity is Severity.ERROR
    assert "0.05" in found.summary


@pytest.mark.parametrize("score", [RISES, STALLS])
def test_a_reward_that_rises_with_or_without_the_score_is_no_hack(score: Values) -> None:
    facts = _model({"return/train": score, "reward/shaped": line(-18.0, -2.0)})
    assert score_falls_while_reward_rises.check(facts) is None


def test_many_cut_responses_with_a_stalled_score_are_an_alarm() -> None:
    cut = {"return/train": STALLS, "truncated_fraction": line(0.3, 0.6)}
    found = responses_cut.check(_model(cut, config={"max_response_length": 256}))
    assert found is not None
    assert found.severity is Severity.WARNING
    assert "at 256 tokens" in found.summary


def test_cut_responses_are_a_note_while_the_score_rises_and_nothing_once_they_vanish() -> None:
    found = responses_cut.check(_model({"return/train": RISES, "truncated_fraction": line(0.5, 0.5)}))
    assert found is not None
    assert found.severity is Severity.INFO
    assert responses_cut.check(_model({"return/train": STALLS, "truncated_fraction": line(0.6, 0.1)})) is None


def test_a_share_that_does_not_measure_truncation_is_not_judged() -> None:
    facts = _model(
        {"return/train": STALLS, "truncated_fraction": line(0.5, 0.6)},
        details={"truncated_fraction": {"caveat": "as long as the longest of the batch"}},
    )
    assert responses_cut.check(facts) is None


def test_tied_groups_are_an_alarm_while_the_score_is_low() -> None:
    found = groups_without_variance.check(
        _model({"return/train": line(0.02, 0.02, noise=0.3), "zero_variance_groups": line(0.9, 0.95)})
    )
    assert found is not None
    assert found.severity is Severity.WARNING


def test_one_row_without_any_gradient_shows_that_its_groups_tie() -> None:
    """constructed: the only row that was pasted."""
    row = {"return/train": [3.0], "zero_variance_groups": [1.0], "grad_norm": [0.0]}
    found = groups_without_variance.check(_model({name: np.array(value) for name, value in row.items()}))
    assert found is not None
    assert "in the only row" in found.summary
    moved = {**row, "grad_norm": [0.2]}
    assert groups_without_variance.check(_model({name: np.array(value) for name, value in moved.items()})) is None


def test_one_row_whose_highest_reward_is_the_lowest_shows_it_too() -> None:
    """constructed: the same of a trainer that does not count its groups; the penalty alone has a gradient."""
    row = {"return/train": [0.0], "return/train_max": [0.0], "return/train_min": [0.0], "advantage/abs_max": [0.0]}
    series = {name: np.array(value) for name, value in {**row, "grad_norm": [0.005]}.items()}
    found = groups_without_variance.check(_model(series))
    assert found is not None
    assert found.severity is Severity.WARNING
    assert groups_without_variance.check(_model({**series, "return/train_max": np.ones(1)})) is None


def test_tied_groups_of_a_solved_task_are_a_note() -> None:
    found = groups_without_variance.check(
        _model(
            {
                "return/train": line(0.97, 0.97, noise=0.01),
                "return/train_max": np.ones(60),
                "zero_variance_groups": line(0.9, 0.95),
            }
        )
    )
    assert found is not None
    assert found.severity is Severity.INFO


def test_advantages_of_zero_are_an_alarm_and_some_variance_is_not() -> None:
    found = groups_without_variance.check(_model({"return/train": np.zeros(60), "advantage/abs_max": np.zeros(60)}))
    assert found is not None
    assert found.severity is Severity.WARNING
    half = {"return/train": STALLS, "zero_variance_groups": line(0.5, 0.5)}
    assert groups_without_variance.check(_model(half)) is None


def test_a_group_of_one_has_no_baseline() -> None:
    found = groups_without_variance.check(_model({"return/train": STALLS}, config={"group_size": 1}))
    assert found is not None
    assert "no baseline" in found.summary
    assert groups_without_variance.check(_model({"return/train": STALLS}, config={"group_size": 8})) is None


def test_a_reference_that_differs_at_the_first_step_is_an_alarm() -> None:
    found = reference_differs_at_start.check(_model({"return/train": STALLS, "kl_ref": line(0.5, 0.7)}))
    assert found is not None
    assert found.severity is Severity.WARNING


def test_a_teacher_that_the_config_names_is_a_note_unless_the_score_falls() -> None:
    config = {"model": "a/small", "reference_model": "b/teacher"}
    curves = {"kl_ref": line(0.5, 0.7)}
    calm = reference_differs_at_start.check(_model({"return/train": STALLS, **curves}, config=config))
    bad = reference_differs_at_start.check(_model({"return/train": FALLS, **curves}, config=config))
    assert calm is not None
    assert calm.severity is Severity.INFO
    assert "teacher" in calm.summary
    assert bad is not None
    assert bad.severity is Severity.WARNING


def test_a_reference_that_the_policy_leaves_hardly_pulls_it() -> None:
    """constructed: a teacher is another model by design; a wrong reference is come near."""
    left, reached = (
        reference_differs_at_start.check(_model({"return/train": FALLS, "kl_ref": line(1.0, end)}))
        for end in (2.0, 0.05)
    )
    assert left is not None
    assert reached is not None
    assert left.confidence < reached.confidence


def test_a_kl_that_grows_from_zero_is_learning() -> None:
    facts = recorded("verl/grpo_v0.5")
    assert facts.run["kl_ref"].values[-1] > 1
    assert reference_differs_at_start.check(facts) is None
    assert reference_kl_explodes.check(facts) is None


def test_a_kl_that_multiplies_while_the_score_falls_is_an_alarm() -> None:
    kl = np.concatenate([line(0.05, 0.06, 40), line(0.1, 3.0, 20)])
    found = reference_kl_explodes.check(_model({"return/train": FALLS, "kl_ref": kl}))
    assert found is not None
    assert found.severity is Severity.WARNING
    assert found.onset_step is not None
    assert found.onset_step > 30
    assert reference_kl_explodes.check(_model({"return/train": STALLS, "kl_ref": kl})) is None


@pytest.mark.parametrize(("length", "word"), [(line(200.0, 900.0), "longer"), (line(900.0, 20.0), "shorter")])
def test_length_that_runs_away_either_way_without_score_is_an_alarm(length: Values, word: str) -> None:
    found = response_length_explodes.check(_model({"return/train": STALLS, "response_length": length}))
    assert found is not None
    assert found.severity is Severity.WARNING
    assert word in found.summary


def test_length_that_moves_with_the_score_or_a_little_is_fine() -> None:
    assert (
        response_length_explodes.check(_model({"return/train": RISES, "response_length": line(200.0, 900.0)})) is None
    )
    assert (
        response_length_explodes.check(_model({"return/train": STALLS, "response_length": line(200.0, 260.0)})) is None
    )


def test_validation_that_rises_vouches_for_the_length() -> None:
    facts = _model({"return/train": STALLS, "return/eval": line(0.1, 0.5, 8), "response_length": line(200.0, 900.0)})
    assert response_length_explodes.check(facts) is None


def test_entropy_and_length_that_grow_while_the_score_falls_are_an_alarm() -> None:
    grown = {"entropy": line(0.24, 0.75), "response_length": line(500.0, 900.0)}
    found = entropy_and_length_explode.check(_model({"return/train": FALLS, **grown}))
    assert found is not None
    assert found.severity is Severity.WARNING
    assert entropy_and_length_explode.check(_model({"return/train": RISES, **grown})) is None
    assert entropy_and_length_explode.check(_model({"return/train": STALLS, **grown})) is None


def test_entropy_that_is_gone_with_a_stalled_score_is_an_alarm() -> None:
    entropy = np.geomspace(0.5, 0.001, 60)
    found = entropy_gone_score_stalled.check(_model({"return/train": STALLS, "entropy": entropy}))
    assert found is not None
    assert found.severity is Severity.WARNING
    assert found.onset_step is not None


def test_entropy_that_falls_while_the_score_rises_or_only_by_half_is_fine() -> None:
    entropy = np.geomspace(0.5, 0.001, 60)
    assert entropy_gone_score_stalled.check(_model({"return/train": RISES, "entropy": entropy})) is None
    assert entropy_gone_score_stalled.check(_model({"return/train": STALLS, "entropy": line(0.5, 0.2)})) is None


def test_a_sampler_that_disagrees_is_an_alarm() -> None:
    found = sampler_and_trainer_disagree.check(
        _model({"return/train": STALLS, "sampler_mismatch/kl": line(0.02, 0.5), "sampler_mismatch/tis": line(1, 4)})
    )
    assert found is not None
    assert found.severity is Severity.WARNING
    assert len(found.evidence) == 2


@pytest.mark.parametrize(("names"), [("importance_sampling_ratio/", "mean", "max"), ("rollout_is_", "mean", "max")])
def test_a_sampler_that_is_surer_of_every_token_is_an_alarm(names: tuple[str, str, str]) -> None:
    """constructed: a colder engine; one that differs by noise has tokens on both sides of 1."""
    start, mean, largest = names
    curves = {"return/train": STALLS, f"sampler_mismatch/{start}{mean}": line(0.9, 0.9, noise=0.01)}
    found, noisy = (
        sampler_and_trainer_disagree.check(
            _model({**curves, f"sampler_mismatch/{start}{largest}": line(level, level, noise=0.001)})
        )
        for level in (0.99, 1.2)
    )
    assert found is not None
    assert "surer of every token" in found.summary
    assert noisy is None


def test_a_small_gap_between_sampler_and_trainer_is_fine() -> None:
    facts = recorded("nemo_rl/grpo")
    assert "sampler_mismatch/kl" in facts.run
    assert sampler_and_trainer_disagree.check(facts) is None


def test_validation_that_stays_while_training_rises_is_an_alarm() -> None:
    found = train_up_validation_flat.check(_model({"return/train": RISES, "return/eval": line(0.2, 0.2, 10)}))
    assert found is not None
    assert found.severity is Severity.WARNING
    assert "stayed" in found.summary


@pytest.mark.parametrize("held_out", [line(0.2, 0.5, 10), line(0.95, 0.96, 10), line(0.2, 0.2, 3)])
def test_validation_that_rises_or_is_full_or_too_short_is_no_alarm(held_out: Values) -> None:
    assert train_up_validation_flat.check(_model({"return/train": RISES, "return/eval": held_out})) is None


def test_supervised_training_is_named() -> None:
    found = only_supervised.check(recorded("verl/supervised_not_rl"))
    assert found is not None
    assert found.severity is Severity.INFO
    assert only_supervised.check(recorded("verl/grpo_v0.4")) is None


def test_a_supervised_loss_beside_a_reward_is_reinforcement() -> None:
    """constructed: a mixed objective."""
    assert only_supervised.check(_model({"loss/supervised": line(1.0, 0.5), "return/train": STALLS})) is None


def test_actions_that_cannot_be_parsed_are_an_alarm() -> None:
    found = valid_actions_rare.check(_model({"return/train": STALLS, "valid_actions": line(0.03, 0.03)}))
    assert found is not None
    assert found.severity is Severity.WARNING


def test_a_format_that_is_learned_is_a_note_and_a_known_one_nothing() -> None:
    learned = valid_actions_rare.check(_model({"return/train": STALLS, "valid_actions": line(0.02, 0.15)}))
    assert learned is not None
    assert learned.severity is Severity.INFO
    assert valid_actions_rare.check(_model({"return/train": STALLS, "valid_actions": line(0.9, 0.9)})) is None


def test_a_format_that_the_reward_pays_more_than_the_answer_is_an_error() -> None:
    """constructed: a healthy reward with both parts learned, and two that pay them unlike."""
    form, right = line(0.6, 1.0, noise=0.02), line(0.1, 0.1, noise=0.02, seed=3)
    parts = {"reward/format": form, "reward/correct": right}
    outpaid, fair = (
        format_learned_not_answer.check(_model({**parts, "return/train": weight * form + right}))
        for weight in (5.0, 1.0)
    )
    assert outpaid is not None
    assert outpaid.severity is Severity.ERROR
    assert "a point of the format pays 5" in outpaid.summary
    assert fair is not None
    assert fair.severity is Severity.WARNING


@pytest.mark.parametrize(("evaluated", "alarms"), [("eval_reward", 1), ("val-core/math/acc", 0)])
def test_right_answers_that_are_given_up_for_length_are_reward_hacking(evaluated: str, alarms: int) -> None:
    """An evaluation of the whole reward does not say otherwise, one of the task does."""
    facts = _model({"return/train": RISES, "reward/accuracy": line(0.34, 0.15, noise=0.02), "reward/length": RISES,
                    "return/eval": line(0.2, 0.9, 20)})  # fmt: skip
    held_out = facts.run.series["return/eval"]
    series = {**facts.run.series, "return/eval": replace(held_out, logged_as=evaluated)}
    found = reward_part_given_up.check(RunFacts(replace(facts.run, series=series)))
    assert (found is not None) == bool(alarms)


def test_right_answers_of_held_out_prompts_that_are_given_up_are_reward_hacking() -> None:
    parts = {"return/train": RISES, "reward/accuracy": STALLS, "return/eval": line(0.2, 0.9, 20)}
    lost, kept = (
        reward_part_given_up.check(_model({**parts, "reward_eval/accuracy": line(0.4, end, 20, noise=0.01)}))
        for end in (0.2, 0.41)
    )
    assert lost is not None
    assert "log/reward_eval/accuracy fell" in lost.summary
    assert kept is None


def test_settings_of_a_supervised_training_are_not_judged() -> None:
    odd = {"prompts_per_batch": 64, "mini_batch_size": 256, "temperature": 0.0}
    assert settings_at_odds.check(_model({"loss/supervised": line(1.0, 0.5)}, config=odd)) is None


def test_the_first_moves_of_what_grows_by_factors_are_seen() -> None:
    """constructed: the KL leaves its level long before it is large, and then the score falls."""
    kl = np.concatenate([np.full(20, 0.01), np.geomspace(0.01, 5.0, 40)])
    found = reference_kl_explodes.check(_model({"return/train": FALLS, "kl_ref": kl}))
    assert found is not None
    assert found.onset_step is not None
    assert found.onset_step < 40


def test_every_part_of_the_reward_that_never_pays_is_named() -> None:
    parts = {"reward/loose": np.zeros(60), "reward/strict": np.zeros(60), "reward/correct": RISES}
    found = reward_component_constant.check(_model({**parts, "return/train": RISES}))
    assert found is not None
    assert "log/reward/loose and log/reward/strict are 0" in found.summary


def test_a_mini_batch_counts_trajectories_in_search_r1() -> None:
    sizes = {"prompts_per_batch": 128, "mini_batch_size": 256}
    run = scene(algorithm="GRPO", framework="search-r1", axis="updates", steps=60, config={**sizes, "group_size": 1})
    grouped = scene(
        algorithm="GRPO", framework="search-r1", axis="updates", steps=60, config={**sizes, "group_size": 5}
    )
    assert settings_at_odds.check(run) is not None
    assert settings_at_odds.check(grouped) is None


def test_a_default_of_the_framework_is_no_cap_where_responses_end_before_it() -> None:
    cut = {"return/train": STALLS, "truncated_fraction": line(0.3, 0.6)}
    config: dict[str, Any] = {"config": {"max_response_length": 512}, "defaults": ["max_response_length"]}
    short = responses_cut.check(_model({**cut, "response_length/max": np.full(POINTS, 3.0)}, **config))
    long = responses_cut.check(_model({**cut, "response_length/max": np.full(POINTS, 512.0)}, **config))
    assert short is not None
    assert long is not None
    assert "tokens" not in short.summary
    assert "at 512 tokens" in long.summary


def test_the_cut_is_the_reason_that_no_answer_is_paid_only_where_nearly_all_are_cut() -> None:
    unpaid = {"return/train": RISES, "reward/correct": np.zeros(POINTS), "reward/form": RISES}
    some = responses_cut.check(_model({**unpaid, "truncated_fraction": line(0.5, 0.6)}))
    every = responses_cut.check(_model({**unpaid, "truncated_fraction": line(1.0, 1.0)}))
    assert some is not None
    assert some.severity is Severity.INFO
    assert "are not paid either" in some.summary
    assert every is not None
    assert every.severity is Severity.ERROR
    assert "no answer is ever paid" in every.summary


def test_a_mean_length_at_the_cap_tells_of_cut_responses_where_their_share_is_not_logged() -> None:
    near, far = ({"return/train": STALLS, "response_length": line(100.0, end)} for end in (490.0, 300.0))
    found = responses_cut.check(_model(near, config={"max_response_length": 512}))
    assert found is not None
    assert "most are cut" in found.summary
    assert responses_cut.check(_model(far, config={"max_response_length": 512})) is None
    assert responses_cut.check(_model({**near, "return/train": RISES}, config={"max_response_length": 512})) is None


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"prompts_per_batch": 64, "mini_batch_size": 256}, "is larger than"),
        ({"top_p": 0.9}, "cuts the samples"),
        ({"temperature": 0.0}, "are the same"),
        ({"group_size": 8, "clip_range_low": 0.2, "clip_range_high": 0.1}, "below the lower bound"),
        ({"group_size": 8, "clip_range": 0.2, "clip_range_high": 0.0}, "no probability rise"),
        ({"group_size": 8, "reward_weights": [1.0, 0.0]}, "1 of 2 parts no weight"),
        ({"use_kl_loss": True, "train_data": ""}, "is empty"),
    ],
)
def test_settings_that_contradict_each_other_are_named(config: dict[str, object], words: str) -> None:
    found = settings_at_odds.check(_model({"return/train": STALLS}, config=config))
    assert found is not None
    assert words in found.summary
    rising = settings_at_odds.check(_model({"return/train": RISES}, config=config))
    assert rising is not None
    assert rising.severity is Severity.INFO


def test_settings_that_go_together_are_not_named() -> None:
    batch = {"prompts_per_batch": 64, "mini_batch_size": 64, "top_p": 1.0, "temperature": 0.7}
    config = {**batch, "clip_range_low": 0.2, "clip_range_high": 0.28, "reward_weights": [1.0, 0.5]}
    assert settings_at_odds.check(_model({"return/train": STALLS}, config=config)) is None
