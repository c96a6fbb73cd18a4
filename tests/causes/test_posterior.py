"""Causes: what speaks for them, what against, and what counts nothing."""

from __future__ import annotations

import math
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from tomllib import loads
from unittest.mock import patch

import numpy as np
import pytest

from rlclinic.causes import posterior
from rlclinic.causes.catalogue import NOTHING_WRONG, UNKNOWN, catalogue
from rlclinic.causes.posterior import causes_of
from rlclinic.causes.weights import VERDICT, CauseWeights, Temperature, load, weights
from rlclinic.engine import diagnose
from rlclinic.facts.goal_status import GoalStatus
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.config import Config, Setting
from rlclinic.model.diagnosis import Verdict
from rlclinic.model.finding import Finding, Severity
from rlclinic.model.run import Run
from rlclinic.rules.registry import RULES, applicable
from tests.rules.scene import scene

ALL = frozenset(row.name for row in RULES)
BY_NAME = {row.name: row for row in RULES}


def finding(name: str, severity: Severity = Severity.WARNING, confidence: float = 0.9) -> Finding:
    row = BY_NAME[name]
    return Finding(row.code, row.title, row.family, severity, confidence, "seen", name=name)


def probability(
    run: Run, verdict: Verdict, findings: list[Finding], cause: str, checked: frozenset[str] = ALL
) -> float:
    causes = causes_of(RunFacts(run), verdict, findings, checked).causes
    return next((item.probability for item in causes if item.id == cause), 0.0)


def ppo(**settings: float) -> Run:
    config = Config({name: Setting(name, value, name) for name, value in settings.items()})
    return Run("run", "run", algorithm="PPO", environment="CartPole-v1", config=config)


def test_the_ids_are_those_of_the_contract() -> None:
    entries = catalogue()
    assert len(entries) == 122 + 2
    for cause in ("learning-rate-too-high", "kl-reward-hacking", "implementation-bug", NOTHING_WRONG, UNKNOWN):
        assert cause in entries


def test_a_cause_that_no_piece_could_speak_for_is_not_in_question() -> None:
    bare = replace(weights(), causes={**weights().causes, "comparison-confounded": CauseWeights(0.003)})
    with patch.object(posterior, "weights", lambda: bare):
        assert "comparison-confounded" not in causes_of(RunFacts(ppo()), Verdict.NOT_LEARNING, [], ALL).explanations
    assert "comparison-confounded" in causes_of(RunFacts(ppo()), Verdict.NOT_LEARNING, [], ALL).explanations


@pytest.mark.parametrize(
    ("algorithm", "cause"),
    [("DQN", "network-too-small"), ("SAC", "network-too-small"), ("PPO", "truncation-as-termination")],
)
def test_a_rule_about_another_way_of_learning_shuts_no_cause_out(algorithm: str, cause: str) -> None:
    facts = RunFacts(replace(ppo(), algorithm=algorithm))
    names = frozenset(rule.name for rule in applicable(facts))
    found = causes_of(facts, Verdict.NOT_LEARNING, [], names, applicable=names).explanations
    assert cause in found
    assert not any(catalogue()[name].cause_class in {"imitation", "language-model"} for name in found)


def test_rules_and_causes_never_share_a_name() -> None:
    assert not ALL & set(catalogue())


def test_the_table_names_only_rules_that_exist() -> None:
    named = {name for row in weights().causes.values() for name in (*row.weights, *row.expects)}
    assert {name for name in named if not name.startswith(VERDICT)} <= ALL


def test_the_classes_sum_to_one() -> None:
    classes = causes_of(RunFacts(ppo()), Verdict.NOT_LEARNING, [finding("never-improved")], ALL).classes
    assert sum(classes.values()) == pytest.approx(1.0)


def test_a_run_without_findings_that_learns_has_nothing_wrong() -> None:
    causes = causes_of(RunFacts(ppo()), Verdict.LEARNING, [], ALL).causes
    assert causes[0].id == NOTHING_WRONG
    assert causes[0].probability > 0.5


def test_findings_move_probability_to_the_cause_that_explains_them() -> None:
    signs = [finding("kl-too-large", Severity.ERROR), finding("policy-died-early", Severity.ERROR)]
    causes = causes_of(RunFacts(ppo()), Verdict.COLLAPSED, signs, ALL).causes
    assert causes[0].id == "learning-rate-too-high"
    assert any("kl-too-large" in reason for reason in causes[0].supports)


