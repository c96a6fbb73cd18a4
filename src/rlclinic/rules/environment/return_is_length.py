"""The return follows from the episode length alone: every step pays, or costs, the same.

What it sees: The return of an episode follows from its length alone, with a fixed reward per step.
Why it hurts: Nothing by itself. It says what the reward is about: staying alive where it pays, being quick where it
costs. A task with a further aim is not rewarded for it.
Evidence needed: at least 30 single episodes, or 30 logged means, whose lengths differ.
Looks alike: Return and length that merely rise together over training; their changes from point to point tell the
difference.
What to change: Nothing if surviving (or ending soon) is the whole task. Otherwise check that the other parts of the
reward are large enough to be seen beside the pay per step.
References: Gymnasium documentation, CartPole; Ng et al. 1999 on shaping.
"""

from __future__ import annotations

import numpy as np

from rlclinic.facts.episodes import pairs_of, task_by_name
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult
from rlclinic.signals.return_on_length import return_on_length

RULE = Rule("ENV07", needs=("return/train", "episode_length"))


class Limits(RuleLimits):
    min_points: int = 30
    all_of_it: float = 0.98
    """Share of the scatter of the return that its length explains, for levels and for changes from point to
    point."""
    all_of_changes: float = 0.9
    varied: float = 0.05
    """Relative spread of lengths below which nothing can be said."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Fit the return to the length."""
    pairs = pairs_of(facts)
    if pairs is None or pairs.returns.size < limits.min_points or task_by_name(facts) is not None:
        return None
    if float(np.std(pairs.lengths)) < limits.varied * float(np.mean(pairs.lengths)):
        return None
    line = return_on_length(pairs.returns, pairs.lengths)
    if not line.enough or not line.explained >= limits.all_of_it:
        return None
    changes = return_on_length(np.diff(pairs.returns), np.diff(pairs.lengths))
    if not changes.explained >= limits.all_of_changes:
        return None
    slope, explained = line.slope, line.explained
    what = "pays for staying" if slope > 0 else "costs for every step"
    summary = (
        f"episode length explains {100 * explained:.4g}% of the scatter of the return at {slope:.3g} per step over "
        f"{pairs.returns.size} points: the reward {what}"
    )
    evidence = (
        facts.evidence(
            "return/train", explained, limits.all_of_it, note="share of the scatter that episode length explains"
        ),
        facts.evidence("episode_length", slope, note="reward per step, slope of return on length"),
    )
    return RuleResult(Severity.INFO, 0.9, summary, evidence)
