"""Every update moves the policy far less than its clip would allow, and the budget is over.

What it sees: Over the first half of the run KL of single updates is below a thirtieth of what the clip range stands for
and hardly anything is clipped; where no KL is logged, a policy loss that is as good as zero. Nothing says that the task
is done.
Why it hurts: The run creeps along a way that it could have gone many times faster: most of the budget is not used.
Evidence needed: approx_kl or policy_loss with at least 12 points, of a run that came to its end.
Looks alike: A run that learned its task early and has nothing left to change: there the updates of its first half are
of the usual size. Loss that is zero by construction where each batch is used once.
What to change: Raise the learning rate in steps of three; take more passes over each batch; loosen a target KL.
References: Schulman et al. 2017 (arXiv 1707.06347); Andrychowicz et al. 2021 (arXiv 2006.05990), section 3.7.
"""

from __future__ import annotations

import numpy as np

from rlclinic.facts.exploration import is_dead
from rlclinic.facts.goal_status import is_open
from rlclinic.facts.policy_updates import advantages_are_normalised, clip_kl, clip_range
from rlclinic.facts.return_state import return_name
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.stretch import finite
from rlclinic.facts.update_count import steps_per_batch
from rlclinic.model.finding import Evidence, Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult
from rlclinic.signals._robust import median

RULE = Rule(
    "POL17",
    needs=("approx_kl|policy_loss", "return/train|return/eval"),
    algorithms=("ppo",),
    covered_by=("POL05", "POL16"),
    step=DecisionStep.UPDATE_SIZE,
)


class Limits(RuleLimits):
    small: float = 0.03
    """Share of the KL at which all ratios stand at the clip; working runs show a fifth and more."""
    usual_clip: float = 0.2
    unclipped: float = 0.01
    """Clip fraction that counts as none."""
    small_loss: float = 2e-4
    """Size of a policy loss over normalised advantages; working runs show twenty times as much. Below the second
    number it is zero by construction."""
    no_loss: float = 1e-7
    first_part: float = 0.5
    fewest_points: int = 12


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Hold the size of updates against what the clip allows."""
    curve, per_batch = facts.curve, steps_per_batch(facts)
    if curve is None or facts.is_language_model or not is_open(facts):
        return None
    if (per_batch is not None and per_batch <= 1.0) or is_dead(facts, 0.0, limits.first_part):
        return None
    found = _by_kl(facts, limits) if facts.series("approx_kl") is not None else _by_loss(facts, limits)
    if found is None:
        return None
    told, evidence = found
    summary = f"{told}; the return went from {curve.start:.4g} to {curve.final:.4g} within the budget"
    about = facts.evidence(return_name(facts), curve.gain, note="gain from start to end")
    return RuleResult(Severity.WARNING, 0.8, summary, (evidence, about), None)


def _by_kl(facts: RunFacts, limits: Limits) -> tuple[str, Evidence] | None:
    level, clipped = facts.level("approx_kl", 0.0, limits.first_part), facts.level("clip_fraction")
    bar = limits.small * clip_kl(clip_range(facts) or limits.usual_clip)
    if level is None or 2 * level.points < limits.fewest_points or not 0.0 < level.value < bar:
        return None
    if clipped is not None and clipped.value > limits.unclipped:
        return None
    told = f"KL of single updates is {level.value:.2g} nats over the first half (0.001 to 0.02 is common)"
    return told, facts.evidence("approx_kl", level.value, bar, level=level, note="median of the first half, in nats")


def _by_loss(facts: RunFacts, limits: Limits) -> tuple[str, Evidence] | None:
    series = facts.series("policy_loss")
    if series is None or not advantages_are_normalised(facts):
        return None
    _, values = finite(series)
    size = median(np.abs(values))
    if values.size < limits.fewest_points or not limits.no_loss < size < limits.small_loss:
        return None
    told = f"{series.logged_as} is {size:.2g} in size (0.003 to 0.05 is common): ratios stay at 1"
    return told, facts.evidence("policy_loss", size, limits.small_loss, note="median of its size")
