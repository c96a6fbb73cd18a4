"""Whether nothing is left to gain, where no threshold says so.

Two kinds of return have a maximum that shows without knowing the task. A return that never exceeds 1 and ends close
to it is a share of success. A return that pays the same for each step has its maximum where episodes reach their
limit.
"""

from __future__ import annotations

import numpy as np

from rlclinic.facts.returns import END_POINTS, END_SHARE
from rlclinic.facts.reward_parts import reward_parts
from rlclinic.facts.run_facts import RunFacts, fact
from rlclinic.model.return_curve import ReturnCurve
from rlclinic.model.series import FloatArray, Series
from rlclinic.signals._robust import median
from rlclinic.signals.constants import constants

# Share of successes that counts as nearly every episode.
NEARLY_ALL = 0.95
# Share of successes below which a part of the reward is not earned.
UNPAID = 0.5
# Single episodes that a share of successes rests on.
EPISODES_OF_A_SHARE = 20
# Share of the points, at the end, in which episode lengths must not move at all.
PINNED = 0.1
# Share of the points, at the end, at which a return must be one number.
PINNED_SHARE = 0.2
# Points that show a ceiling at the least, share of them that are at it, and of the climb that the others may cost.
FEWEST_AT_TOP, MOST, NEAR_TOP = 10, 0.5, 0.05
# Evaluations that all end at the limit of an episode, the least such limit, and the share of a run that trains little.
FEWEST_AT_LIMIT, SHORTEST_LIMIT, UNTRAINED = 5, 100.0, 0.05
# Decimals of a round number.
ROUND = 1
# How much the pay per step may differ between the start and the end and still be one and the same.
SAME_PAY = 0.03
# The same for lengths, which a mean over episodes may carry a first short one in.
SAME_LENGTH = 0.002


@fact
def saturation(facts: RunFacts) -> str | None:
    """Why nothing is left to gain, as a clause with numbers; None where that cannot be said."""
    return _success_rate(facts) or _share_of_one(facts) or _survived(facts) or _pinned(facts)


def _success_rate(facts: RunFacts) -> str | None:
    for name in ("success_rate/eval", "success_rate"):
        series = facts.series(name)
        if series is None or len(series) < END_POINTS:
            continue
        level = _level(series)
        if level >= NEARLY_ALL:
            return f"{series.logged_as} ended at {level:.3g}"
    return None


def _level(series: Series) -> float:
    """The share at the end: of shares the middle one, of single episodes, each of which succeeds or not, their mean."""
    tail = _tail(series)
    if not np.isin(tail, (0.0, 1.0)).all() or float(np.ptp(series.values[np.isfinite(series.values)])) == 0.0:
        return median(tail)
    return float(_tail(series, max(END_SHARE, EPISODES_OF_A_SHARE / len(series))).mean())


def _share_of_one(facts: RunFacts) -> str | None:
    curve, returns = facts.curve, facts.run.returns
    if curve is None or returns is None or curve.points < END_POINTS:
        return None
    if returns.highest is None or returns.highest > 1.0 + 1e-6 or curve.final < NEARLY_ALL:
        return None
    if nothing_to_learn(facts) is not None:
        return None
    if any(0.0 <= part.late < UNPAID and 0.0 < part.best <= 1.0 for part in reward_parts(facts)):
        # The rest of the reward makes up for a share of success that is none.
        return None
    return f"{returns.logged_as} never exceeds 1 and ended at {curve.final:.3g}"


def nothing_to_learn(facts: RunFacts) -> str | None:
    """Why a language model that gets the same reward for everything learns nothing: its advantages are all 0."""
    returns = facts.run.returns
    if returns is None or not facts.is_language_model or not constants(returns).constant or not returns.values.any():
        return None
    if returns.highest == 1.0:
        return "the task was solved before the run began, or the verifier always says yes: nothing to learn here"
    return "all responses earn alike, whatever they say: nothing to learn here"


