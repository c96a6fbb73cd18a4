"""The return stays that of random actions while the policy changes a great deal.

What it sees: On a well-known task every level of the return lies within half a standard deviation of what random
actions earn there, although entropy or the sum of the updates' KL shows that the policy became another one. Where
actions come from values, exploration that ended shows it: greedy actions of any network are no longer random ones.
Why it hurts: A policy that changes and earns what chance earns has no influence on what happens, or does not see the
state that it acts on. A bug in the advantages moves it without aim as well.
Evidence needed: a return on a task whose random return rlclinic knows, entropy, approx_kl or epsilon, and time enough
to learn.
Looks alike: Tasks whose random policy never comes to a reward, or always to the limit: there nothing is to be seen
before the first success. A policy that hardly moves (other rules).
What to change: Compare the returns of random actions with those of one fixed action (`rlclinic examine`): where they
are the same, actions have no effect. Otherwise print the observations of ten steps.
References: Andy Jones, Debugging RL, Without the Agonizing Pain (probe environments).
"""

from __future__ import annotations

import numpy as np

from rlclinic.facts.goal import had_time, known_task
from rlclinic.facts.return_state import return_name
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.task_departure import pays_one
from rlclinic.model.finding import Severity
from rlclinic.reference.tasks import Task
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "ENV20",
    needs=("entropy|approx_kl|epsilon", "return/train|return/eval"),
    algorithms=("ppo", "actor-critic", "q-learning"),
    step=DecisionStep.ENVIRONMENT,
)


class Limits(RuleLimits):
    within: float = 0.5
    """Standard deviations of single random episodes within which every level must stay."""
    moved: float = 0.1
    """Nats of entropy, or their sum over updates, by which the policy must have changed."""
    summed_kl: float = 0.5
    explored: float = 0.5
    """Share of random actions from which at the start, and half of which at the end, exploration has ended."""
    fewest_points: int = 20


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Hold every level against random actions, and look whether the policy moved."""
    task, curve, returns = known_task(facts), facts.curve, facts.run.returns
    if task is None or curve is None or returns is None or curve.points < limits.fewest_points or not _tells(task):
        return None
    mean, band = task.random_mean or 0.0, limits.within * (task.random_std or 0.0)
    off = float(np.abs(curve.values - mean).max())
    moved = _moved(facts, limits)
    if off > band or moved is None or not had_time(facts) or (curve.climbed and curve.rising):
        return None
    summary = (
        f"{returns.logged_as} stayed between {curve.values.min():.4g} and {curve.values.max():.4g}, where random "
        f"actions are on {task.name} ({mean:.4g}), while {moved}"
    )
    evidence = (facts.evidence(return_name(facts), off, band, note="largest distance of a level from random actions"),)
    return RuleResult(Severity.WARNING, 0.8, summary, evidence)


def _tells(task: Task) -> bool:
    """Whether the return of an untrained policy depends on what it does."""
    mean, spread, length = task.random_mean, task.random_std, task.random_length
    if mean is None or not spread or not length or spread > abs(mean):
        return False
    # Where steps pay differently, what random actions do wrong shows before the first success.
    return task.ends == "limit" or not pays_one(task) or length < 0.9 * (task.max_episode_steps or float("inf"))


def _moved(facts: RunFacts, limits: Limits) -> str | None:
    first, last = facts.early("epsilon"), facts.late("epsilon")
    if first is not None and last is not None and last.value <= limits.explored / 2.0 < limits.explored <= first.value:
        return f"random actions became rare (epsilon went from {first.value:.3g} to {last.value:.3g})"
    early, late, kl = facts.early("entropy"), facts.late("entropy"), facts.series("approx_kl")
    if early is not None and late is not None and abs(late.value - early.value) >= limits.moved:
        return f"entropy went from {early.value:.3g} to {late.value:.3g} nats"
    summed = float(np.nansum(np.abs(kl.values))) if kl is not None else 0.0
    return f"the KL of the updates sums to {summed:.2g}" if summed >= limits.summed_kl else None