def test_a_rule_that_was_not_checked_counts_nothing_against_a_cause() -> None:
    signs = [finding("never-improved")]
    without = probability(ppo(), Verdict.NOT_LEARNING, signs, "learning-rate-too-low", ALL - {"kl-vanishes"})
    checked = probability(ppo(), Verdict.NOT_LEARNING, signs, "learning-rate-too-low", ALL)
    assert without > checked


def test_a_config_value_is_no_cause_without_a_symptom() -> None:
    odd = causes_of(RunFacts(ppo(learning_rate=0.3)), Verdict.LEARNING, [], ALL).causes
    plain = causes_of(RunFacts(ppo()), Verdict.LEARNING, [], ALL).causes
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
    two = [*one, finding("clip-fraction-high")]
    other_family = [*one, finding("gradient-norm-explodes")]
    base = probability(ppo(), Verdict.UNSTABLE, one, "learning-rate-too-high")
    same = probability(ppo(), Verdict.UNSTABLE, two, "learning-rate-too-high")
    different = probability(ppo(), Verdict.UNSTABLE, other_family, "learning-rate-too-high")
    assert base < different
    assert same < different


def test_every_root_cause_names_its_class(runs: Path) -> None:
    assert all(entry.cause_class and entry.meaning for entry in catalogue().values())


def test_a_plateau_far_below_its_goal_is_not_taken_for_a_healthy_run() -> None:
    assert causes_of(RunFacts(ppo()), Verdict.PLATEAUED, [], ALL).causes[0].id == NOTHING_WRONG
    assert (
        causes_of(RunFacts(ppo()), Verdict.PLATEAUED, [], ALL, status=GoalStatus(behind=True)).causes[0].id == UNKNOWN
    )


def test_a_far_config_value_counts_in_a_run_that_does_badly_and_more_beside_its_own_signs() -> None:
    def high_rate(rate: float, signs: list[Finding]) -> float:
        causes = causes_of(
            RunFacts(ppo(learning_rate=rate)), Verdict.PLATEAUED, signs, ALL, status=GoalStatus(behind=True)
        ).causes
        return next((cause.probability for cause in causes if cause.id == "learning-rate-too-high"), 0.0)

    assert high_rate(3e-4, []) < 0.1 < 0.5 < high_rate(0.3, []) < high_rate(0.3, [finding("kl-too-large")])


def test_a_run_that_rises_far_behind_others_is_less_surely_healthy() -> None:
    rising = causes_of(RunFacts(ppo()), Verdict.LEARNING, [], ALL).causes[0]
    behind = causes_of(RunFacts(ppo()), Verdict.LEARNING, [], ALL, status=GoalStatus(behind=True)).causes[0]
    assert (rising.id, behind.id) == (NOTHING_WRONG, NOTHING_WRONG)
    assert behind.probability < rising.probability


def test_the_pieces_of_every_cause_sum_to_the_logarithm_of_its_probability() -> None:
    signs = [finding("kl-too-large"), finding("clip-fraction-high"), finding("not-a-number", Severity.ERROR)]
    for status in (GoalStatus(), GoalStatus(budget_used=True), GoalStatus(missed=True, budget_used=True)):
        found = causes_of(RunFacts(ppo(learning_rate=0.3)), Verdict.LEARNING, signs, ALL, status=status)
        assert sum(one.probability for one in found.explanations.values()) == pytest.approx(1.0)
        for one in found.explanations.values():
            assert math.exp(sum(piece.value for piece in one.pieces)) == pytest.approx(one.probability)


def test_a_condition_of_a_fact_that_does_not_exist_is_refused_by_name() -> None:
    text = files("rlclinic.causes").joinpath("weights.toml").read_text(encoding="utf-8")
    with pytest.raises(ValueError, match="does-badly names no-such-fact"):
        load(loads(text.replace('"behind", "missed", "evaluation-worse"', '"no-such-fact"')))


