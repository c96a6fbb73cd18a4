"""A policy that should do well earns no more than random actions.

What it sees: The 95% interval of the mean return of the oracle does not lie above that of random actions.
Why it hurts: What the reward pays is not what the oracle does, or the simulation does not do what it is told: no
training can fix that.
Evidence needed: a policy given with --oracle.
Looks alike: An oracle that is wrong itself: watch it.
What to change: Play the oracle and print reward and state: where the reward falls as the task goes well, its sign is
wrong.
References: four-phase method, step 2.2.
"""

from __future__ import annotations

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.measured import measured
from rlclinic.rules.rule import DecisionStep, Rule, RuleResult

RULE = Rule(
    "ENV62",
    needs=("environment:episodes",),
    step=DecisionStep.TASK,
    causes={"reward-sign-wrong": 6.5, "uninformative-reward": 4.0, "physics-unstable": 2.0},
)


def check(facts: RunFacts) -> RuleResult | None:
    """Compare the oracle with random actions."""
    env = facts.measured
    oracle, chance = env.policy("oracle"), env.policy("random")
    if oracle is None or chance is None or oracle.low > chance.high:
        return None
    worse = oracle.high < chance.low
    summary = (
        f"the oracle earns {oracle.mean:.4g} [{oracle.low:.4g}, {oracle.high:.4g}], random actions {chance.mean:.4g} "
        f"[{chance.low:.4g}, {chance.high:.4g}]"
    )
    severity = Severity.ERROR if worse else Severity.WARNING
    return RuleResult(
        severity,
        0.95 if worse else 0.7,
        summary,
        (measured("mean return of the oracle", oracle.mean, chance.mean, oracle.episodes),),
    )
