"""All episodes have the same length, and not one that the well-known task has.

What it sees: From the first row to the last the episode length is one number: neither the task's limit nor near what
random actions last, but far below it, or several times above it although the policy is untrained.
Why it hurts: Cut short, an episode never comes to what the task is about. Drawn out, failures go unseen: they restart
the task within the episode, or do not end it, and the return hardly depends on them.
Evidence needed: a return and the episode length at the same steps, on a task whose random length rlclinic knows.
Looks alike: A time limit or repeated actions that were set on purpose (where the config says so this is a note). A
policy that solves the task from the first row on, and lasts to the limit.
What to change: Print terminated and truncated for one episode of random actions, and compare its length with the
task's documentation.
References: Pardo et al. 2018 (arXiv 1712.00378); Gymnasium documentation on termination and truncation.
"""

from __future__ import annotations

from rlclinic.facts.goal_status import learns
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.settings import positive
from rlclinic.facts.task_departure import departure
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "ENV19", needs=("return/train|return/eval", "episode_length|episode_length/eval"), step=DecisionStep.ENVIRONMENT
)


class Limits(RuleLimits):
    same: float = 0.02
    """Share by which a length may differ from a limit that was set and still be made by it."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Say how long episodes are, and how long they should be."""
    found, curve = departure(facts), facts.curve
    if found is None or found.pinned is None:
        return None
    usual, length = found.task.random_length, found.pinned
    summary = (
        f"every episode lasts {length:.4g} steps from the first row on; on {found.task.name} random actions last "
        f"{usual:.3g} and the limit is {found.task.max_episode_steps or 'none'}"
    )
    evidence = (facts.evidence("episode_length", length, usual, note="length of all episodes, against random ones"),)
    if (curve is not None and curve.rising) or learns(facts) or _is_set(facts, length, limits):
        return RuleResult(Severity.INFO, 0.5, summary, evidence)
    return RuleResult(Severity.WARNING, 0.85, summary, evidence)


def _is_set(facts: RunFacts, length: float, limits: Limits) -> bool:
    """Whether the config's own limit, in steps or in repeated actions, makes the length."""
    limit, repeated = positive(facts, "max_episode_steps"), positive(facts, "frame_skip") or 1.0
    return limit is not None and any(abs(limit - length * each) <= limits.same * limit for each in (1.0, repeated))
