"""No episode of the data comes near the goal of the task.

What it sees: Even the better half of the data made hardly any of the way from a random policy to the goal of a known
task, and the policy does not reach it either.
Why it hurts: Offline learning joins and repeats what was recorded. Where good actions never paid off in the data,
nothing tells them from others.
Evidence needed: offline/data_best, return/eval, and a task with a known random policy and goal.
Looks alike: Random data of an easy task, which hold all that is needed: the policy reaches the goal.
What to change: Collect data with some success: demonstrations, a policy that was trained a little, or steps online.
References: Schweighofer et al. 2022 (arXiv 2111.04714); Levine et al. 2020 (arXiv 2005.01643).
"""

from __future__ import annotations

from rlclinic.facts.goal import known_task
from rlclinic.facts.offline import offline_of
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult

RULE = Rule(
    "OFL09",
    needs=("return/eval", "offline/data_best"),
    algorithms=("q-learning", "continuous-q"),
    causes={"dataset-coverage-poor": 4.0, "task-too-hard": 0.5},
)


class Limits(RuleLimits):
    way: float = 0.15
    """Share of the way from a random policy to the goal."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Hold the best episodes of the data against the task."""
    found, task = offline_of(facts), known_task(facts)
    if found is None or task is None or task.random_mean is None:
        return None
    goal = task.target if task.target is not None else task.threshold
    if goal is None or goal <= task.random_mean or found.final >= goal:
        return None
    made = (found.data_best - task.random_mean) / (goal - task.random_mean)
    if made > limits.way:
        return None
    summary = (
        f"the better half of the data has a return of {found.data_best:.4g}, a random policy "
        f"{task.random_mean:.4g}, the goal is {goal:.4g}"
    )
    evidence = (facts.evidence("offline/data_best", made, limits.way, note="share of the way to the goal"),)
    return RuleResult(Severity.WARNING, 0.75, summary, evidence)
