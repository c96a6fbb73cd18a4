"""Nearly all episodes return the same lowest value: the reward is rarely seen.

What it sees: In the second half of the run at least 95% of the episodes return exactly the lowest value of the whole
run, and the return does not rise.
Why it hurts: An episode that differs from the others is the only source of a gradient; with one in twenty or fewer,
most updates fit noise.
Evidence needed: at least 30 single episodes, or 12 logged means of which nearly all equal the lowest.
Looks alike: A solved task, whose returns are all the same highest value; the first part of a run on a task whose goal
is found late; returns that never vary, zero or not (these are findings of their own).
What to change: Shape the reward with a potential, start episodes nearer to the goal, add demonstrations or hindsight
goals, or raise exploration; then look again.
References: Ng et al. 1999; Andrychowicz et al. 2017 (arXiv 1707.01495); rail-berkeley/softlearning#76.
"""

from __future__ import annotations

import numpy as np

from rlclinic.facts.episodes import single_returns
from rlclinic.facts.goal import is_early, known_task
from rlclinic.facts.return_state import is_flat, reached_goal
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.model.series import FloatArray
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule("ENV05", needs=("return/train",), step=DecisionStep.REWARD)


class Limits(RuleLimits):
    min_episodes: int = 30
    min_points: int = 12
    nearly_all: float = 0.95
    """Share of the second half of the episodes at the lowest return: fewer than one in twenty sees a reward."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Count the episodes at the lowest return."""
    curve, returns = facts.curve, _returns(facts, limits)
    if curve is None or returns is None or facts.is_language_model:
        return None
    lowest, highest = float(returns.min()), float(returns.max())
    late = returns[returns.size // 2 :]
    share = float(np.mean(late <= lowest + 1e-9 * max(1.0, abs(lowest))))
    if share < limits.nearly_all or not is_flat(facts) or reached_goal(facts) or lowest == highest == 0.0:
        return None
    if lowest == highest and not _is_floor(facts, lowest):
        return None
    seen = int(np.sum(returns > lowest))
    better = f"only {seen} of {returns.size} were better, the best {highest:.4g}" if seen else "none was better"
    summary = f"{100 * share:.3g}% of the last {late.size} returns equal the lowest of the run, {lowest:.4g}; {better}"
    evidence = (
        facts.evidence(
            "return/train",
            share,
            limits.nearly_all,
            note=f"share of the second half at the lowest of {returns.size} returns",
        ),
    )
    early = is_early(facts)
    return RuleResult(Severity.INFO if early else Severity.WARNING, 0.6 if early else 0.8, summary, evidence)


def _returns(facts: RunFacts, limits: Limits) -> FloatArray | None:
    single = single_returns(facts)
    if single is not None:
        return single if single.size >= limits.min_episodes else None
    series = facts.series("return/train")
    if series is None or series.caveat:
        return None
    values = series.values[np.isfinite(series.values)]
    return values if values.size >= limits.min_points else None


def _is_floor(facts: RunFacts, value: float) -> bool:
    """Whether a return that never varied is known to be the worst: only the well-known task can tell."""
    task = known_task(facts)
    return task is not None and task.random_mean is not None and value <= task.random_mean
