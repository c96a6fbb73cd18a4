"""Causes: what speaks for them, what against, and what counts nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest

from rlclinic.causes import posterior
from rlclinic.causes.catalogue import NOTHING_WRONG, UNKNOWN, catalogue
from rlclinic.causes.deviation import deviation, is_outside
from rlclinic.causes.likelihoods import VERDICT, Knob, likelihoods
from rlclinic.causes.posterior import causes_of
from rlclinic.causes.sharpness import Sharpness
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.standing import Standing
from rlclinic.model.config import Config, Setting
from rlclinic.model.diagnosis import Verdict
from rlclinic.model.finding import Finding, Severity
from rlclinic.model.run import Run
from rlclinic.model.series import Series
from rlclinic.rules.registry import RULES

ALL = frozenset(row.name for row in RULES)
BY_NAME = {row.name: row for row in RULES}


def finding(name: str, severity: Severity = Severity.WARNING, confidence: float = 0.9) -> Finding:
    row = BY_NAME[name]
    return Finding(row.code, row.title, row.family, severity, confidence, "seen", name=name)


def probability(
    run: Run, verdict: Verdict, findings: list[Finding], cause: str, checked: frozenset[str] = ALL
) -> float:
    causes, _ = causes_of(RunFacts(run), verdict, findings, checked)
    return next((item.probability for item in causes if item.id == cause), 0.0)


def ppo(**settings: float) -> Run:
    config = Config({name: Setting(name, value, name) for name, value in settings.items()})
    return Run("run", "run", algorithm="PPO", environment="CartPole-v1", config=config)


def test_the_ids_are_those_of_the_contract() -> None:
    entries = catalogue()
    assert len(entries) == 107 + 2
    for cause in ("learning-rate-too-high", "kl-reward-hacking", "implementation-bug", NOTHING_WRONG, UNKNOWN):
        assert cause in entries


def test_rules_and_causes_never_share_a_name() -> None:
    assert not ALL & set(catalogue())


def test_the_table_names_only_rules_that_exist() -> None:
    named = {name for row in likelihoods().values() for name in (*row.weights, *row.expects)}
    assert {name for name in named if not name.startswith(VERDICT)} <= ALL


def test_the_classes_sum_to_one() -> None:
    _, classes = causes_of(RunFacts(ppo()), Verdict.NOT_LEARNING, [finding("never-improved")], ALL)
    assert sum(classes.values()) == pytest.approx(1.0)


def test_a_run_without_findings_that_learns_has_nothing_wrong() -> None:
    causes, _ = causes_of(RunFacts(ppo()), Verdict.LEARNING, [], ALL)
    assert causes[0].id == NOTHING_WRONG
    assert causes[0].probability > 0.5


def test_findings_move_probability_to_the_cause_that_explains_them() -> None:
    signs = [finding("kl-too-large", Severity.ERROR), finding("policy-died-early", Severity.ERROR)]
    causes, _ = causes_of(RunFacts(ppo()), Verdict.COLLAPSED, signs, ALL)
    assert causes[0].id == "learning-rate-too-high"
    assert any("kl-too-large" in reason for reason in causes[0].supports)


def test_a_rule_that_was_not_checked_counts_nothing_against_a_cause() -> None:
    signs = [finding("never-improved")]
    without = probability(ppo(), Verdict.NOT_LEARNING, signs, "learning-rate-too-low", ALL - {"kl-vanishes"})
    checked = probability(ppo(), Verdict.NOT_LEARNING, signs, "learning-rate-too-low", ALL)
    assert without > checked


def test_a_config_value_is_no_cause_without_a_symptom() -> None:
    odd = causes_of(RunFacts(ppo(learning_rate=0.3)), Verdict.LEARNING, [], ALL)[0]
    plain = causes_of(RunFacts(ppo()), Verdict.LEARNING, [], ALL)[0]
    assert odd[0].id == plain[0].id == NOTHING_WRONG
    assert "learning-rate-too-high" not in {cause.id for cause in odd}


def test_a_config_value_far_from_working_ones_strengthens_its_symptom() -> None:
    signs = [finding("kl-too-large")]
    far = probability(ppo(learning_rate=0.3), Verdict.UNSTABLE, signs, "learning-rate-too-high")
    near = probability(ppo(learning_rate=3e-4), Verdict.UNSTABLE, signs, "learning-rate-too-high")
    assert far > near


def test_a_finding_that_nothing_explains_speaks_for_unknown() -> None:
    stray = Finding("XXX99", "stray", "stray", Severity.WARNING, 0.9, "seen", name="stray")
    assert probability(ppo(), Verdict.PLATEAUED, [stray], UNKNOWN) > probability(ppo(), Verdict.PLATEAUED, [], UNKNOWN)


def test_a_second_finding_of_one_family_counts_less_than_the_first() -> None:
    one = [finding("kl-too-large")]
    two = [*one, finding("clipping-most-updates")]
    other_family = [*one, finding("gradient-norm-explodes")]
    base = probability(ppo(), Verdict.UNSTABLE, one, "learning-rate-too-high")
    same = probability(ppo(), Verdict.UNSTABLE, two, "learning-rate-too-high")
    different = probability(ppo(), Verdict.UNSTABLE, other_family, "learning-rate-too-high")
    assert base < different
    assert same < different


def test_every_root_cause_names_its_class(runs: Path) -> None:
    assert all(entry.cause_class and entry.meaning for entry in catalogue().values())


def test_a_plateau_far_below_its_goal_is_not_taken_for_a_healthy_run() -> None:
    assert causes_of(RunFacts(ppo()), Verdict.PLATEAUED, [], ALL)[0][0].id == NOTHING_WRONG
    assert causes_of(RunFacts(ppo()), Verdict.PLATEAUED, [], ALL, standing=Standing(behind=True))[0][0].id == UNKNOWN


def test_a_far_config_value_counts_in_a_run_that_does_badly_and_more_beside_its_own_signs() -> None:
    def high_rate(rate: float, signs: list[Finding]) -> float:
        causes, _ = causes_of(
            RunFacts(ppo(learning_rate=rate)), Verdict.PLATEAUED, signs, ALL, standing=Standing(behind=True)
        )
        return next((cause.probability for cause in causes if cause.id == "learning-rate-too-high"), 0.0)

    assert high_rate(3e-4, []) < 0.1 < 0.5 < high_rate(0.3, []) < high_rate(0.3, [finding("kl-too-large")])


def test_a_run_that_rises_far_behind_others_is_less_surely_healthy() -> None:
    rising = causes_of(RunFacts(ppo()), Verdict.LEARNING, [], ALL)[0][0]
    behind = causes_of(RunFacts(ppo()), Verdict.LEARNING, [], ALL, standing=Standing(behind=True))[0][0]
    assert (rising.id, behind.id) == (NOTHING_WRONG, NOTHING_WRONG)
    assert behind.probability < rising.probability


OPEN = Standing(open_end=True)


def test_a_value_that_nobody_works_with_is_suspected_once_the_budget_is_used_up() -> None:
    """It stays behind `nothing-wrong` in a run that learns, and is not even listed where it is within working ones."""
    on_policy, crept = ALL - {"q-runs-away", "td-error-grows"}, Standing(open_end=True, crept=True)
    far, _ = causes_of(RunFacts(ppo(learning_rate=0.3)), Verdict.LEARNING, [], on_policy, standing=crept)
    near, _ = causes_of(RunFacts(ppo(learning_rate=1e-3)), Verdict.LEARNING, [], on_policy, standing=crept)
    assert far[0].id == near[0].id == NOTHING_WRONG
    assert "learning-rate-too-high" in {cause.id for cause in far}
    assert "learning-rate-too-high" not in {cause.id for cause in near}


def test_beside_a_sign_of_its_cause_a_smaller_distance_is_far_outside() -> None:
    signs = [finding("horizon-short-for-task", Severity.INFO, 0.5)]
    shares = []
    for gamma in (0.5, 0.9):
        causes, _ = causes_of(RunFacts(ppo(gamma=gamma)), Verdict.LEARNING, signs, ALL, standing=OPEN)
        shares.append(next((cause.probability for cause in causes if cause.id == "discount-too-low"), 0.0))
    assert shares[0] > 0.2 > 0.05 > shares[1]


def test_a_default_or_a_rate_that_is_not_in_force_is_not_outside() -> None:
    rate = Setting("learning_rate", 0.03, "learning_rate")
    logged = Series("learning_rate", "lr", np.arange(10.0), np.full(10, 3e-4))
    in_force, knob = ppo(learning_rate=0.03), Knob("learning_rate", "high")
    assert is_outside(in_force, knob)
    assert not is_outside(in_force, Knob("learning_rate", "low"))
    assert not is_outside(replace(in_force, series={"learning_rate": logged}), knob)
    assert not is_outside(replace(in_force, config=Config({"learning_rate": replace(rate, is_default=True)})), knob)


def test_without_an_entry_a_value_is_held_against_working_configs_not_against_defaults() -> None:
    interval = Setting("target_update_interval", 10_000, "target_update_interval")
    config = Config({"target_update_interval": interval})
    run = Run("run", "run", algorithm="DQN", environment="MyRoom-v0", config=config)
    far = deviation(run, Knob("target_update_interval", "high"))
    assert far is not None
    assert far > 2.0


def test_either_of_two_hyperparameters_shows_a_slow_target() -> None:
    signs = [finding("target-moves-strangely", confidence=0.7)]
    shares = []
    for tau in (5e-5, 5e-3):
        config = Config({"tau": Setting("tau", tau, "tau")})
        run = Run("run", "run", algorithm="SAC", environment="Pendulum-v1", config=config)
        shares.append(probability(run, Verdict.NOT_LEARNING, signs, "target-network-too-slow"))
    assert shares[0] > 0.5 > shares[1]


def test_a_goal_that_was_missed_with_the_whole_budget_speaks_against_a_healthy_run() -> None:
    missed = causes_of(RunFacts(ppo()), Verdict.LEARNING, [], ALL, standing=Standing(missed=True))[0]
    rising = causes_of(RunFacts(ppo()), Verdict.LEARNING, [], ALL, standing=Standing())[0]
    assert rising[0].id == NOTHING_WRONG
    assert missed[0].id != NOTHING_WRONG


def test_nothing_in_the_config_of_a_run_that_reached_its_goal_is_a_cause() -> None:
    signs = [finding("kl-too-large")]
    done = causes_of(RunFacts(ppo(learning_rate=0.3)), Verdict.SOLVED, signs, ALL, standing=Standing(done=True))[0]
    assert done[0].id == NOTHING_WRONG
    assert not any("learning_rate" in reason for cause in done for reason in cause.supports)


def test_the_sharpness_moves_probabilities_and_not_their_order() -> None:
    signs = [finding("kl-too-large", Severity.ERROR)]
    with patch.object(posterior, "sharpness", lambda: Sharpness(1.0, 1.0)):
        plain, _ = causes_of(RunFacts(ppo()), Verdict.COLLAPSED, signs, ALL)
    with patch.object(posterior, "sharpness", lambda: Sharpness(2.0, 2.0)):
        sharp, _ = causes_of(RunFacts(ppo()), Verdict.COLLAPSED, signs, ALL)
    assert plain[0].id == sharp[0].id
    assert plain[0].probability < sharp[0].probability


def test_a_bug_is_likelier_where_settings_are_known_and_none_explains_what_went_wrong() -> None:
    seen = [finding("never-improved")]
    known, blind = ppo(learning_rate=3e-4, gamma=0.99), ppo()
    assert probability(known, Verdict.NOT_LEARNING, seen, "implementation-bug") > 2 * probability(
        blind, Verdict.NOT_LEARNING, seen, "implementation-bug"
    )
    assert probability(known, Verdict.LEARNING, [], "implementation-bug") < 0.05


def test_a_sure_sign_of_another_cause_leaves_nothing_to_elimination() -> None:
    known, bare = ppo(learning_rate=3e-4, gamma=0.99), [finding("never-improved")]
    told = [*bare, finding("not-a-number", Severity.ERROR)]
    assert probability(known, Verdict.NOT_LEARNING, told, "implementation-bug") < 0.3 * probability(
        known, Verdict.NOT_LEARNING, bare, "implementation-bug"
    )


def test_a_run_that_was_over_too_soon_to_be_judged_is_not_called_well() -> None:
    over, going_on = (
        causes_of(RunFacts(ppo()), Verdict.INSUFFICIENT_DATA, [], ALL, standing=standing)[0]
        for standing in (Standing(open_end=True), Standing())
    )
    assert over[0].id != NOTHING_WRONG
    assert going_on[0].id == NOTHING_WRONG


def test_a_goal_out_of_reach_at_the_present_pace_is_no_matter_of_the_budget() -> None:
    seen = [finding("still-rising-at-end", Severity.INFO)]
    shares = [
        {
            item.id: item.probability
            for item in causes_of(RunFacts(ppo()), Verdict.LEARNING, seen, ALL, standing=standing)[0]
        }
        for standing in (Standing(missed=True, open_end=True), Standing(missed=True, open_end=True, slow=True))
    ]
    assert shares[1].get("budget-too-small", 0.0) < 0.5 * shares[0]["budget-too-small"]


def test_a_rise_that_ended_without_a_goal_is_less_surely_healthy_and_stays_the_likeliest() -> None:
    settled, open_end = (
        causes_of(RunFacts(ppo()), Verdict.LEARNING, [], ALL, standing=standing)[0]
        for standing in (Standing(), Standing(open_end=True))
    )
    assert settled[0].id == open_end[0].id == NOTHING_WRONG
    assert open_end[0].probability < settled[0].probability


def test_evaluations_far_below_training_hold_an_odd_setting_against_a_run_that_rises() -> None:
    run, standing = ppo(learning_rate=0.05), Standing(open_end=True)
    rate = [
        next((item.probability for item in causes_of(RunFacts(run), Verdict.LEARNING, seen, ALL, standing=standing)[0]
              if item.id == "learning-rate-too-high"), 0.0)
        for seen in ([], [finding("train-and-eval-part")])
    ]  # fmt: skip
    assert rate[1] > rate[0]


def test_a_goal_that_only_evaluations_missed_is_no_bug_by_elimination() -> None:
    run = ppo(learning_rate=3e-4, gamma=0.99)
    bug = [
        next((item.probability for item in causes_of(RunFacts(run), Verdict.PLATEAUED, [], ALL, standing=standing)[0]
              if item.id == "implementation-bug"), 0.0)
        for standing in (Standing(missed=True), Standing(missed=True, tried=True))
    ]  # fmt: skip
    assert bug[1] < 0.5 * bug[0]