def _survived(facts: RunFacts) -> str | None:
    """Every step pays the same, and all episodes have the same, greatest length."""
    returns = facts.run.returns
    length = facts.series("episode_length/eval" if returns is not None and "eval" in returns.name else "episode_length")
    length = facts.series("episode_length") if length is None else length
    if returns is None or length is None:
        return None
    limit, first, last = returns.values[0], returns.steps[0], returns.steps[-1]
    if len(returns) >= FEWEST_AT_LIMIT and (returns.values == limit).all() and (length.values == limit).all():
        # A limit is a round number, and an untrained agent does not reach it.
        is_limit = limit >= SHORTEST_LIMIT and float(f"{limit:.2g}") == limit and first > UNTRAINED * last
        return f"every episode lasts {limit:,.0f} steps and each step pays 1" if is_limit else None
    if len(length) != len(returns) or len(length) < 2 * END_POINTS:
        return None
    tail, all_lengths = _tail(length, PINNED), length.values[np.isfinite(length.values)]
    still = float(np.ptp(tail)) <= SAME_LENGTH * tail[-1] and tail[-1] >= (1.0 - SAME_LENGTH) * all_lengths.max()
    if not still or tail[-1] < 2 * all_lengths.min():
        return None
    with np.errstate(invalid="ignore", divide="ignore"):
        pay = returns.values / length.values
    pay = pay[np.isfinite(pay)]
    if not pay.size or pay[-1] <= 0:
        return None
    # Most tasks of survival pay one for each step; shaping that fades when the agent does well takes a little off it.
    one = 1.0 - SAME_PAY <= pay[-1] <= 1.0 + 1e-6
    if float(np.ptp(pay)) > SAME_PAY * float(pay[-1]) and not one:
        return None
    return f"every episode lasts {tail[-1]:,.0f} steps, the longest seen, and each step pays {pay[-1]:.3g}"


def _pinned(facts: RunFacts) -> str | None:
    """A return that climbed, and since then is one round positive number: every episode gets all there is.

    Zero is no such number: nothing that happens pays nothing. Nor is one with many digits: a policy that does the same
    each time and stops short of the goal gets one.
    """
    _, returns = _may_be_pinned(facts)
    if returns is None:
        return None
    if (top := ceiling(facts)) is not None:
        return f"{returns.logged_as} is {top:.4g}, its highest value, at most of the last points"
    values = returns.values[np.isfinite(returns.values)]
    held = int(np.argmax(values[::-1] != values[-1])) if (values != values[-1]).any() else values.size
    is_highest = 0.0 < values[-1] == round(values[-1], ROUND) and values[-1] >= values.max()
    if not is_highest or held < max(END_POINTS, PINNED_SHARE * values.size):
        return None
    return f"{returns.logged_as} is {values[-1]:.4g}, its highest value, at each of the last {held} points"


def _may_be_pinned(facts: RunFacts) -> tuple[ReturnCurve | None, Series | None]:
    """A curve that climbed, of exact numbers. Language models earn a reward in parts: what a form alone pays is a round
    number as well."""
    curve, returns = facts.curve, facts.run.returns
    if curve is None or returns is None or not curve.climbed or returns.decimals is not None or facts.is_language_model:
        return None, None
    return curve, returns


@fact
def ceiling(facts: RunFacts) -> float | None:
    """The round number that no return exceeds and most of the last third are: nothing above it can be had here."""
    curve, returns = _may_be_pinned(facts)
    if curve is None or returns is None:
        return None
    values = returns.values[np.isfinite(returns.values)]
    top, last = float(values.max()), values[-(values.size // 3) :]
    is_most = last.size >= FEWEST_AT_TOP and float(np.mean(last == top)) > MOST
    near = top - curve.final <= NEAR_TOP * curve.climb
    return top if is_most and near and 0.0 < top == round(top, ROUND) else None


def _tail(series: Series, share: float = END_SHARE) -> FloatArray:
    values = series.values[np.isfinite(series.values)]
    return values[-max(END_POINTS, round(share * values.size)) :]
