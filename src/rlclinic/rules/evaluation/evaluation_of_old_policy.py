"""The evaluated policy is not the one that is trained.

What it sees: The evaluation return does not move while the training return does: it is exactly constant, or the
reader knows that this version of the trainer evaluates a copy that it never refreshes.
Why it hurts: Every number of the evaluation is about an old policy, and so is the checkpoint that was kept as the
best.
Evidence needed: an evaluation return; for the first case also a training return that clearly moved.
Looks alike: A deterministic task that the greedy policy already solves: the evaluation is constant at its best,
above the training return. A policy that never arrives: every evaluation ends at the time limit with the same return,
and most training episodes do, too.
What to change: Ignore the evaluation return of this run and use the training return. Copy the weights into the
evaluated policy before each evaluation (gymnasium-solver: set eval_async to true, or refresh the copy).
References: gymnasium-solver, evaluation without eval_async.
"""

from __future__ import annotations

import numpy as np

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.policy.policy_never_moves import is_frozen
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult, Sign

RULE = Rule("EVA02", needs=("return/eval",), means=(Sign.EVALUATION_DIFFERS,))


class Limits(RuleLimits):
    fewest_evaluations: int = 5
    arrives: float = 0.5
    """Share of the limit below which the episodes of the end are those of a policy that arrives."""


LIMITS = Limits()
# Words of a reader's caveat that say so.
STALE_WORDS = ("untrained", "never refreshes", "old policy", "stale")


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Look at the reader's caveat, then for an evaluation that never moves."""
    series = facts.run.series.get("return/eval")
    if series is None:
        return None
    if any(word in series.caveat for word in STALE_WORDS):
        evidence = (facts.evidence("return/eval", series.last or 0.0, note="last evaluation, of an old policy"),)
        return RuleResult(Severity.WARNING, 0.95, f"{series.logged_as}: {series.caveat}", evidence)
    return _constant(facts, limits)


def _constant(facts: RunFacts, limits: Limits) -> RuleResult | None:
    series, train = facts.series("return/eval"), facts.series("return/train")
    if series is None or train is None or train.caveat:
        return None
    values = series.values[np.isfinite(series.values)]
    returns = facts.returns
    curve = facts.curve if returns is not None and returns.name == train.name else facts.curve_of("return/train")
    if values.size < limits.fewest_evaluations or np.ptp(values) > 0 or curve is None:
        return None
    level = float(values[0])
    if _all_timed_out(facts, limits):
        return None
    # A policy that never moved is the one that is evaluated: what training got beside it is chance.
    if not curve.climbed or level >= curve.best - curve.scatter or is_frozen(facts):
        return None
    summary = (
        f"{series.logged_as} is exactly {level:.4g} at all {values.size} evaluations while {train.logged_as} went from "
        f"{curve.start:.4g} to {curve.final:.4g}"
    )
    evidence = (
        facts.evidence("return/eval", float(np.ptp(values)), 0.0, note="largest minus smallest evaluation"),
        facts.evidence("return/train", curve.climb, 4 * curve.scatter, note="climb of the training return"),
    )
    return RuleResult(Severity.WARNING, 0.8, summary, evidence)


def _all_timed_out(facts: RunFacts, limits: Limits) -> bool:
    """Whether every evaluation episode lasted as long as any: policies that never arrive all get the same.

    Not where evaluated episodes differ, where all episodes of the task are of one length, and where training episodes
    became short: the trained policy does arrive.
    """
    evaluated, trained = facts.series("episode_length/eval"), facts.series("episode_length")
    late, spread = facts.late("episode_length"), facts.level("return/eval_std")
    if evaluated is None or trained is None or late is None or (spread is not None and spread.value > 0.0):
        return False
    if np.nanmax(trained.values) == np.nanmin(trained.values):
        return False
    longest = float(np.nanmin(evaluated.values))
    return longest >= float(np.nanmax(trained.values)) and late.value > limits.arrives * longest
