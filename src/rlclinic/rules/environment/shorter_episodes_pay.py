"""Episodes become much shorter while the return does not fall: ending early pays.

What it sees: Episode length falls to a small part of what it was and the return stays or rises, on a task where ending
early is a failure, or while the success rate does not rise.
Why it hurts: An agent that pays for every step learns to end the episode in the quickest way, also by crashing.
Evidence needed: a return and episode_length with at least 12 points; the success rate or the well-known task tells
whether ending is the goal.
Looks alike: A task whose goal ends the episode: there short episodes are success, and the success rate rises.
What to change: Pay a penalty for ending in failure larger than the cost of the steps that remain, or make the reward
per step positive; check on recorded episodes how they end.
References: Amodei et al. 2016 (arXiv 1606.06565); Pardo et al. 2018 (arXiv 1712.00378).
"""

from __future__ import annotations

from rlclinic.facts.episodes import return_name, task_by_name
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.stretch import finite, lasting_from
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult, Sign

RULE = Rule(
    "ENV08",
    needs=("episode_length", "return/train|return/eval"),
    step=DecisionStep.ENVIRONMENT,
    means=(Sign.ENDING_PAYS,),
)


class Limits(RuleLimits):
    min_points: int = 12
    much_shorter: float = 0.3
    """Late over early length below which episodes are of another kind than at the start."""
    below_chance: float = 0.6
    """The same on a survival task, and against the length under random actions: less than chance, while the return
    rises."""
    a_few: float = 10.0
    """Env steps: where nothing tells whether ending is the goal, only episodes of a few steps are worth a note."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare the fall of the length with the return and with success."""
    lengths, curve = facts.series("episode_length"), facts.curve
    early, late = facts.early("episode_length", 0.15), facts.late("episode_length", 0.15)
    if lengths is None or curve is None or early is None or late is None or len(lengths) < limits.min_points:
        return None
    if early.value <= 0:
        return None
    bar = limits.below_chance if curve.improved and _is_below_chance(facts, late.value, limits) else limits.much_shorter
    if late.value > bar * early.value or curve.gain < -curve.scatter:
        return None
    judged = _judge(facts, late.value, limits)
    if judged is None:
        return None
    severity, confidence, reason = judged
    summary = (
        f"episode length fell from {early.value:.4g} to {late.value:.4g} steps while the return went from "
        f"{curve.start:.4g} to {curve.final:.4g}; {reason}"
    )
    steps, values = finite(lengths)
    evidence = (
        facts.evidence("episode_length", late.value / early.value, bar, level=late, note="late over early length"),
        facts.evidence(return_name(facts), curve.gain, -curve.scatter, note="gain of the return"),
    )
    onset = lasting_from(steps, values <= bar * early.value)
    return RuleResult(severity, confidence, summary, evidence, onset)


def _is_below_chance(facts: RunFacts, late_length: float, limits: Limits) -> bool:
    task = task_by_name(facts)
    if task is None or task.ends != "survival" or task.random_length is None:
        return False
    return late_length < limits.below_chance * task.random_length


def _judge(facts: RunFacts, late_length: float, limits: Limits) -> tuple[Severity, float, str] | None:
    task = task_by_name(facts)
    if task is not None:
        if task.ends in ("survival", "limit"):
            return Severity.WARNING, 0.8, f"on {task.name} an early end is a failure"
        return None
    success = facts.curve_of("success_rate", "success_rate/eval")
    if success is not None:
        if success.improved or success.still_rising or success.points < limits.min_points:
            return None
        rate = f"the success rate went from {success.start:.3g} to {success.final:.3g}"
        return Severity.WARNING, 0.75, rate
    if late_length > limits.a_few:
        return None
    return Severity.INFO, 0.4, "check on recorded episodes that they end by reaching the goal"
