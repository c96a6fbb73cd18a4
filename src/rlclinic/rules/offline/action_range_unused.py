"""The actions in the data use only a part of their range.

What it sees: Recorded continuous actions stay within a part of the action space, and the policy does worse than they
did.
Why it hurts: Actions that were stored as a network gave them, from -1 to 1, and are played as the environment takes
them are too weak or too strong throughout. No setting of the learner makes up for it.
Evidence needed: offline/action_range and return/eval.
Looks alike: A behaviour that needs no large action: then the policy reaches what the data show.
What to change: Store actions in the units of the environment; unscale those of a replay buffer of Stable-Baselines3.
References: Stable-Baselines3's replay buffers hold actions scaled to [-1, 1].
"""

from __future__ import annotations

from rlclinic.facts.offline import offline_of
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult

RULE = Rule(
    "OFL06",
    needs=("return/eval", "offline/action_range"),
    algorithms=("q-learning", "continuous-q"),
    causes={"action-space-unnormalised": 7.0, "dataset-coverage-poor": 1.0},
)


class Limits(RuleLimits):
    used: float = 0.7
    """Share of the range that the data use."""
    short: float = 0.25
    """Least distance of the end below the mean of the data, as a share of that mean."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Judge the range of the recorded actions, where the policy does clearly worse than they did."""
    found, used = offline_of(facts), facts.late("offline/action_range", 1.0)
    if found is None or not found.short or used is None or used.value > limits.used:
        return None
    if found.data_return - found.final < limits.short * max(abs(found.data_return), 1e-9):
        return None
    summary = (
        f"the recorded actions use {100 * used.value:.0f}% of their range, and the policy ends at {found.final:.4g} "
        f"where the data have {found.data_return:.4g}"
    )
    evidence = (facts.evidence("offline/action_range", used.value, limits.used),)
    return RuleResult(Severity.WARNING, 0.7, summary, evidence)
