"""The goal was reached and held.

What it sees: The return (training or evaluation, three points in a row) came to the threshold of the run's own
config or of the well-known task, and its end is still there.
Why it hurts: It does not. It says that the goal is met, when, and what the rest of the budget was spent on.
Evidence needed: a return, and a threshold in the config or an environment that rlclinic knows.
Looks alike: One lucky evaluation above the goal. A registered threshold of an open-ended task (HalfCheetah:
4800) says nothing about how much more is possible.
What to change: Nothing. Stop earlier next time, or confirm the result on two or three more seeds.
References: Gymnasium's registry of reward thresholds; Henderson et al. 2018 (arXiv 1709.06560) on seeds.
"""

from __future__ import annotations

from rlclinic.facts.goal import goal_of, goal_reached
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import Rule, RuleResult
from rlclinic.rules.words import steps_text

RULE = Rule("SUC01", needs=("return/train|return/eval",))


def check(facts: RunFacts) -> RuleResult | None:
    """Find where the goal was first held."""
    goal = goal_of(facts)
    reached = goal_reached(facts)
    if goal is None or reached is None or not reached.held:
        return None
    summary = (
        f"{reached.series.logged_as} reached {goal.level:.4g} ({goal.origin}) at {steps_text(facts, reached.step)} "
        f"and ended at {reached.final:.4g}"
    )
    last = reached.series.last_step
    if last is not None and last > reached.step:
        summary += f"; {100 * (1 - reached.step / last):.0f}% of the run came after that"
    evidence = (facts.evidence(reached.series.name, reached.final, goal.level, note="level of the last points"),)
    return RuleResult(Severity.INFO, 0.95, summary, evidence, reached.step)