def test_an_intercept_and_a_multiplier_move_a_cause_as_they_say() -> None:
    signs = [finding("kl-too-large")]
    cause, table = "learning-rate-too-high", weights()
    rows = {**table.causes, cause: replace(table.causes[cause], intercept=math.log(2.0))}
    one = replace(table, temperature=Temperature(1.0, 1.0))
    moved = {
        "as it is": one,
        "twice as often": replace(one, causes=rows),
        "findings count nothing": replace(one, scale={**table.scale, "finding": 0.0}),
    }
    odds = {}
    for name, changed in moved.items():
        with patch.object(posterior, "weights", lambda changed=changed: changed):
            share = causes_of(RunFacts(ppo()), Verdict.UNSTABLE, signs, ALL).explanations[cause].probability
        odds[name] = share / (1.0 - share)
    assert odds["twice as often"] == pytest.approx(2.0 * odds["as it is"])
    assert odds["findings count nothing"] < odds["as it is"]


OPEN = GoalStatus(budget_used=True)


def test_a_value_that_nobody_works_with_is_suspected_once_the_budget_is_used_up() -> None:
    """It stays behind `nothing-wrong` in a run that learns, and is not even listed where it is within working ones."""
    on_policy, crept = ALL - {"q-values-diverge", "td-error-grows"}, GoalStatus(budget_used=True, barely_moved=True)
    far = causes_of(RunFacts(ppo(learning_rate=0.3)), Verdict.LEARNING, [], on_policy, status=crept).causes
    near = causes_of(RunFacts(ppo(learning_rate=1e-3)), Verdict.LEARNING, [], on_policy, status=crept).causes
    assert far[0].id == near[0].id == NOTHING_WRONG
    assert "learning-rate-too-high" in {cause.id for cause in far}
    assert "learning-rate-too-high" not in {cause.id for cause in near}


def test_beside_a_sign_of_its_cause_a_smaller_distance_is_far_outside() -> None:
    signs = [finding("horizon-short-for-task", Severity.INFO, 0.5)]
    shares = []
    for gamma in (0.5, 0.9):
        causes = causes_of(RunFacts(ppo(gamma=gamma)), Verdict.LEARNING, signs, ALL, status=OPEN).causes
        shares.append(next((cause.probability for cause in causes if cause.id == "discount-too-low"), 0.0))
    assert shares[0] > 0.2 > 0.05 > shares[1]


def test_either_of_two_hyperparameters_shows_a_slow_target() -> None:
    signs = [finding("target-moves-strangely", confidence=0.7)]
    shares = []
    for tau in (5e-5, 5e-3):
        config = Config({"tau": Setting("tau", tau, "tau")})
        run = Run("run", "run", algorithm="SAC", environment="Pendulum-v1", config=config)
        shares.append(probability(run, Verdict.NOT_LEARNING, signs, "target-network-too-slow"))
    assert shares[0] > 0.5 > shares[1]


def test_a_goal_that_was_missed_with_the_whole_budget_speaks_against_a_healthy_run() -> None:
    missed = causes_of(RunFacts(ppo()), Verdict.LEARNING, [], ALL, status=GoalStatus(missed=True)).causes
    rising = causes_of(RunFacts(ppo()), Verdict.LEARNING, [], ALL, status=GoalStatus()).causes
    assert rising[0].id == NOTHING_WRONG
    assert missed[0].id != NOTHING_WRONG


def test_nothing_in_the_config_of_a_run_that_reached_its_goal_is_a_cause() -> None:
    signs = [finding("kl-too-large")]
    done = causes_of(RunFacts(ppo(learning_rate=0.3)), Verdict.SOLVED, signs, ALL, status=GoalStatus(done=True)).causes
    assert done[0].id == NOTHING_WRONG
    assert not any("learning_rate" in reason for cause in done for reason in cause.supports)


def test_the_temperature_moves_probabilities_and_not_their_order() -> None:
    signs = [finding("kl-too-large", Severity.ERROR)]
    with patch.object(posterior, "weights", lambda: replace(weights(), temperature=Temperature(1.0, 1.0))):
        plain = causes_of(RunFacts(ppo()), Verdict.COLLAPSED, signs, ALL).causes
    with patch.object(posterior, "weights", lambda: replace(weights(), temperature=Temperature(2.0, 2.0))):
        sharp = causes_of(RunFacts(ppo()), Verdict.COLLAPSED, signs, ALL).causes
    assert plain[0].id == sharp[0].id
    assert plain[0].probability < sharp[0].probability


