"""The goal was reached far later than published runs reach it.

What it sees: The env steps until the return came to the task's goal, against those of published runs of the same
algorithm on the same task. Only a factor of several counts, since the published figures are single runs.
Why it hurts: Every experiment costs that factor more time; the cause often hurts other tasks more than this one.
Evidence needed: a return over env steps on a well-known task, with an algorithm that has a published figure for it.
Looks alike: A training return that is a mean over 100 episodes follows the policy late, and one that explores stays
below the greedy policy; both delay the crossing by up to a factor of two.
What to change: Compare the config with the reference config of the task: learning rate, batch, epochs, number of
environments, exploration schedule.
References: RL Baselines3 Zoo benchmark; DLR-RM/rl-trained-agents, evaluations of single runs.
"""

from __future__ import annotations

from rlclinic.facts.goal import goal_of, goal_reached, known_task
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult
from rlclinic.signals.crossing import crossing

RULE = Rule("SUC03", needs=("return/train|return/eval",))


class Limits(RuleLimits):
    slow: float = 5.0
    """Factors over the published steps. Seeds of one config differ by two to three; five is beyond them."""
    very_slow: float = 20.0


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare the steps to the goal with published ones."""
    task, goal = known_task(facts), goal_of(facts)
    if task is None or goal is None or task.target is None or goal.level < task.target:
        return None
    published = task.steps_to_target.get(facts.run.algorithm.upper())
    reached = goal_reached(facts)
    if published is None or reached is None or reached.series.axis != "env_steps":
        return None
    crossed = crossing(reached.series, goal.level)
    earliest = min(reached.step, crossed.reached_earliest) if crossed.reached_earliest is not None else reached.step
    factor = earliest / published
    if factor < limits.slow:
        return None
    summary = (
        f"{goal.level:.4g} was reached after {reached.step:,.0f} env steps ({earliest:,.0f} at the earliest); "
        f"a published {facts.run.algorithm} run on "
        f"{task.name} needed {published:,.0f} ({factor:.1f} times fewer)"
    )
    evidence = (
        facts.evidence(
            reached.series.name, factor, limits.slow, note="earliest steps to the goal over the published steps"
        ),
    )
    severity = Severity.WARNING if factor >= limits.very_slow else Severity.INFO
    return RuleResult(severity, 0.7, summary, evidence)
