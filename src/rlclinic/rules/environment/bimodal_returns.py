"""Episodes fall into two groups, good and bad, with hardly any in between.

What it sees: The returns of the last episodes form two clusters that are far apart against their own spread, both
present throughout.
Why it hurts: The mean return describes neither group. Whatever decides between them (the start state, a coin at one
decision, one of several parallel environments) decides the run.
Evidence needed: at least 60 single episodes in the last third of the run.
Looks alike: A policy that improves within the window, where the better group comes later.
What to change: Find what the bad episodes share (their start, their length, their environment) and train or evaluate
on those; report the share of each group instead of the mean.
References: Agarwal et al. 2021 (arXiv 2108.13264); Ashman et al. 1994 for the separation D.
"""

from __future__ import annotations

import numpy as np

from rlclinic.facts.episodes import single_returns
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult
from rlclinic.signals.distribution import distribution

RULE = Rule("ENV11", needs=("return/train",))


class Limits(RuleLimits):
    min_episodes: int = 60
    apart: float = 4.0
    """Ashman's D: two normal groups are cleanly apart above 2; 4 leaves a visible gap."""
    smallest: float = 0.15
    """Least share of the smaller group, in the whole window and in each half of it."""
    smallest_in_half: float = 0.08
    empty: float = 0.25
    """Density between the groups over that of the less dense one."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Split the last third of the episodes at the best cut and see whether the groups are apart."""
    returns = single_returns(facts)
    if returns is None or returns.size // 3 < limits.min_episodes or facts.is_language_model:
        return None
    window = returns[-(returns.size // 3) :]
    modes = distribution(window)
    if (
        not modes.enough
        or not modes.separation >= limits.apart
        or not limits.smallest <= modes.lower_share <= 1.0 - limits.smallest
    ):
        return None
    if not modes.valley <= limits.empty:
        return None
    cut = 0.5 * (modes.lower + modes.upper)
    halves = (window[: window.size // 2], window[window.size // 2 :])
    shares = [float(np.mean(half <= cut)) for half in halves]
    if min(min(share, 1.0 - share) for share in shares) < limits.smallest_in_half:
        return None
    apart = f"separation {modes.separation:.3g}" if np.isfinite(modes.separation) else "two exact values"
    summary = (
        f"of the last {window.size} episodes {100 * modes.lower_share:.0f}% returned about {modes.lower:.4g} and "
        f"{100 * (1 - modes.lower_share):.0f}% about {modes.upper:.4g}, with hardly any between ({apart})"
    )
    evidence = (
        facts.evidence(
            "return/train", modes.separation, limits.apart, note="Ashman's D of two groups, last third of episodes"
        ),
        facts.evidence(
            "return/train", modes.valley, limits.empty, note="density between the groups over that of the lesser"
        ),
        facts.evidence("return/train", modes.lower_share, limits.smallest, note="share of the lower group"),
    )
    return RuleResult(Severity.INFO, 0.7, summary, evidence)
