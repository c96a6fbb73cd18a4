"""Whether a run learned from a fixed data set instead of an environment."""

from __future__ import annotations

from rlclinic.facts.run_facts import RunFacts

ALGORITHMS = frozenset(
    {"CQL", "DISCRETECQL", "IQL", "AWAC", "BCQ", "DISCRETEBCQ", "BEAR", "CRR", "TD3PLUSBC", "MARWIL"}
)


def is_offline(facts: RunFacts) -> bool:
    """Told by the algorithm, or by a run that counts updates and has evaluations but no training return."""
    run = facts.run
    if run.algorithm.upper() in ALGORITHMS:
        return True
    if facts.is_language_model or facts.series("return/eval") is None or facts.series("return/train") is not None:
        return False
    never_defined = "return/train" in run
    return never_defined or (run.step_axis == "updates" and facts.is_off_policy)
