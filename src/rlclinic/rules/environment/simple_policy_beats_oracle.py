"""A policy that pays no heed to the task earns the most.

What it sees: Doing nothing, one action over and over, going back and forth or chance returns more than the oracle, by
intervals that do not meet; or one action over and over returns more than all others that were played, and the task is
done no better by what `info` tells of it.
Why it hurts: Training finds what pays: standing still, ending or going in circles, and not what was meant.
Evidence needed: an oracle (--oracle), or successes or a distance in `info`; and a panel of simple policies.
Looks alike: An oracle that is not good at the task; an oracle that is worse than chance, which is another finding.
What to change: Play both and see what each step pays; pay for progress towards the goal, and less for time or place.
References: Amodei et al. 2016 (arXiv 1606.06565); Knox et al. 2023 (arXiv 2104.13906).
"""

from __future__ import annotations

import math

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.environment_facts import INFORMED, EnvironmentFacts, PolicyReturns
from rlclinic.model.finding import Severity
from rlclinic.rules.measured import measured
from rlclinic.rules.rule import DecisionStep, Rule, RuleResult

CONSTANT = "always "
ERRORS = 3.0
"""Standard errors by which a task must be done better to be better done."""

RULE = Rule(
    "ENV67",
    needs=("environment:episodes",),
    covered_by=("ENV62",),
    step=DecisionStep.REWARD,
    causes={"reward-hacking": 6.5, "reward-favours-staying": 5.0, "reward-favours-ending": 4.5},
)


def check(facts: RunFacts) -> RuleResult | None:
    """Compare the oracle, or else the task, with the best of the simple policies."""
    env = facts.measured
    oracle = env.policy("oracle")
    best = max((one for one in env.panel if one.name not in INFORMED), key=lambda one: one.low, default=None)
    if oracle is None and best is not None:
        return _idle(env, best)
    if oracle is None or best is None or not best.low > oracle.high:
        return None
    summary = (
        f"`{best.name}` earns {best.mean:.4g} [{best.low:.4g}, {best.high:.4g}], the oracle {oracle.mean:.4g} "
        f"[{oracle.low:.4g}, {oracle.high:.4g}]: something else than the task is paid for"
    )
    evidence = measured(f"mean return of {best.name}", best.mean, oracle.mean, best.episodes)
    return RuleResult(Severity.WARNING, 0.75, summary, (evidence,))


def _idle(env: EnvironmentFacts, best: PolicyReturns) -> RuleResult | None:
    """Whether one action over and over earns more than all others and does the task no better than chance."""
    chance = env.policy("random")
    others = [one for one in env.panel if one.name != best.name]
    if chance is None or not best.name.startswith(CONSTANT) or not all(best.low > one.high for one in others):
        return None
    error = math.hypot(best.task_error, chance.task_error)
    if best.task == chance.task == 1.0 or not best.task - chance.task <= ERRORS * error:
        return None
    summary = (
        f"`{best.name}` earns {best.mean:.4g}, more than all others that were played (random {chance.mean:.4g}), and "
        f"what `info` tells of the task is no better ({best.task:.3g}, random {chance.task:.3g})"
    )
    evidence = measured(f"mean return of {best.name}", best.mean, chance.mean, best.episodes)
    return RuleResult(Severity.WARNING, 0.8, summary, (evidence,))