def test_little_data_bounds_what_is_said_unless_a_sign_tells_the_cause() -> None:
    def sharpness(findings: list[Finding]) -> float:
        return causes_of(RunFacts(ppo()), Verdict.INSUFFICIENT_DATA, findings, ALL).explanations[UNKNOWN].sharpness

    usual = weights().temperature.without_config
    assert sharpness([]) < usual
    assert sharpness([finding("not-a-number")]) == usual


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
        causes_of(RunFacts(ppo()), Verdict.INSUFFICIENT_DATA, [], ALL, status=status).causes
        for status in (GoalStatus(budget_used=True), GoalStatus())
    )
    assert NOTHING_WRONG not in (over[0].id, going_on[0].id)


def test_a_goal_out_of_reach_at_the_present_pace_is_no_matter_of_the_budget() -> None:
    seen = [finding("still-rising-at-end", Severity.INFO)]
    shares = [
        {
            item.id: item.probability
            for item in causes_of(RunFacts(ppo()), Verdict.LEARNING, seen, ALL, status=status).causes
        }
        for status in (
            GoalStatus(missed=True, budget_used=True),
            GoalStatus(missed=True, budget_used=True, slow=True),
        )
    ]
    assert shares[1].get("budget-too-small", 0.0) < 0.5 * shares[0]["budget-too-small"]


def test_a_rise_that_ended_without_a_goal_is_less_surely_healthy_and_stays_the_likeliest() -> None:
    settled, open_end = (
        causes_of(RunFacts(ppo()), Verdict.LEARNING, [], ALL, status=status).causes
        for status in (GoalStatus(), GoalStatus(budget_used=True))
    )
    assert settled[0].id == open_end[0].id == NOTHING_WRONG
    assert open_end[0].probability < settled[0].probability


def test_evaluations_far_below_training_hold_an_odd_setting_against_a_run_that_rises() -> None:
    run, status = ppo(learning_rate=0.05), GoalStatus(budget_used=True)
    rate = [
        causes_of(RunFacts(run), Verdict.LEARNING, seen, ALL, status=status).explanations["learning-rate-too-high"]
        for seen in ([], [finding("train-eval-gap")])
    ]
    assert rate[1].probability > rate[0].probability


def test_a_goal_that_only_evaluations_missed_is_no_bug_by_elimination() -> None:
    run = ppo(learning_rate=3e-4, gamma=0.99)
    bug = [
        causes_of(RunFacts(run), Verdict.PLATEAUED, [], ALL, status=status).explanations["implementation-bug"]
        for status in (GoalStatus(missed=True), GoalStatus(missed=True, reached_in_training_only=True))
    ]
    assert bug[1].probability < 0.5 * bug[0].probability


def test_what_only_an_examination_shows_does_not_rule_a_cause_of_a_run_out() -> None:
    run = RunFacts(ppo())
    about = frozenset(rule.name for rule in applicable(run))
    found = causes_of(run, Verdict.NOT_LEARNING, [], ALL, applicable=about).explanations
    assert {"sparse-reward", "reward-scale-too-large", "termination-too-early"} <= set(found)


@pytest.mark.parametrize(("episodes", "leads"), [(40, "budget-too-small"), (400, UNKNOWN)])
def test_a_run_of_a_few_dozen_episodes_had_too_small_a_budget_before_anything_else(episodes: int, leads: str) -> None:
    returns = -300.0 + 15.0 * np.random.default_rng(0).standard_normal(episodes)
    told = diagnose(scene(series={"return/train": returns}, axis="episodes", steps=float(episodes)).run)
    assert told.verdict is Verdict.NOT_LEARNING
    assert told.causes[0].id == leads


def test_twenty_rounds_of_training_are_few_and_a_pay_that_never_changes_says_otherwise() -> None:
    """constructed: noise, and one number, over twenty updates of a home-made trainer."""
    told = [
        any("so few episodes or updates" in text for cause in diagnose(one.run).causes for text in cause.supports)
        for values in (noisy(0.1, 0.2, 20), np.full(20, -0.065))
        for one in [scene(series={"return/train": values}, framework="unknown", axis="updates", steps=20.0)]
    ]
    assert told == [True, False]


def test_one_number_with_digits_is_a_reward_that_tells_nothing_before_it_is_a_rare_one() -> None:
    """constructed: sixteen episodes, all alike."""
    assert leads(scene(series={"return/train": np.full(16, 3.8)}, framework="unknown")) == "uninformative-reward"
    assert leads(scene(series={"return/train": np.zeros(40)}, framework="unknown")) == "sparse-reward"


