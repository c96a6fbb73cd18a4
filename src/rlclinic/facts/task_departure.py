"""How a run departs from the well-known task that its name says: what a step pays, how returns scatter, how long
episodes last.

The table of tasks says what random actions earn, and an untrained policy earns much the same. On a task that pays one
for each step the pay is known for every policy; elsewhere the first returns tell the size of the reward, and their
scatter must tell the same. Repeated actions, a normaliser, a time limit and an older version change these numbers
too: a departure counts as sure only where they cannot have made it.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from rlclinic.facts.episodes import Pairs, evaluated_pairs, pairs_of, task_by_name
from rlclinic.facts.run_facts import RunFacts, fact
from rlclinic.facts.settings import positive
from rlclinic.facts.window_noise import WINDOW_EPISODES, window_noise
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.series import FloatArray
from rlclinic.reference.tasks import Task
from rlclinic.signals._robust import median, quantile

# How far the pay of a step may be from 1 or -1 where each step pays that; the end may pay another amount.
SAME_PAY = 0.15
# The same of the table's own numbers, which are means over many episodes.
PAYS_ONE = 0.03
# Factor of the reward that neither repeated actions nor an older version of a task make.
FAR = 30.0
# Reward of a step below which no normaliser brings it: discounted returns of a normalised reward spread by one.
BELOW_NORMALISED = 1e-3
# Share of the run that an untrained policy makes, and fewest points behind its level.
FIRST, FEWEST_POINTS = 0.1, 6
# How far level and scatter of the first returns may lie apart and still tell the same factor.
AGREE = 5.0
# Share of the greatest pay of a step by which the others may lie below it where each pays the same.
UNIFORM = 0.02
# Least share of the task's own amount that a pay of the other sign is; repeated actions make it more.
NEGATED = 0.5
# Spread of lengths, as a share of their mean, of episodes that all end at one length.
PINNED = 0.01
# Times that an action is repeated at the most.
MOST_REPEATED = 8
# Share of the least published cost that no policy comes below, share of the way from random to best by which none is
# better than the best, and how far beyond the task's limit episodes may last that are compared.
CHEAPER, BETTER, WITHIN_LIMIT = 1.0 / 3.0, 0.5, 1.02
# Standard deviations of single random episodes below their mean that no untrained policy earns from the first row on.
FAR_BELOW = 6.0
# Times what random actions cost that no actions cost: the greatest of a box cost three times the square of even ones.
DEAREST = 4.0
# Standard errors of the first returns, an episode to each, and share by which their length may be another than that of
# random episodes, where an untrained policy earns the opposite.
SURE, SAME_LENGTH = 3.0, 0.25
# Times the length of random episodes that an untrained policy does not last, and share of it that it always lasts.
LONGER, SHORTER = 3.0, 0.3


@dataclass(frozen=True, slots=True)
class TaskDeparture:
    """What was measured against the table; None where it does not depart, or cannot be compared."""

    task: Task
    factor: float | None = None
    """Pay of a step over that of the task, with its sign, where it is another."""
    is_sure: bool = False
    """Whether the factor is far off, two measures agree on it and nothing innocent makes it."""
    noise: float | None = None
    """Scatter of a single reward that lengths do not explain, over the pay of a step."""
    same_pay: float | None = None
    """What each step pays, all the same, on a task that does not pay so."""
    pinned: float | None = None
    """The one length of all episodes that is neither the limit of the task nor what its random policy lasts."""
    beyond: float | None = None
    """The level at the end, where it is better than the task allows: something else is paid, or not all of it."""
    below: float | None = None
    """The level of the whole run, where it never was near what untrained policies earn, but far below."""

    @property
    def scale(self) -> float | None:
        """The factor by which returns of the table become those of the run; a rare reward tells its size, no factor."""
        is_rare = abs(self.task.random_mean or 0.0) < (self.task.random_std or 0.0)
        return self.factor if self.is_sure and not is_rare else None

    @property
    def is_negated(self) -> bool:
        """Whether a step costs what it should pay, or pays what it should cost, in the amount of the task."""
        return self.factor is not None and NEGATED <= -self.factor <= MOST_REPEATED

    @property
    def pays_otherwise(self) -> bool:
        """Whether no factor turns returns of the table into those of the run."""
        other = self.is_negated or self.same_pay is not None or self.beyond is not None
        return other or (self.is_sure and self.scale is None)

    @property
    def costs_beyond_actions(self) -> bool:
        """Whether no actions within their bounds cost as much as those of the whole run did."""
        mean = self.task.random_mean or 0.0
        return self.below is not None and mean < 0.0 and self.below < DEAREST * mean

    @property
    def cut_short(self) -> bool:
        """Whether all episodes end long before those of random actions do."""
        return self.pinned is not None and _too_short(self.task, self.pinned)

    @property
    def cut_before_goal(self) -> bool:
        """Whether they do so on a task whose episodes end at its goal alone: it cannot have been there."""
        return self.cut_short and self.task.ends == "goal"

    @property
    def drawn_out(self) -> bool:
        """Whether all episodes, those of the untrained policy too, last far longer than random actions do."""
        return self.pinned is not None and not self.cut_short


@fact
def departure(facts: RunFacts) -> TaskDeparture | None:
    """Hold the run against the table; None where its task is not well known, or nothing can be compared."""
    task, pairs = task_by_name(facts), pairs_of(facts) or evaluated_pairs(facts)
    if task is None or not task.random_mean or not task.random_length:
        return None
    if pairs is None or pairs.returns.size < FEWEST_POINTS or pairs.lengths.min() <= 0.0:
        return None
    found = _of_pay(facts, task, pairs)
    beyond = _beyond(task, pairs) if found.factor is None and found.same_pay is None else None
    return replace(found, pinned=_pinned(pairs, task), beyond=beyond, below=_below(facts, task, pairs))


def _of_pay(facts: RunFacts, task: Task, pairs: Pairs) -> TaskDeparture:
    """What a step pays."""
    usual, pay = (task.random_mean or 0.0) / (task.random_length or 1.0), pairs.returns / pairs.lengths
    if not pairs.returns.any():
        return TaskDeparture(task, same_pay=0.0 if _always_pays(task) else None)
    if pays_one(task):
        each = median(pay)
        factor = each / usual if quantile(np.abs(pay - each), 0.9) <= SAME_PAY * abs(each) else None
        # Repeated actions make a step pay more, never less.
        less = factor is not None and 0.0 < factor < 1.0 - SAME_PAY and not _normalised(facts, each)
        is_sure = less or (factor is not None and factor >= FAR)
        return TaskDeparture(task, factor, is_sure, _noise(pairs))
    if _uniform(pairs, pay):
        return TaskDeparture(task, same_pay=median(pay))
    return TaskDeparture(task, *_by_first(facts, task, pairs))


def pays_one(task: Task) -> bool:
    """Whether each step of a task pays 1, or costs it."""
    if task.random_mean is None or not task.random_length:
        return False
    return abs(abs(task.random_mean / task.random_length) - 1.0) <= PAYS_ONE


def _beyond(task: Task, pairs: Pairs) -> float | None:
    """The level of the last returns, where no policy earns so much in episodes of the task's length."""
    last = max(FEWEST_POINTS // 2, math.ceil(FIRST * pairs.returns.size))
    level, length = float(pairs.returns[-last:].mean()), float(pairs.lengths[-last:].mean())
    best, mean, limit = task.best_return or task.target, task.random_mean or 0.0, task.max_episode_steps
    if best is None or (limit is not None and length > WITHIN_LIMIT * limit):
        return None
    too_cheap = best < 0.0 and level > CHEAPER * best
    # Whoever comes to a goal ends the episode: more than that brings is paid for staying.
    never_ends = task.ends == "goal" and limit is not None and length >= limit / WITHIN_LIMIT and level > best
    return level if too_cheap or never_ends or level > best + BETTER * (best - mean) else None


def _below(facts: RunFacts, task: Task, pairs: Pairs) -> float | None:
    """The level of all returns, where not even the first rows are near what random actions earn."""
    mean, spread, limit = task.random_mean, task.random_std, task.max_episode_steps
    if (
        mean is None
        or not spread
        or task.ends != "limit"
        or limit is None
        or pairs.lengths.max() > WITHIN_LIMIT * limit
    ):
        return None
    return median(pairs.returns) if float(pairs.returns.max()) < mean - FAR_BELOW * spread else None


def most_repeated(facts: RunFacts) -> float:
    """How often each action may be repeated: as the config says, else as far as the pay of a step does not tell."""
    told, off = positive(facts, "frame_skip"), departure(facts)
    pays_once = off is not None and off.factor is not None and abs(off.factor) <= 1.0 + SAME_PAY
    return told or (1.0 if pays_once or facts.run.config.settings else float(MOST_REPEATED))


def _by_first(facts: RunFacts, task: Task, pairs: Pairs) -> tuple[float | None, bool]:
    """The factor by the first returns, and whether their scatter tells the same."""
    mean, spread, best = task.random_mean or 0.0, task.random_std, task.best_return or task.target
    first = max(FEWEST_POINTS // 2, math.ceil(FIRST * pairs.returns.size))
    earned = float(pairs.returns[:first].mean() / pairs.lengths[:first].mean()) * (task.random_length or 0.0)
    if _always_pays(task) and bool((pairs.returns * mean < 0.0).all()):
        return earned / mean, False
    if _opposite_at_first(task, pairs, first):
        return earned / mean, False
    if _always_pays(task) and best is not None and best / FAR < float(pairs.returns[:first].mean()) < 0.0:
        # No untrained policy is far cheaper than the best one.
        return earned / mean, not _normalised(facts, earned / (task.random_length or 1.0))
    scatter = _scatter(facts, pairs, first)
    if not spread or not best or scatter is None:
        return None, False
    size, usual = math.hypot(earned, scatter), math.hypot(mean, spread)
    # A policy that began trained earns what the best one does: only more, or less, than either is another scale.
    more = size >= FAR * max(usual, abs(best)) and scatter >= FAR / AGREE * spread
    less = size <= min(usual, abs(best)) / FAR and scatter <= AGREE / FAR * spread
    pay = earned / (task.random_length or 1.0)
    return (size / usual, more or not _normalised(facts, pay)) if more or less else (None, False)


def _opposite_at_first(task: Task, pairs: Pairs, first: int) -> bool:
    """Whether the first episodes, as long as random ones, surely earned the opposite, which no good policy does."""
    mean, best = task.random_mean or 0.0, task.best_return or task.target
    level, length = float(pairs.returns[:first].mean()), float(pairs.lengths[:first].mean())
    if best is None or task.ends == "limit" or abs(length / (task.random_length or 1.0) - 1.0) > SAME_LENGTH:
        return False
    is_sure = abs(level - mean) >= SURE * (task.random_std or 0.0) / math.sqrt(first)
    return level * mean < 0.0 and is_sure and (best * mean > 0.0 or level > max(best, 0.0))


def _always_pays(task: Task) -> bool:
    """Whether the returns of all policies have the sign of a random one's."""
    best, mean = task.best_return or task.target, task.random_mean or 0.0
    return best is not None and best * mean > 0.0 and (task.random_std or 0.0) < abs(mean)


def _scatter(facts: RunFacts, pairs: Pairs, first: int) -> float | None:
    """Standard deviation of the return of one episode."""
    if pairs.are_single:
        return float(pairs.returns[: max(first, FEWEST_POINTS)].std())
    series = facts.series("return/train")
    found = window_noise(series, facts.series("episode_length")) if series is not None else None
    return found.noise * math.sqrt(WINDOW_EPISODES) if found is not None else None


def _noise(pairs: Pairs) -> float | None:
    """What neighbouring returns differ by beyond their lengths, for one step and in units of its pay."""
    pay = float(pairs.returns.sum() / pairs.lengths.sum())
    if not pay:
        return None
    beyond = np.diff(pairs.returns - pay * pairs.lengths)
    episodes = 1.0 if pairs.are_single else WINDOW_EPISODES
    return float(beyond.std() / math.sqrt(2.0 * pairs.lengths.mean() / episodes) / abs(pay))


def _uniform(pairs: Pairs, pay: FloatArray) -> bool:
    """Whether every step pays the same, whatever happens."""
    varied = float(pairs.lengths.std()) > UNIFORM * float(pairs.lengths.mean())
    return varied and bool(pay[0]) and float(np.ptp(pay)) <= UNIFORM * float(np.abs(pay).max())


def _pinned(pairs: Pairs, task: Task) -> float | None:
    """The length of all episodes, where neither the task's limit nor its random policy makes it."""
    length, usual, limit = median(pairs.lengths), task.random_length or 0.0, task.max_episode_steps
    if float(np.ptp(pairs.lengths)) > PINNED * length or (limit and _repeated(pairs, task, limit / length)):
        return None
    far = _too_short(task, length) or (task.ends != "limit" and length >= LONGER * usual)
    return length if far else None


def _too_short(task: Task, length: float) -> bool:
    """Whether no untrained policy ends so soon. A task without a limit is given one by whoever trains on it: there only
    the way of the best policy, which pays for each step, is too long for it."""
    if task.max_episode_steps is None:
        return task.best_return is not None and length < -task.best_return
    return length <= SHORTER * (task.random_length or 0.0)


def _repeated(pairs: Pairs, task: Task, times: float) -> bool:
    """Whether the limit of the task, with each action taken so many times, makes a length; a step then pays more."""
    if abs(times - round(times)) > PINNED * times or not 1 <= round(times) <= MOST_REPEATED:
        return False
    # Of the untrained policy: one that learned pays another amount for a step.
    first = max(FEWEST_POINTS, math.ceil(FIRST * pairs.returns.size))
    pay = median((pairs.returns / pairs.lengths)[:first]) * (task.random_length or 0.0) / (task.random_mean or 1.0)
    return round(times) == 1 or not _always_pays(task) or pay > 0.5 * times


def _normalised(facts: RunFacts, pay: float) -> bool:
    """Whether a normaliser may have made so small a reward: the config says so, or there is none to tell."""
    config = facts.run.config
    told = config.get("normalize_reward") not in (None, False) or not config.settings
    return told and abs(pay) >= BELOW_NORMALISED
