"""The return ended far below the best published for this task.

What it sees: The level at the end made less than 60% of the way from a random policy to the best published return
of the task, and the goal is met or not known, after at least as many env steps as published runs needed for the
task's target.
Why it hurts: It may not. It says how much is known to be possible, for tasks whose threshold is low or missing.
Evidence needed: a return over env steps on a task that rlclinic has published returns for.
Looks alike: The best published return comes from one algorithm and one long run; another algorithm or a tenth of
the steps need not come near it.
What to change: Nothing by itself. If the run is flat as well, compare the config and the algorithm with the
reference.
References: RL Baselines3 Zoo benchmark (one run per entry); CleanRL documentation (3 seeds).
"""

from __future__ import annotations

from rlclinic.facts.goal import goal_of, known_task, reference_steps
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult

RULE = Rule("SUC05", needs=("return/train|return/eval",))


class Limits(RuleLimits):
    far: float = 0.6
    """Share of the way from random to best below which the end is far from what is possible."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Place the end between random and best."""
    task, curve, needed = known_task(facts), facts.curve, reference_steps(facts)
    taken, returns = facts.run.env_steps, facts.run.returns
    if task is None or curve is None or returns is None or not curve.enough or taken is None:
        return None
    if task.best_return is None or task.random_mean is None or task.best_return <= task.random_mean:
        return None
    if needed is None or taken < needed:
        return None
    goal = goal_of(facts)
    if curve.rising or (goal is not None and curve.final < goal.level):
        return None
    share = (curve.final - task.random_mean) / (task.best_return - task.random_mean)
    if share >= limits.far:
        return None
    summary = (
        f"{returns.logged_as} ended at {curve.final:.4g}; the best published return on {task.name} is "
        f"{task.best_return:.4g}, a random policy gets {task.random_mean:.4g} "
        f"({100 * max(share, 0.0):.0f}% of the way)"
    )
    evidence = (facts.evidence(returns.name, share, limits.far, note="share of the way from random to best published"),)
    return RuleResult(Severity.INFO, 0.8, summary, evidence)
