"""The same seed does not give the same episode.

What it sees: Two fresh copies with the same seed and actions differ beyond the tolerance of physics engines, or a
used one does because some of its chance is not seeded.
Why it hurts: Runs cannot be repeated, and evaluations do not compare like with like. Learning itself is not harmed.
Evidence needed: an examination.
Looks alike: Simulators that run in several threads.
What to change: Take all chance from self.np_random and call super().reset(seed=seed).
References: Gymnasium#1111; Gymnasium PR#929.
"""

from __future__ import annotations

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.measured import measured
from rlclinic.rules.rule import DecisionStep, Rule, RuleResult

RULE = Rule(
    "ENV45",
    needs=("environment:reset",),
    step=DecisionStep.ENVIRONMENT,
    causes={"reset-broken": 1.0},
)


def check(facts: RunFacts) -> RuleResult | None:
    """Look at what the seed leaves open."""
    env = facts.measured
    reset = env.reset
    assert reset is not None
    if reset.reproducible is False:
        summary = f"two fresh copies with the same seed and actions differ, first in the {reset.departure}"
    elif reset.unseeded_chance:
        summary = "some of the chance does not come from the seed of reset"
    else:
        return None
    return RuleResult(Severity.INFO, 0.5, summary, (measured("seed decides", 0.0, 1.0),))
