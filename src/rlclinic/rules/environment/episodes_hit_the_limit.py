"""Episodes run into their time limit although the task is meant to end earlier.

What it sees: Nearly all late episodes last as long as the time limit allows, on a task that a good policy ends early,
while the return has not risen.
Why it hurts: The goal is never reached, so every episode looks the same to the learner; and where time limits are
taken for terminal states, the value of the states before them is learned wrongly.
Evidence needed: episode_length with at least 12 points, and the limit from the config or from the well-known task.
Looks alike: Survival tasks, where the limit is success; tasks that only the limit ends; the first part of a run on a
task whose goal is rarely found by chance.
What to change: Check that the goal can be reached within the limit; widen exploration or shape the reward towards the
goal; start episodes nearer to it; treat the limit as truncation, not as termination.
References: Pardo et al. 2018 (arXiv 1712.00378); Gymnasium documentation on termination and truncation.
"""

from __future__ import annotations

import numpy as np

from rlclinic.facts.episodes import return_name, task_by_name
from rlclinic.facts.goal import is_early
from rlclinic.facts.return_state import is_flat
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.settings import positive
from rlclinic.facts.stretch import finite, lasting_from
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule("ENV01", needs=("episode_length", "return/train|return/eval"), step=DecisionStep.ENVIRONMENT)


class Limits(RuleLimits):
    min_points: int = 12
    at_limit: float = 0.98
    """Share of the limit from which on an episode counts as cut by it; means over episodes lie a little below."""
    most: float = 0.9
    """Share of the points of the last third that must be at the limit."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare late episode lengths with the limit, where the task is meant to end earlier."""
    lengths, curve, limit = facts.series("episode_length"), facts.curve, _limit(facts)
    late = facts.late("episode_length", 1 / 3)
    if lengths is None or curve is None or limit is None or late is None or len(lengths) < limits.min_points:
        return None
    task = task_by_name(facts)
    if task is not None and task.ends in ("survival", "limit"):
        return None
    steps, values = finite(lengths)
    pinned = values >= limits.at_limit * limit
    share = float(np.mean(pinned[-max(1, values.size // 3) :]))
    if share < limits.most or not is_flat(facts):
        return None
    known = task is not None
    severity = Severity.WARNING if known and not is_early(facts) else Severity.INFO
    meant = f"{facts.run.environment} is meant to end earlier" if known else "whether it is meant to is not known"
    summary = (
        f"{100 * share:.0f}% of the last third of episode lengths are at the limit of {limit:.4g} steps while the "
        f"return went from {curve.start:.4g} to {curve.final:.4g}; {meant}"
    )
    evidence = (
        facts.evidence(
            "episode_length", late.value, limits.at_limit * limit, level=late, note="median of the last third"
        ),
        facts.evidence(return_name(facts), curve.gain, 3 * curve.scatter, note="gain of the return, start to end"),
    )
    return RuleResult(severity, 0.85 if known else 0.5, summary, evidence, lasting_from(steps, pinned))


def _limit(facts: RunFacts) -> float | None:
    configured = positive(facts, "max_episode_steps")
    if configured is not None:
        return configured
    task = task_by_name(facts)
    return float(task.max_episode_steps) if task is not None and task.max_episode_steps else None
