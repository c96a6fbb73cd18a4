"""REINFORCE runs without a baseline.

What it sees: No value loss, explained variance or mean value in the log, and no key of the config that sets a
baseline, a critic or normalised returns.
Why it hurts: It need not. A baseline costs little, changes nothing in expectation and often saves most of the
samples.
Evidence needed: a config; without one nothing can be said.
Looks alike: A baseline that is neither logged nor named in the config.
What to change: Subtract the mean return of the batch, or train a value network.
References: Sutton and Barto 2018, section 13.4.
"""

from __future__ import annotations

from rlclinic.facts.reinforce import baseline_of, is_reinforce
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Evidence, Severity
from rlclinic.rules.rule import Rule, RuleResult

RULE = Rule("RNF02", algorithms=("actor-critic",))


def check(facts: RunFacts) -> RuleResult | None:
    """Look for a baseline in log and config."""
    config = facts.run.config
    if not is_reinforce(facts) or (not config.native and not config.settings) or baseline_of(facts):
        return None
    keys = len(config.native) or len(config.settings)
    summary = f"none of {keys} configured keys and none of {len(facts.run.series)} logged metrics shows a baseline"
    evidence = (Evidence("returns_type", "config", 0.0, 1.0, note="keys that set a baseline"),)
    return RuleResult(Severity.INFO, 0.6, summary, evidence)
