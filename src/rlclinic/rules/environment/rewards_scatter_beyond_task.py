"""Returns vary by far more than episode lengths explain, on a task that pays 1 for each step.

What it sees: Where each step of the well-known task pays 1 or -1, the return is the length. Here neighbouring returns
differ by what a noise of four times that pay on every single reward makes.
Why it hurts: The learner follows the noise: its signal is smaller than what chance adds to it.
Evidence needed: a return and the episode length at the same steps.
Looks alike: A shaping term, which changes slowly with the policy. Rare large bonuses or penalties that belong to the
task as it was changed: then they are no chance.
What to change: Print the rewards of one episode; remove what is random about them, or average over more data.
References: Romoff et al. 2018 (arXiv 1805.03359), reward estimation for variance reduction.
"""

from __future__ import annotations

from rlclinic.facts.goal_status import learns
from rlclinic.facts.return_state import return_name
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.task_departure import departure
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule("ENV18", needs=("return/train|return/eval", "episode_length|episode_length/eval"), step=DecisionStep.REWARD)


class Limits(RuleLimits):
    loud: float = 4.0
    """Noise of a single reward in units of its usual pay; logs that round or average otherwise come to 1."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare the noise of a reward with its size."""
    found = departure(facts)
    if found is None or found.noise is None or found.noise < limits.loud:
        return None
    summary = (
        f"returns vary beyond what episode lengths explain, as if every reward of {found.task.name} had "
        f"noise of {found.noise:.3g} times its size"
    )
    evidence = (facts.evidence(return_name(facts), found.noise, limits.loud, note="noise of one reward over its pay"),)
    if learns(facts):
        return RuleResult(Severity.INFO, 0.5, summary, evidence)
    return RuleResult(Severity.WARNING, 0.85, summary, evidence)
