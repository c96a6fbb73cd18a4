"""Whether a return fell only because episodes got longer and each step costs something."""

from __future__ import annotations

from rlclinic.facts.run_facts import RunFacts

# How much longer episodes must have become.
LONGER = 1.5
# Shares of the run that are its middle: what was cheaper there than at the end was lost.
MIDDLE = (0.4, 0.6)


def longer_episodes_cost_more(facts: RunFacts) -> bool:
    """A negative return over longer episodes whose cost per step went down to the end: survival is being learned."""
    returns = facts.run.returns
    if returns is None:
        return False
    early, late = facts.early(returns.name), facts.late(returns.name)
    first, last = facts.early("episode_length"), facts.late("episode_length")
    if early is None or late is None or first is None or last is None or first.value <= 0 or last.value <= 0:
        return False
    if late.value >= 0 or last.value < LONGER * first.value:
        return False
    middle, length = facts.level(returns.name, *MIDDLE), facts.level("episode_length", *MIDDLE)
    between = middle.value / length.value if middle is not None and length is not None and length.value > 0 else 0.0
    return late.value / last.value > max(early.value / first.value, min(between, 0.0))
