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

from rlclinic.facts.episodes import pairs_of
from rlclinic.facts.goal import known_task
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.result import RuleResult
from rlclinic.signals.return_on_length import return_on_length

MIN_POINTS = 30
# Share of the scatter of the return that its length explains, for levels and for changes from point to point.
ALL_OF_IT = 0.98
ALL_OF_CHANGES = 0.9
# Relative spread of lengths below which nothing can be said.
VARIED = 0.05


def check(facts: RunFacts) -> RuleResult | None:
    """Fit the return to the length."""
    pairs = pairs_of(facts)
    if pairs is None or pairs.returns.size < MIN_POINTS or known_task(facts) is not None:
        return None
    if float(np.std(pairs.lengths)) < VARIED * float(np.mean(pairs.lengths)):
        return None
    line = return_on_length(pairs.returns, pairs.lengths)
    if not line.enough or not line.explained >= ALL_OF_IT:
        return None
    changes = return_on_length(np.diff(pairs.returns), np.diff(pairs.lengths))
    if not changes.explained >= ALL_OF_CHANGES:
        return None
    slope, explained = line.slope, line.explained
    what = "pays for staying" if slope > 0 else "costs for every step"
    summary = (
        f"episode length explains {100 * explained:.4g} % of the scatter of the return at {slope:.3g} per step over "
        f"{pairs.returns.size} points: the reward {what}"
    )
    evidence = (
        facts.evidence("return/train", explained, ALL_OF_IT, note="share of the scatter that episode length explains"),
        facts.evidence("episode_length", slope, note="reward per step, slope of return on length"),
    )
    return RuleResult(Severity.INFO, 0.9, summary, evidence)
