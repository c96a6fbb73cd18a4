"""Episodes start alike although seeds make them differ.

What it sees: Seeds give different first observations, and resets without a seed always the same; or copies that got
no seed start alike; or reset sets chance to the same number each time.
Why it hurts: Every episode of a training is the same one: what is learned holds for a single start, and parallel
copies add nothing.
Evidence needed: an examination; or a training with several copies that was watched with Observe.
Looks alike: A task with a single start, where seeds give the same too.
What to change: Draw the start from self.np_random, and seed it only where reset gets a seed.
References: Gymnasium#1084; four-phase method, step 2.5.
"""

from __future__ import annotations

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.measured import measured
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "ENV44",
    needs=("environment:reset",),
    step=DecisionStep.ENVIRONMENT,
    causes={"environments-correlated": 6.0, "reset-broken": 7.0},
)


class Limits(RuleLimits):
    same: float = 0.5
    """Share of first observations that several copies have in common."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare starts with and without seeds."""
    env = facts.measured
    reset = env.reset
    assert reset is not None
    if reset.starts > 1 and reset.unseeded and reset.unseeded_starts == 1:
        seeded = f"{reset.seeds} seeds give {reset.starts} different starts"
        summary = f"{seeded}, {reset.unseeded} resets without a seed a single one"
        chance = reset.starts ** (1.0 - reset.unseeded)
        evidence = measured("starts without a seed", 1, reset.starts)
        return RuleResult(Severity.ERROR, 0.95, summary, (evidence,), chance=chance)
    if reset.fixed_chance and (reset.unseeded_starts == 1 or not reset.fixed_chance.startswith("np.random.default")):
        told = "every episode starts alike" if reset.unseeded_starts == 1 else "every episode meets the same chance"
        summary = f"reset calls {reset.fixed_chance} with the same number each time, though it got no seed: {told}"
        return RuleResult(Severity.ERROR, 0.95, summary, (measured("starts without a seed", 1, 0.0),))
    if reset.copies_same:
        summary = "two fresh copies that got no seed start at the same observation, though seeds make starts differ"
        return RuleResult(Severity.ERROR, 0.9, summary, (measured("copies that start alike", 2, 0.0),))
    if not reset.same_starts > limits.same:
        return None
    summary = f"{100 * reset.same_starts:.3g}% of the first observations are shared by several parallel copies"
    return RuleResult(Severity.ERROR, 0.95, summary, (measured("shared starts", reset.same_starts, limits.same),))
