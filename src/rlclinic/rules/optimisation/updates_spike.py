"""Single updates have a loss or gradient far outside the range of all others.

What it sees: Isolated spikes of gradient norm, value loss or KL that exceed the whole range of the other points several
times, while the return is flat or has fallen.
Why it hurts: One such update can undo hundreds. They come from rare transitions with huge rewards or observations, from
ratios of nearly impossible actions, or from reduced precision.
Evidence needed: grad_norm, value_loss or approx_kl with at least 30 points, and a return.
Looks alike: The first updates of a run. Steady growth, which is another finding. Spikes beside a return that does well.
What to change: Find the batch: log the largest reward, observation and ratio of each. Clip gradients, clip rewards and
observations, use a Huber loss for the critic.
References: leggedrobotics/rsl_rl#33 (an outlier rollout); Mnih et al. 2015 on clipping the error term.
"""

from __future__ import annotations

from rlclinic.facts.return_state import suffers
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult
from rlclinic.signals.spikes import spikes

RULE = Rule(
    "OPT11",
    needs=("grad_norm|grad_norm/*|value_loss|approx_kl", "return/train|return/eval"),
    covered_by=("ENV09",),
    step=DecisionStep.GRADIENTS,
)

WATCHED = ("grad_norm", "grad_norm/critic", "grad_norm/actor", "value_loss", "approx_kl")


class Limits(RuleLimits):
    material: float = 5.0
    """Distance from the course over the range of the points without spikes, and in units of noise."""
    noise_units: float = 12.0
    fewest: int = 2
    """Spikes that make a pattern, and share of the points above which they are no longer single."""
    most: float = 0.1
    beginning: float = 0.1
    """Share of the run that is its beginning, where everything is large."""
    fewest_points: int = 30


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Count the spikes of each metric of the update."""
    if not suffers(facts):
        return None
    for name in WATCHED:
        series = facts.series(name)
        if series is None or len(series) < limits.fewest_points:
            continue
        found = spikes(series, z=limits.noise_units, material=limits.material)
        start = series.steps[0] + limits.beginning * (series.steps[-1] - series.steps[0])
        late = [spike for spike in found.largest if spike.step > start and spike.z > 0]
        if not found.enough or len(late) < limits.fewest or found.share > limits.most:
            continue
        largest = max(late, key=lambda spike: spike.value)
        summary = (
            f"{series.logged_as} has {len(late)} spikes, the largest {largest.value:.3g} at step {largest.step:,.0f}: "
            f"{largest.relative:.3g} times the range of all other points; the return does not rise"
        )
        evidence = (
            facts.evidence(name, largest.relative, limits.material, note="distance from the trend, in usual ranges"),
        )
        return RuleResult(Severity.WARNING, 0.6, summary, evidence, late[0].step)
    return None
