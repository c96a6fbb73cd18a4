"""There are few evaluations for the length of the run.

What it sees: Fewer than five evaluations where the training return has at least fifty points.
Why it hurts: Between two evaluations a collapse or a better policy goes unseen, and the best checkpoint is chosen
among few.
Evidence needed: a training and an evaluation return.
Looks alike: A run that was stopped early, or an evaluation that is expensive on purpose.
What to change: Evaluate 20 to 50 times per run, with at least 10 episodes each.
References: RL Baselines3 Zoo (eval-freq 25000, 5 to 10 episodes).
"""

from __future__ import annotations

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult

RULE = Rule("EVA04", needs=("return/train", "return/eval"))


class Limits(RuleLimits):
    few: int = 5
    long: int = 50
    """Training points that make a run long enough to be evaluated more often."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Count the evaluations."""
    train, evaluation = facts.series("return/train"), facts.series("return/eval")
    if train is None or evaluation is None or len(evaluation) >= limits.few or len(train) < limits.long:
        return None
    times = "once" if len(evaluation) == 1 else f"{len(evaluation)} times"
    summary = f"{evaluation.logged_as} was logged {times}, {train.logged_as} {len(train)} times"
    evidence = (facts.evidence("return/eval", float(len(evaluation)), float(limits.few), note="number of evaluations"),)
    return RuleResult(Severity.INFO, 0.9, summary, evidence)
