"""Whether a run trains MM-RKHS, and whether it stands still."""

from __future__ import annotations

from rlclinic.facts.goal_status import failed
from rlclinic.facts.return_state import is_flat
from rlclinic.facts.run_facts import RunFacts

# Nats per update; policy-gradient steps that learn lie two orders above.
NEARLY_ZERO = 1e-4
# Share of its budget, or updates where there is none, after which a run that has not moved will not.
MATERIAL = 0.5
MANY_UPDATES = 12


def is_mmrkhs(facts: RunFacts) -> bool:
    """Told by the algorithm, or by the MMD that only it logs."""
    return facts.run.algorithm.upper() == "MM-RKHS" or "mmd" in facts.run


def is_pinned(facts: RunFacts) -> bool:
    """Whether single updates change next to nothing; what a printed zero hides is not known to be small."""
    kl, level = facts.series("approx_kl"), facts.level("approx_kl")
    if kl is None or level is None or (kl.decimals is not None and 10.0**-kl.decimals > NEARLY_ZERO):
        return False
    return abs(level.value) <= NEARLY_ZERO


def gets_nowhere(facts: RunFacts) -> bool:
    """Whether the run failed, or stands still with a good part of its own budget behind it.

    A policy that does not move needs no published number of steps to show that it will not learn.
    """
    if failed(facts):
        return True
    used, kl = facts.progress, facts.series("approx_kl")
    long_enough = used >= MATERIAL if used is not None else kl is not None and len(kl) >= MANY_UPDATES
    return long_enough and is_pinned(facts) and is_flat(facts)
