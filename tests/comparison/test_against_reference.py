"""A run beside what is known to work."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rlclinic.comparison.bands import band, levels
from rlclinic.comparison.compare import compare
from rlclinic.model.comparison import AgainstReference
from rlclinic.model.run import Run
from rlclinic.model.series import Series
from rlclinic.reference.known_good import SHARES, known_good
from rlclinic.reports.compare_html import comparison_html
from rlclinic.reports.compare_json import comparison_object
from rlclinic.reports.compare_text import comparison_text
from tests.comparison.builders import curve, run


def beside(item: Run) -> AgainstReference:
    return compare([item], reference=True).references[0]


def like_known_good(**changes: object) -> Run:
    """A run with the settings of the known-good runs, those that are changed aside, and the curve of the first."""
    good = known_good("CartPole-v1", "PPO")
    assert good is not None
    returns = good.metrics["return/train"][0]
    kept = {**good.settings, **changes}
    return run("mine", returns, environment="CartPole-v1", settings=kept, steps=good.budget)


def test_a_healthy_run_lies_in_the_band_and_differs_in_nothing() -> None:
    found = beside(like_known_good())
    assert found.known.startswith("6 seeds of PPO on CartPole-v1")
    assert found.below == 0.0
    assert all(point.low <= point.value <= point.high for point in found.curve)
    assert found.differences == ()


def test_a_run_that_does_not_learn_lies_below_the_band_and_its_cause_leads_the_settings() -> None:
    flat = curve(22.0, start=20.0, points=SHARES, noise=1.0)
    good = known_good("CartPole-v1", "PPO")
    assert good is not None
    kept = {**good.settings, "learning_rate": 5e-5, "vf_coef": 1.0, "clip_range": 0.3, "gae_lambda": 1.0}
    item = run("mine", flat, environment="CartPole-v1", settings=kept, steps=good.budget)
    found = beside(item)
    assert found.below is not None
    assert found.below > 0.5
    assert found.differences[0].key == "learning_rate"
    assert {entry.key for entry in found.differences} == {"learning_rate", "vf_coef", "clip_range", "gae_lambda"}


def test_the_headline_says_where_the_run_ended_over_how_many_seeds_and_that_it_is_confounded() -> None:
    flat = curve(22.0, start=20.0, points=SHARES, noise=1.0)
    good = known_good("CartPole-v1", "PPO")
    assert good is not None
    kept = {**good.settings, "learning_rate": 5e-5, "vf_coef": 1.0}
    below = run("mine", flat, environment="CartPole-v1", settings=kept, steps=good.budget)
    found = compare([below], reference=True)
    assert "is below the band of known-good runs at the end" in found.summary
    assert "one seed against 6 seeds" in found.summary
    assert "Confounded: it differs in 2 settings (learning_rate, vf_coef)" in found.summary
    # Said once: the section below the headline does not repeat it.
    assert comparison_text(found).count("Confounded") == 1
    alone = compare([like_known_good(vf_coef=1.0)], reference=True).summary
    assert "is in the band" in alone
    assert "It differs in vf_coef alone." in alone
    assert "Confounded" not in alone


@pytest.mark.parametrize("annealed", [True, "linear", "Linear"])
def test_a_flag_that_anneals_is_a_linear_schedule(annealed: object) -> None:
    good = known_good("CartPole-v1", "PPO")
    assert good is not None
    assert good.settings["learning_rate_schedule"] == "linear"
    assert beside(like_known_good(learning_rate_schedule=annealed)).differences == ()
    assert beside(like_known_good(learning_rate_schedule=False)).differences[0].key == "learning_rate_schedule"


def test_what_both_configs_say_alike_is_no_habit_of_their_frameworks() -> None:
    mine = replace(like_known_good(learning_rate_schedule=True), framework="cleanrl")
    titles = [item.title for item in beside(mine).frameworks]
    assert "learning-rate annealing" not in titles
    assert "bootstrapping at time limits" in titles


def test_the_curve_is_held_against_the_band_up_to_the_runs_own_end() -> None:
    good = known_good("CartPole-v1", "PPO")
    assert good is not None
    short = run("mine", curve(22.0), environment="CartPole-v1", settings=dict(good.settings), steps=0.52 * good.budget)
    assert beside(short).curve[-1].step == pytest.approx(0.52 * good.budget)


def test_a_value_clip_that_only_one_config_names_is_a_difference_from_off() -> None:
    found = beside(like_known_good(clip_range_vf=0.2))
    assert [(entry.key, entry.value, entry.reference) for entry in found.differences] == [("clip_range_vf", 0.2, None)]


def test_a_flag_of_another_framework_means_the_same_clip() -> None:
    found = beside(like_known_good(clip_value_loss=True))
    assert [(entry.key, entry.value) for entry in found.differences] == [("clip_range_vf", 0.2)]


def test_a_wait_counts_by_its_share_of_the_budget() -> None:
    from rlclinic.comparison.ranking import _apart

    item = like_known_good()
    assert _apart("learning_starts", 0, 1000, item, {}, 1_000_000.0) < 0.2
    assert _apart("learning_starts", 0, 1000, item, {}, 2_000.0) == 3.0


def test_a_metric_outside_its_band_is_named_with_since_when() -> None:
    good = known_good("CartPole-v1", "PPO")
    assert good is not None
    entropy = good.metrics["entropy"][0].copy()
    entropy[10:] = 1e-4
    item = run(
        "mine",
        good.metrics["return/train"][0],
        environment="CartPole-v1",
        settings=dict(good.settings),
        more={"entropy": entropy},
        steps=good.budget,
    )
    first = beside(item).metrics[0]
    assert (first.metric, first.since) == ("entropy", 0.5)
    assert first.outside == pytest.approx(0.5)


def test_without_kept_runs_the_reference_configuration_serves() -> None:
    item = run("mine", curve(10.0), environment="Humanoid-v4", settings={"learning_rate": 0.05})
    found = beside(item)
    assert found.known == ""
    assert found.settings_of == "the reference configuration of the task"
    assert found.differences[0].key == "learning_rate"
    assert any("no known-good runs" in note for note in found.notes)


def test_an_unknown_environment_is_said_and_nothing_is_compared() -> None:
    item = run("mine", curve(10.0), environment="")
    assert beside(item).notes == ("the files do not tell the environment: set --env",)


def test_every_report_shows_what_a_run_is_held_against() -> None:
    comparison = compare([like_known_good(learning_rate=5e-5)], reference=True)
    text = comparison_text(comparison)
    assert "beside known-good runs" in text
    assert "learning_rate" in text
    html = comparison_html(comparison)
    assert "band of known-good runs" in html
    data = comparison_object(comparison)
    assert data["references"][0]["differences"][0]["key"] == "learning_rate"
    assert data["references"][0]["published"]


def test_levels_are_means_of_twentieths_and_nothing_where_nothing_was_logged() -> None:
    series = Series("entropy", "entropy", np.array([10.0, 20.0, 95.0]), np.array([1.0, 3.0, np.nan]), known=True)
    found = levels(series, 100.0)
    assert found[1] == 1.0
    assert found[3] == 3.0
    assert np.isnan(np.delete(found, [1, 3])).all()


def test_a_band_stays_within_what_the_metric_can_be() -> None:
    rows = np.array([[0.0, 0.01] * 10, [0.02, 0.0] * 10, [0.0, 0.03] * 10])
    low, high = band("clip_fraction", rows)
    assert (low >= 0).all()
    assert (high <= 1).all()
