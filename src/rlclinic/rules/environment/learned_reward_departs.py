"""The learned reward rose and the true one did not follow.

What it sees: The return by a learned reward model climbs on while the true return of the same run stays where it was.
Why it hurts: The policy gets better at what the model believes, and the model does not know the task: it is untrained,
has too few labels, or is exploited.
Evidence needed: both returns with at least 12 points.
Looks alike: A model that is still being fitted at the start. True returns that are only logged now and then.
What to change: Look at the labels first: how many the model got, whether it ranks recorded episodes as the true return
does. Give it more, fresher and more diverse labels, and stop the policy from leaving the states that it has seen.
References: Christiano et al. 2017 (arXiv 1706.03741); Lee et al. 2021, PEBBLE (arXiv 2106.05091); Gao et al. 2022
(arXiv 2210.10760).
"""

from __future__ import annotations

import numpy as np

from rlclinic.facts.return_state import return_name as true_name
from rlclinic.facts.returns import level_at
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult, Sign
from rlclinic.rules.words import steps_text

RULE = Rule(
    "ENV16",
    needs=("learned_return", "return/train|return/eval"),
    step=DecisionStep.REWARD,
    means=(Sign.REWARD_HACKING,),
)


class Limits(RuleLimits):
    fewest_points: int = 12
    under_way: float = 0.5
    """Share of the climb of the learned reward from which on the true one is watched."""
    went_on: float = 0.2
    """Share of that climb that the learned reward must still have made since."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Watch the true return from where the learned one was half up."""
    believed, true = facts.curve_of("learned_return"), facts.curve
    if believed is None or true is None or min(believed.points, true.points) < limits.fewest_points:
        return None
    if not believed.climbed or not believed.improved:
        return None
    half = believed.start + limits.under_way * believed.climb
    since = float(believed.steps[int(np.argmax(believed.values >= half))])
    more, true_then = believed.final - half, level_at(true, since)
    if more < limits.went_on * believed.climb or true.final - true_then > true.noise or true.rising:
        return None
    summary = (
        f"from {steps_text(facts, since)} on the learned reward rose from {half:.4g} to {believed.final:.4g} while the "
        f"true return went from {true_then:.4g} to {true.final:.4g}"
    )
    evidence = (
        facts.evidence("learned_return", more, limits.went_on * believed.climb, note="rise since it was half up"),
        facts.evidence(true_name(facts), true.final - true_then, true.noise, note="change of the true return since"),
    )
    return RuleResult(Severity.WARNING, 0.75, summary, evidence, since)
