"""The settings of a run against the usual ones of its domain."""

from __future__ import annotations

from rlclinic.facts.derived_settings import value_of
from rlclinic.facts.offline import is_offline
from rlclinic.facts.run_facts import RunFacts, fact
from rlclinic.facts.task_entry import entry_holds
from rlclinic.reference.usual import Basis, Domain, Unusual, domain_of_algorithm, how_unusual

# Settings that only language models have: their PPO is another one.
OF_LANGUAGE = ("max_response_length", "max_prompt_length", "prompts_per_batch", "group_size")


@fact
def domain_of(facts: RunFacts) -> Domain:
    """What the run is an example of: its values are usual or unusual there."""
    if facts.is_language_model or any(name in facts.run.config for name in OF_LANGUAGE):
        return "language-model"
    return "offline" if is_offline(facts) else domain_of_algorithm(facts.run.algorithm)


@fact
def unusual(facts: RunFacts, name: str, value: float | None = None) -> Unusual | None:
    """How unusual a setting of the run, or what several come to, is; None where that cannot be said."""
    value = value_of(facts, name) if value is None else value
    if value is None:
        return None
    run, domain = facts.run, domain_of(facts)
    found = how_unusual(name, value, algorithm=run.algorithm, environment=run.environment, domain=domain)
    if found is None or found.basis is not Basis.TASK or entry_holds(facts, name):
        return found
    # An entry of another set-up accuses nobody: what is ordinary elsewhere is ordinary here.
    elsewhere = how_unusual(name, value, algorithm=run.algorithm, domain=domain)
    return min(found, elsewhere or found, key=lambda item: abs(item.spreads))
