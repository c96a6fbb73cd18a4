"""A policy that pays no heed to the task earns more than the oracle.

What it sees: Doing nothing, one action over and over, going back and forth or chance returns more than the oracle, by
intervals that do not meet.
Why it hurts: Training finds what pays: standing still, ending or going in circles, and not what was meant.
Evidence needed: an oracle (--oracle) and a panel of simple policies.
Looks alike: An oracle that is not good at the task; an oracle that is worse than chance, which is another finding.
What to change: Play both and see what each step pays; pay for progress towards the goal, and less for time or place.
References: Amodei et al. 2016 (arXiv 1606.06565); Knox et al. 2023 (arXiv 2104.13906).
"""

from __future__ import annotations

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.environment_facts import INFORMED
from rlclinic.model.finding import Severity
from rlclinic.rules.measured import measured
from rlclinic.rules.rule import DecisionStep, Rule, RuleResult

RULE = Rule(
    "ENV67",
    needs=("environment:episodes",),
    covered_by=("ENV62",),
    step=DecisionStep.REWARD,
    causes={"reward-hacking": 6.5, "reward-favours-staying": 5.0, "reward-favours-ending": 4.5},
)


def check(facts: RunFacts) -> RuleResult | None:
    """Compare the oracle with the best of the simple policies."""
    env = facts.measured
    oracle = env.policy("oracle")
    best = max((one for one in env.panel if one.name not in INFORMED), key=lambda one: one.low, default=None)
    if oracle is None or best is None or not best.low > oracle.high:
        return None
    summary = (
        f"`{best.name}` earns {best.mean:.4g} [{best.low:.4g}, {best.high:.4g}], the oracle {oracle.mean:.4g} "
        f"[{oracle.low:.4g}, {oracle.high:.4g}]: something else than the task is paid for"
    )
    evidence = measured(f"mean return of {best.name}", best.mean, oracle.mean, best.episodes)
    return RuleResult(Severity.WARNING, 0.75, summary, (evidence,))
