"""Which series are the run's returns, where the names alone do not settle it. Every choice is said in a note.

A true reward goes before a learned, shaped or intrinsic one; agents make a team; a success rate is a return where no
other is logged; where the reward is zero by design, as in distillation, the objective itself is what to look at.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from rlclinic.model.run import RETURN_METRICS, deciding_return
from rlclinic.model.series import Series
from rlclinic.readers.draft import Draft
from rlclinic.readers.guess import (
    is_bare_average,
    is_cost,
    is_distance_from_equilibrium,
    is_distillation,
    is_episode_count,
    true_return,
)
from rlclinic.reference.tasks import task_of

AGENTS = {"return/train": "agent_return/", "return/eval": "agent_return_eval/"}
# What serves as a return where none is logged: rates of success, and in self-play the rating.
INSTEAD = (("return/train", "success_rate"), ("return/eval", "success_rate/eval"), ("return/eval", "elo"))
# A true return with fewer points than this share of the other's is a summary, not the curve.
CURVE = 0.5
# Points from which on a mean of all before it is told from what it is a mean of; how closely, as a share of its range.
FEWEST_MEANS, SAME_MEAN = 10, 0.01
# Zeros in a row that are no accident.
MANY_ZEROS = 5


def settle_returns(series: dict[str, Series], draft: Draft, environment: str = "") -> None:
    """Give `return/train` and `return/eval` to the series that deserve these names, and say which one decides."""
    _only_of_episodes(series, draft)
    _prefer_true(series, draft)
    _bare_average(series, draft)
    _mean_since_start(series, draft)
    for name, prefix in AGENTS.items():
        agents = [item for key, item in series.items() if key.startswith(prefix) and item.last is not None]
        if name not in series and agents:
            series[name] = _team(name, agents)
            draft.note(f"{name} is the mean over {len(agents)} agents: no return of the team is logged")
    _distillation(series, draft)
    if not any(series[name].last is not None for name in RETURN_METRICS if name in series):
        for name, rate in INSTEAD:
            if name not in series and rate in series and series[rate].last is not None:
                series[name] = replace(series[rate], name=name)
                draft.note(f"no return is logged: {series[rate].logged_as} serves as {name}")
    _length_pays(series, draft, environment)
    _less_is_better(series, draft)
    _say(series, draft)


def _only_of_episodes(series: dict[str, Series], draft: Draft) -> None:
    """A row in which no episode ended has no return: the zero that stands there is none."""
    counted = next((item for item in series.values() if is_episode_count(item.logged_as)), None)
    if counted is None or not (counted.values == 0.0).any() or not (counted.values > 0.0).any():
        return
    ended = counted.values != 0.0
    for name in (*RETURN_METRICS, "episode_length", "success_rate"):
        item = series.get(name)
        if item is None or not np.array_equal(item.steps, counted.steps) or item.values[~ended].any():
            continue
        times = item.wall_times[ended] if item.wall_times is not None else None
        series[name] = replace(item, steps=item.steps[ended], values=item.values[ended], wall_times=times)
        draft.note(f"{item.logged_as} is 0 in {np.sum(~ended)} rows in which no episode ended: left out")


def _prefer_true(series: dict[str, Series], draft: Draft) -> None:
    for item in list(series.values()):
        name = true_return(item.logged_as)
        other = series.get(name)
        if item.known or other is None or true_return(other.logged_as) or len(item) < CURVE * len(other):
            continue
        del series[item.name]
        series[name] = replace(item, name=name, known=True)
        learned = "learned_return" if name == "return/train" else other.logged_as
        series[learned] = replace(other, name=learned, known=learned != other.logged_as)
        draft.note(f"{name} is read from {item.logged_as}, the true reward; {other.logged_as} is another")


def _bare_average(series: dict[str, Series], draft: Draft) -> None:
    """An average of what is not said, in a console or by episodes, means the return where no other has a name."""
    logs = {name for name, file in draft.files.items() if file.kind == "log"}
    averages = [item for item in series.values() if not item.known and (item.axis == "episodes" or item.source in logs)]
    average = max((item for item in averages if is_bare_average(item.logged_as)), key=len, default=None)
    longest = max((len(series[name]) for name in RETURN_METRICS if name in series), default=0)
    if average is None or average.last is None or longest >= CURVE * len(average):
        return
    if (other := series.pop("return/train", None)) is not None:
        series[other.logged_as] = replace(other, name=other.logged_as, known=False)
    del series[average.name]
    series["return/train"] = replace(average, name="return/train", known=True)
    draft.note(f"return/train is read from {average.logged_as}, a bare average; no curve of returns has a name")


def _mean_since_start(series: dict[str, Series], draft: Draft) -> None:
    """A mean over everything since the first point hides what came late: what it is a mean of decides."""
    for name in RETURN_METRICS:
        mean = series.get(name)
        if mean is None or len(mean) < FEWEST_MEANS or not np.isfinite(mean.values).all():
            continue
        near = SAME_MEAN * float(np.ptp(mean.values))
        single = next((item for item in series.values() if item is not mean and _is_mean_of(mean, item, near)), None)
        if single is not None:
            del series[single.name]
            series[mean.logged_as] = replace(mean, name=mean.logged_as, known=False)
            series[name] = replace(single, name=name, known=True)
            draft.note(f"{name} is read from {single.logged_as}: {mean.logged_as} is its mean since the start")


def _is_mean_of(mean: Series, single: Series, near: float) -> bool:
    # The first mean is of one value.
    if len(mean) != len(single) or not abs(mean.values[0] - single.values[0]) <= near:
        return False
    if not np.array_equal(mean.steps, single.steps) or not np.isfinite(single.values).all():
        return False
    expected = np.cumsum(single.values) / np.arange(1, len(single) + 1)
    nearest = float(np.abs(mean.values - expected).max()) <= near
    return nearest and float(np.ptp(single.values)) > float(np.ptp(mean.values))


def _length_pays(series: dict[str, Series], draft: Draft, environment: str) -> None:
    """Where a task pays one for each step, the length of an episode is its return."""
    length, task = series.get("episode_length"), task_of(environment) if environment else None
    if length is None or length.last is None or task is None or any(name in series for name in RETURN_METRICS):
        return
    random, steps = task.random_mean or 0.0, task.random_length or 0.0
    if task.best_return == task.max_episode_steps and abs(random - steps) < SAME_MEAN * random:
        series["return/train"] = replace(length, name="return/train")
        draft.note(f"no return is logged: {length.logged_as} serves as one, as {task.name} pays 1 for each step")


def _less_is_better(series: dict[str, Series], draft: Draft) -> None:
    """What the best answer to a strategy would gain says how far it is from the best; a cost is a reward below zero."""
    if any(name in series for name in RETURN_METRICS):
        return
    for tells, name in ((is_distance_from_equilibrium, "return/eval"), (is_cost, "return/train")):
        found = next((item for item in series.values() if not item.known and tells(item.logged_as)), None)
        if found is not None:
            series[name] = replace(found, name=name, values=-found.values, known=True)
            draft.note(f"no return is logged: minus {found.logged_as} serves as {name}")
            return


def _team(name: str, agents: list[Series]) -> Series:
    """The mean over agents at the steps that all of them have; the longest alone where they share none."""
    longest = max(agents, key=len)
    values = [dict(zip(agent.steps.tolist(), agent.values.tolist(), strict=True)) for agent in agents]
    shared = [step for step in longest.steps.tolist() if all(step in found for found in values)]
    if not shared:
        return replace(longest, name=name)
    means = np.array([[found[step] for found in values] for step in shared]).mean(axis=1)
    more = f" and {len(agents) - 1} more" if len(agents) > 2 else f" and {agents[-1].logged_as}"
    logged = longest.logged_as if len(agents) == 1 else f"mean of {agents[0].logged_as}{more}"
    return Series(name, logged, np.array(shared), means, longest.axis, known=True, source=longest.source)


def _distillation(series: dict[str, Series], draft: Draft) -> None:
    returns = [series[name] for name in RETURN_METRICS if name in series]
    if any(not _is_zero(item) for item in returns):
        return
    objective = next((item for item in series.values() if is_distillation(item.logged_as) and len(item)), None)
    if objective is not None:
        for item in returns:
            series[item.logged_as] = replace(item, name=item.logged_as)
        for name in RETURN_METRICS:
            series.pop(name, None)
        series["return/train"] = replace(objective, name="return/train", values=-objective.values, known=True)
        draft.note(f"the reward is zero by design: minus {objective.logged_as}, the objective, serves as return/train")


def _is_zero(series: Series) -> bool:
    values = series.values[np.isfinite(series.values)]
    return values.size >= MANY_ZEROS and not values.any()


def _say(series: dict[str, Series], draft: Draft) -> None:
    found = [series[name] for name in RETURN_METRICS if name in series and series[name].last is not None]
    chosen = deciding_return(series)
    if chosen is not None and len(found) > 1:
        others = _listed(item for item in found if item is not chosen)
        draft.note(f"{_listed([chosen])} is what the agent is judged by; {others} is logged as well")


def _listed(items: Iterable[Series]) -> str:
    return ", ".join(f"{item.name} ({item.logged_as}, {len(item)} points)" for item in items)
