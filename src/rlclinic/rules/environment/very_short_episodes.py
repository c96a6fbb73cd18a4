"""Episodes end after a few steps from the start of training and do not get longer.

What it sees: From the beginning to the end of the run episodes last only a few steps, or less than half of what random
actions give on the well-known task, and the return does not rise.
Why it hurts: Nothing that takes longer than an episode can be learned; a termination that fires at once leaves the
learner with the same few states.
Evidence needed: episode_length with at least 12 points. The comparison with random actions needs entropy or epsilon,
to know that the early policy still varied.
Looks alike: A policy that collapsed later (its early episodes were longer) or within the first updates (it has no
entropy: one action all the time ends sooner than chance); tasks of one or two decisions such as a bandit; a goal that
is reached ever faster, where the return rises.
What to change: Print why the first episodes end; check the bounds of the termination, the state after a reset, and
whether the done flag of one environment ends all.
References: Stable-Baselines3 documentation, tips on custom environments; openai/baselines#613.
"""

from __future__ import annotations

import math

from rlclinic.facts.episodes import task_by_name
from rlclinic.facts.return_state import is_flat
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.task_departure import most_repeated
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule("ENV02", needs=("episode_length", "return/train|return/eval"), step=DecisionStep.ENVIRONMENT)

# Greatest entropy of the smallest choice, where the number of actions is not known.
TWO_ACTIONS = math.log(2.0)


class Limits(RuleLimits):
    min_points: int = 12
    a_few: float = 5.0
    """Env steps. With five decisions there is hardly a sequence to learn; longer episodes are judged against the
    task only."""
    under_random: float = 0.5
    """Share of the length under random actions below which something ends episodes that should not."""
    varied: float = 0.3
    """Share of the greatest entropy, or exploration rate, from which on the early policy still tries everything."""
    changed: float = 1.5
    """Late over early length above which episodes are getting longer, or were shortened by the policy."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare early and late lengths with a few steps and with random actions."""
    lengths, curve = facts.series("episode_length"), facts.curve
    early, late = facts.early("episode_length", 0.2), facts.late("episode_length", 0.2)
    if lengths is None or curve is None or early is None or late is None or len(lengths) < limits.min_points:
        return None
    if not is_flat(facts) or late.value > limits.changed * early.value or early.value > limits.changed * late.value:
        return None
    varied = _varies_early(facts, limits)
    if varied is False:
        return None
    task = task_by_name(facts) if varied else None
    # A task without a limit is given one by whoever trains on it, and random actions last as long as that.
    lasts = task.random_length if task is not None and task.max_episode_steps else None
    random_length = lasts / most_repeated(facts) if lasts else None
    bar = limits.under_random * random_length if random_length is not None else limits.a_few
    if late.value > bar or early.value > bar:
        return None
    against = f"random actions last {random_length:.3g}" if random_length is not None else "a few steps at most"
    summary = (
        f"episodes lasted {early.value:.3g} steps at the start and {late.value:.3g} at the end ({against}), and the "
        f"return went from {curve.start:.4g} to {curve.final:.4g}"
    )
    evidence = (
        facts.evidence("episode_length", early.value, bar, level=early, note="median of the first 20%"),
        facts.evidence("episode_length", late.value, bar, level=late, note="median of the last 20%"),
    )
    confidence = 0.8 if random_length is not None else 0.6
    return RuleResult(Severity.WARNING, confidence, summary, evidence, early.first_step)


def _varies_early(facts: RunFacts, limits: Limits) -> bool | None:
    """Whether the early policy tried different actions; None where the log cannot tell."""
    entropy, epsilon = facts.early("entropy"), facts.early("epsilon")
    if entropy is not None:
        return entropy.value >= limits.varied * (facts.max_entropy or TWO_ACTIONS)
    return epsilon.value >= limits.varied if epsilon is not None else None