def test_where_nothing_tells_why_a_bug_is_likelier_in_code_that_no_library_wrote() -> None:
    """constructed: 200 episodes of noise."""
    shares = {}
    for framework in ("unknown", "sb3"):
        run = scene(series={"return/train": noisy(-300.0, 15.0, 200)}, framework=framework, algorithm="").run
        shares[framework] = {cause.id: cause.probability for cause in diagnose(run).causes}
    assert max(shares["unknown"], key=lambda cause: shares["unknown"][cause]) == UNKNOWN
    assert "implementation-bug" in list(shares["unknown"])[:3]
    assert shares["sb3"].get("implementation-bug", 0.0) < shares["unknown"]["implementation-bug"] / 2


def leads(facts: RunFacts) -> str:
    return diagnose(facts.run).causes[0].id


def noisy(level: float, spread: float, points: int = 80) -> np.ndarray:
    return level + spread * np.random.default_rng(5).normal(size=points)


def test_a_policy_that_hardly_acted_was_given_too_small_a_budget() -> None:
    flat, rates = noisy(-20.4, 0.5), np.linspace(1.0, 0.8, 80)
    hardly = scene(series={"return/train": flat, "epsilon": rates}, algorithm="DQN", framework="unknown")
    done = scene(series={"return/train": flat, "epsilon": np.geomspace(1.0, 0.05, 80)}, algorithm="DQN")
    told = [any("still random" in text for cause in diagnose(one.run).causes for text in cause.supports)
            for one in (hardly, done)]  # fmt: skip
    assert told == [True, False]


def test_returns_that_no_critic_comes_to_are_too_large_where_nothing_was_learned() -> None:
    assert leads(scene(series={"return/train": noisy(5e10, 1e10)}, framework="unknown")) == "reward-scale-too-large"
    risen = scene(series={"return/train": np.linspace(1e7, 5e10, 80)}, framework="unknown")
    assert leads(risen) == NOTHING_WRONG


def test_few_steps_speak_for_the_budget_and_a_constant_return_does_not() -> None:
    for returns, told in ((noisy(5.0, 1.0), True), (np.full(80, 5.0), False)):
        found = diagnose(scene(series={"return/train": returns}, framework="unknown", steps=3000.0).run)
        assert any("env steps" in text for cause in found.causes for text in cause.supports) is told


def test_what_one_seed_alone_shows_weighs_less_than_what_all_show() -> None:
    run, signs = RunFacts(ppo()), [finding("kl-too-large"), finding("policy-died-early")]
    alone = causes_of(run, Verdict.COLLAPSED, signs, ALL).explanations
    other = causes_of(run, Verdict.COLLAPSED, [], ALL).explanations
    alike = causes_of(run, Verdict.COLLAPSED, signs, ALL, seeds=[alone]).explanations
    apart = causes_of(run, Verdict.COLLAPSED, signs, ALL, seeds=[other, other]).explanations
    cause = "learning-rate-too-high"
    assert alike[cause].probability == pytest.approx(alone[cause].probability)
    assert apart[cause].probability < alone[cause].probability
    assert sum(one.probability for one in apart.values()) == pytest.approx(1.0)
    assert sum(piece.value for piece in apart[cause].pieces) == pytest.approx(math.log(apart[cause].probability))


def test_that_little_is_known_of_a_home_made_trainer_counts_once() -> None:
    climbed = np.concatenate([np.linspace(0.0, 13.0, 7), noisy(13.0, 0.2, 13)])
    found = diagnose(scene(series={"return/train": climbed}, framework="unknown", algorithm="", axis="episodes").run)
    assert found.verdict is Verdict.PLATEAUED
    assert found.causes[0].id == NOTHING_WRONG


def test_a_budget_is_suspected_less_where_only_the_evaluations_rose() -> None:
    noise, rise = np.random.default_rng(0).normal(size=60), np.minimum(np.arange(20.0) * 10.0, 100.0)
    rose, stood = (
        causes_of(scene(series={"return/train": noise, "return/eval": noise[:20] + level}), Verdict.LEARNING, [], ALL)
        for level in (rise, 0.0)
    )
    cause, text = "budget-too-small", weights().words["evaluations-alone-rose"]
    assert rose.explanations[cause].probability < stood.explanations[cause].probability
    told = [[piece.text for piece in one.explanations[cause].evidence] for one in (rose, stood)]
    assert [text in texts for texts in told] == [True, False]


