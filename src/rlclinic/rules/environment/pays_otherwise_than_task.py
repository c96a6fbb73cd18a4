"""A step does not pay what it pays on the well-known task: far more, less, the opposite, the same, or too well.

What it sees: Return over episode length, held against what random actions earn on the task: a factor of 30 or more in
either direction on which level and scatter agree, the amount of the task with the other sign, one and the same reward
for every step of a task that does not pay so, or a return at the end that no policy earns on the task.
Why it hurts: Learning rates, value losses, clips and bonuses fit the size of the usual reward; with the other sign the
agent learns to fail, and from a reward that never differs it learns nothing.
Evidence needed: a return and the episode length at the same steps, on a task whose random return rlclinic knows.
Looks alike: Reward normalisation and clipping, which make rewards of order one (so small factors count only where the
config rules them out or the reward is smaller still); repeated actions, which multiply by a few; a reward that was
scaled on purpose, with which the run learns: then this is a note.
What to change: Print ten rewards of a random policy and compare them with the task's documentation; look through the
wrappers around the reward.
References: Henderson et al. 2018 (arXiv 1709.06560), on reward scale; random returns measured with Gymnasium 1.3.0.
"""

from __future__ import annotations

from rlclinic.facts.goal_status import learns
from rlclinic.facts.return_state import return_name
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.task_departure import TaskDeparture, departure
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule("ENV17", needs=("return/train|return/eval", "episode_length|episode_length/eval"), step=DecisionStep.REWARD)


class Limits(RuleLimits):
    far: float = 30.0
    """Factor of the reward, or its inverse, that harms a trainer set up for the task."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Say in which way the pay of a step departs."""
    found, curve = departure(facts), facts.curve
    told = _told(found, limits) if found is not None else None
    if found is None or told is None:
        return None
    value, how = told
    summary = f"on {found.task.name} {how}"
    evidence = (facts.evidence(return_name(facts), value, limits.far, note="return over length, times the usual one"),)
    # A run that learns refutes the harm, and one that rises may; one that comes beyond the task learns something else.
    if learns(facts) or (curve is not None and curve.rising):
        return RuleResult(Severity.INFO, 0.5, summary, evidence)
    return RuleResult(Severity.WARNING, 0.85, summary, evidence)


def _told(found: TaskDeparture, limits: Limits) -> tuple[float, str] | None:
    if found.same_pay is not None:
        return found.same_pay, f"every step pays {found.same_pay:.3g}, whatever happens, and the standard task does not"
    if found.beyond is not None:
        best = found.task.best_return or found.task.target
        return (
            found.beyond,
            f"the return came to {found.beyond:.4g}, which no policy earns there (the best: {best:.4g})",
        )
    if found.factor is None:
        return None
    if found.is_negated:
        return found.factor, f"a step pays {found.factor:.3g} times what it usually does: its sign is flipped"
    if found.is_sure and not 1.0 / limits.far < found.factor < limits.far:
        return found.factor, f"a step pays {found.factor:.3g} times what it usually does"
    return None
