"""The course of the return: its noise, and what rules say whatever the numbers are."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rlclinic.rules
from rlclinic.facts.goal import goal_of
from rlclinic.facts.returns import falls
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.saturation import saturation
from rlclinic.facts.window_noise import window_noise
from rlclinic.judgement.verdict import verdict
from rlclinic.model.series import Series
from tests.rules.scene import flat, recorded, rising, scene

FAMILIES = ("success", "convergence", "evaluation", "process")
FOLDER = Path(rlclinic.rules.__file__).parent
RULES = [
    import_module(f"rlclinic.rules.{family}.{path.stem}")
    for family in FAMILIES
    for path in sorted((FOLDER / family).glob("*.py"))
    if path.stem != "__init__"
]
SECTIONS = ("What it sees:", "Why it hurts:", "Evidence needed:", "Looks alike:", "What to change:", "References:")


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__.rsplit(".", 1)[-1])
def test_a_rule_documents_itself_in_six_sections(rule: object) -> None:
    text = rule.__doc__ or ""
    title, _, body = text.partition("\n\n")
    heads = [line for line in body.splitlines() if line.startswith(SECTIONS)]
    assert [head[: head.index(":") + 1] for head in heads] == list(SECTIONS)
    assert title.endswith(".")
    assert len(title) <= 90


def windowed(singles: np.ndarray, length: float, every: int) -> RunFacts:
    """A run that logs the mean of its last 100 episodes after every so many of them."""
    at = np.arange(every - 1, singles.size, every)
    means = np.array([singles[max(0, i - 99) : i + 1].mean() for i in at])
    steps = np.linspace(every * length, (at[-1] + 1) * length, at.size)
    returns = Series("return/train", "r", steps, means, window="last 100 episodes")
    lengths = Series("episode_length", "l", steps, np.full(at.size, length))
    return scene(series={"return/train": returns, "episode_length": lengths}, steps=float(steps[-1]))


@pytest.mark.parametrize("every", [1, 5, 20, 150])
def test_the_noise_of_a_mean_over_episodes_is_a_tenth_of_theirs(every: int) -> None:
    """constructed: single episodes of a known spread."""
    singles = 50.0 + 20.0 * np.random.default_rng(1).standard_normal(40 * max(every, 50))
    facts = windowed(singles, 100.0, every)
    found = window_noise(facts.run["return/train"], facts.series("episode_length"))
    assert found is not None
    assert found.noise == pytest.approx(2.0, rel=0.4)


def test_noise_is_only_inferred_where_episodes_can_be_counted() -> None:
    """constructed: the same curve without a window, and without lengths."""
    for series in ({"return/train": flat()}, {"return/train": flat(), "episode_length": flat(100)}):
        facts = scene(series=series)
        assert window_noise(facts.run["return/train"], facts.series("episode_length")) is None


def test_a_wandering_mean_rarely_looks_like_a_climb_or_a_fall() -> None:
    """constructed: many seeds of a task on which nothing is learned."""
    climbs = falling = 0
    for seed in range(40):
        singles = np.random.default_rng(seed).gamma(4.0, 5.0, 900)
        curve = windowed(singles, 22.0, 23).curve
        assert curve is not None
        climbs += curve.climbed
        falling += bool(curve.falls)
    assert climbs <= 4
    assert falling <= 2


def test_falls_need_a_climb_before_them() -> None:
    """constructed: a curve of straight pieces."""
    curve = np.array([5.0, 0, 0, 10, 10, 4, 4, 10, 9, 10])
    found = falls(curve, np.arange(10.0), 3.0)
    assert [(fall.high, fall.low, fall.recovered) for fall in found] == [(10.0, 4.0, 6.0)]


def test_the_end_of_a_steep_rise_is_not_behind_it() -> None:
    curve = recorded("d3rlpy/dqn_cartpole_online/d3rlpy_logs/*").curve
    assert curve is not None
    assert curve.drop < curve.noise * 2


@pytest.mark.parametrize("level", [-200.0, 0.1, 3e7])
def test_a_constant_does_not_rise(level: float) -> None:
    """constructed: sums over a constant leave a rest of rounding."""
    curve = scene(series={"return/train": np.full(60, level)}).curve
    assert curve is not None
    assert not curve.rising


def test_survival_to_the_limit_at_constant_pay_is_saturation() -> None:
    """constructed: the environment has no name, as in many logs."""
    length = np.concatenate([rising(20, 400, 30), np.full(20, 500.0)])
    solved = scene(series={"return/train": 2 * length, "episode_length": length})
    shaped = 2 * length - 30 + np.random.default_rng(0).standard_normal(length.size)
    reason = saturation(solved)
    assert reason is not None
    assert "every episode lasts 500 steps" in reason
    assert saturation(scene(series={"return/train": shaped, "episode_length": length})) is None


def test_a_success_rate_near_one_is_saturation() -> None:
    """constructed: robotics tasks take hours."""
    rate = np.concatenate([np.linspace(0, 0.97, 20), np.full(10, 0.98)])
    assert saturation(scene(series={"return/train": flat(), "success_rate": rate})) is not None
    assert saturation(scene(series={"return/train": flat(), "success_rate": rate * 0.9})) is None


@settings(derandomize=True, max_examples=60)
@given(
    values=st.lists(st.floats(-1e150, 1e150) | st.sampled_from([np.nan, np.inf, -np.inf]), min_size=1, max_size=80),
    evaluations=st.lists(st.floats(-1e6, 1e6), max_size=30),
    length=st.floats(0, 1e6),
)
def test_no_numbers_make_a_rule_fail(values: list[float], evaluations: list[float], length: float) -> None:
    series = {"return/train": values, "return/eval": evaluations, "episode_length": [length] * len(values)}
    for names in (("return/train",), ("return/train", "return/eval"), tuple(series)):
        facts = scene(series={name: series[name] for name in names}, environment="CartPole-v1")
        seen = [rule.check(facts) for rule in RULES]
        assert all(result is None or "\n" not in result.summary for result in seen)
        verdict(facts, [])


@pytest.mark.parametrize("factor", [1e-6, 1e6])
@pytest.mark.parametrize("name", ["sb3/ppo_cartpole_high_lr", "faults/low_lr_ppo_cartpole", "rsl_rl/cartpole"])
def test_the_unit_of_the_return_does_not_matter(name: str, factor: float) -> None:
    run = recorded(name).run
    names = ("return/train", "episode_length")
    kept = {name: run[name] for name in names if name in run}
    old = kept["return/train"]
    scaled = Series(old.name, old.logged_as, old.steps, old.values * factor, old.axis, window=old.window)
    first = scene(series=kept, steps=run.steps)
    second = scene(series={**kept, "return/train": scaled}, steps=run.steps)
    codes = [[rule.__name__ for rule in RULES if rule.check(facts)] for facts in (first, second)]
    assert codes[0] == codes[1]


def test_a_rise_that_does_not_bring_the_return_back_to_its_start_must_be_clear() -> None:
    """constructed: a return that sinks a little and comes up a little, and one that comes up a lot."""
    rng = np.random.default_rng(3)
    sunk = np.concatenate([np.linspace(-0.75, -0.80, 30), np.full(60, -0.80), np.linspace(-0.80, -0.76, 30)])
    little = scene(series={"return/train": sunk + 0.01 * rng.standard_normal(120)}, budget=100_000)
    deep = np.concatenate([np.linspace(-0.2, -0.9, 30), np.full(60, -0.9), np.linspace(-0.9, -0.25, 30)])
    lot = scene(series={"return/train": deep + 0.01 * rng.standard_normal(120)}, budget=100_000)
    curves = [little.curve, lot.curve]
    assert [curve is not None and curve.rising for curve in curves] == [False, True]


def test_means_that_share_no_episode_are_as_sure_as_single_points() -> None:
    """constructed: 300 points, 120 new episodes between two of them."""
    values = np.linspace(-40.0, 180.0, 300) + 80.0 * np.random.default_rng(0).standard_normal(300)
    details = {"return/train": {"window": "last 100 episodes"}}
    facts = scene(series={"return/train": values, "episode_length": flat(3.0, 300)}, details=details, steps=108_000.0)
    assert facts.curve is not None
    assert facts.curve.whole.is_sure


def test_a_policy_that_always_gets_the_same_odd_number_has_not_reached_all_there_is() -> None:
    climb = np.linspace(-0.8, 0.6, 10)
    for level, is_done in ((10.0, True), (0.8207, False)):
        found = saturation(scene(series={"return/train": np.concatenate([climb, np.full(10, level)])}))
        assert (found is not None) is is_done


def test_a_number_that_most_returns_are_and_none_exceeds_is_the_ceiling_of_the_task() -> None:
    """constructed: a reward that was changed, so that 475 is out of reach; a third stay below, or all do by chance."""
    rng = np.random.default_rng(0)
    climb = np.linspace(20.0, 200.0, 40)
    often = np.where(rng.random(80) < 0.8, 200.5, 195.0)
    for late, is_solved in ((often, True), (195.0 + 5.0 * rng.random(80), False)):
        facts = scene(environment="CartPole-v1", series={"return/train": np.concatenate([climb, late])})
        assert (goal_of(facts) is None) is is_solved
        assert (verdict(facts, ())[0].value == "solved") is is_solved


def test_a_cost_that_still_halves_is_not_flat_however_little_is_left_of_it() -> None:
    """constructed: a cost of 700,000 that ends at 900 and halves over the last third, and one that stays at 900."""
    scatter = np.exp(0.05 * np.random.default_rng(0).standard_normal(60))
    shrinking = scene(series={"return/train": -np.geomspace(7e5, 900.0, 60) * scatter})
    stopped = scene(
        series={"return/train": -np.concatenate([np.geomspace(7e5, 900.0, 20), np.full(40, 900.0)]) * scatter}
    )
    assert verdict(shrinking, ())[0].value == "learning"
    assert verdict(stopped, ())[0].value == "plateaued"


def test_one_outlier_is_no_climb_wherever_it_stands() -> None:
    """constructed: noise with one episode of a hundred times its size in the middle."""
    values = np.random.default_rng(1).standard_normal(150)
    values[75] = 100.0
    curve = scene(series={"return/train": values}).curve
    assert curve is not None
    assert curve.climb > curve.doubt
    assert not curve.climbed


def test_what_a_form_alone_pays_is_no_ceiling_of_a_language_model() -> None:
    """constructed: a tenth for the form of every answer, which none of them gets more than."""
    reward = np.concatenate([np.linspace(0.0, 0.1, 20), np.full(40, 0.1)])
    walks = scene(series={"return/train": 100.0 * reward})
    answers = scene(series={"return/train": reward, "response_length": flat(8.0, 60)})
    assert saturation(walks) is not None
    assert saturation(answers) is None


def pinned(level: float, points: int, first: float) -> RunFacts:
    """Evaluations that all say one number, with episodes that last as many steps."""
    steps = np.linspace(first, 1.0, points) * 1e5
    same = np.full(points, level)
    series = {name: Series(name, name, steps, same) for name in ("return/eval", "episode_length")}
    return scene(series=series, steps=1e5)


def test_evaluations_that_all_last_a_round_number_of_steps_are_at_their_limit() -> None:
    """constructed: a task without a name that pays 1 for each step."""
    assert saturation(pinned(200.0, 5, 0.2)) is not None
    assert saturation(pinned(200.0, 4, 0.25)) is None
    assert saturation(pinned(193.0, 5, 0.2)) is None
    # An agent that has learned nothing yet and reaches it too says that nothing ever ends an episode.
    assert saturation(pinned(200.0, 200, 0.005)) is None