@pytest.mark.parametrize("known", [True, False])
def test_a_rise_does_not_outweigh_updates_that_replace_the_policy(*, known: bool) -> None:
    """constructed: KL of 20 nats in every update while the return of CartPole rises from 20 to 41."""
    series = {"approx_kl": np.full(30, 20.0), "return/train": np.linspace(20.0, 41.0, 30)}
    config = {"learning_rate": 0.1} if known else {}
    told = diagnose(scene(series=series, environment="CartPole-v1", config=config, budget=60_000, steps=60_000).run)
    leading = told.causes[0]
    assert leading.id == "learning-rate-too-high"
    assert not known or leading.probability >= 0.9
    calm = diagnose(scene(series={**series, "approx_kl": np.full(30, 0.01)}, environment="CartPole-v1").run)
    assert calm.causes[0].id in {NOTHING_WRONG, UNKNOWN}


def test_a_setting_beyond_all_others_counts_where_the_budget_led_hardly_anywhere() -> None:
    """constructed: a learning rate of 0.1 and a rise to a twelfth of what CartPole pays, without update metrics."""

    def share(end: float) -> float:
        run = scene(
            series={"return/train": np.linspace(20.0, end, 30)},
            environment="CartPole-v1",
            config={"learning_rate": 0.1},
            budget=60_000,
            steps=60_000,
        ).run
        return next((c.probability for c in diagnose(run).causes if c.id == "learning-rate-too-high"), 0.0)

    assert share(41.0) > 2.0 * share(300.0)


def _bare(values: np.ndarray, *, algorithm: str = "", environment: str = "", framework: str = "unknown") -> Run:
    """A run of which only the return is known."""
    series = {"return/train": values}
    return scene(algorithm=algorithm, environment=environment, framework=framework, series=series, steps=1e6).run


def _leads(run: Run) -> tuple[str, float]:
    first = diagnose(run).causes[0]
    return first.id, first.probability


RNG = np.random.default_rng(0)
COLLAPSED = np.concatenate([np.linspace(2, 70, 20), np.linspace(70, 1, 20), np.ones(20)]) + RNG.normal(0, 1, 60)


@pytest.mark.parametrize(("algorithm", "cause"), [("PPO", "learning-rate-too-high"), ("DQN", "q-overestimation")])
def test_a_fall_that_nothing_explains_has_the_usual_cause_of_its_kind(algorithm: str, cause: str) -> None:
    """constructed: 70 and then nothing, never with certainty; a climb has none."""
    leading, share = _leads(_bare(COLLAPSED, algorithm=algorithm))
    assert leading == cause
    assert share < 0.75
    assert _leads(_bare(np.sort(COLLAPSED), algorithm=algorithm))[0] not in {cause, UNKNOWN}


def test_an_algorithm_for_other_actions_than_the_task_has_is_unsuited() -> None:
    """constructed: CartPole at its worst by an algorithm for continuous actions; one that fits is not blamed."""
    still = 9.5 + RNG.normal(0, 1, 60)
    assert _leads(_bare(still, algorithm="DDPG", environment="CartPole-v0"))[0] == "algorithm-unsuited"
    assert _leads(_bare(still, algorithm="DQN", environment="CartPole-v0"))[0] != "algorithm-unsuited"
    assert _leads(_bare(-1200 + still, algorithm="DDPG", environment="Pendulum-v1"))[0] != "algorithm-unsuited"


def test_a_few_returns_of_another_size_are_one_part_of_the_reward() -> None:
    """constructed: one episode in six costs 300 times what the others do; one single episode is an accident."""
    costs = -400.0 + 100.0 * RNG.normal(0, 1, 60)
    often, once, rare = costs.copy(), costs.copy(), np.zeros(60)
    often[3::6] = -130_000.0
    once[30] = -130_000.0
    rare[3::6] = 100.0
    assert _leads(_bare(often))[0] == "reward-component-dominates"
    assert _leads(_bare(once))[0] != "reward-component-dominates"
    assert _leads(_bare(rare))[0] != "reward-component-dominates"
