"""Single updates have a loss or gradient far outside of the course of the others.

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
from rlclinic.rules.result import RuleResult
from rlclinic.signals.spikes import spikes

WATCHED = ("grad_norm", "grad_norm/critic", "grad_norm/actor", "value_loss", "approx_kl")
# Distance from the course over the range of the points without spikes, and in units of noise.
MATERIAL = 5.0
NOISE_UNITS = 12.0
# Spikes that make a pattern, and share of the points above which they are no longer single.
FEWEST = 2
MOST = 0.1
# Share of the run that is its beginning, where everything is large.
BEGINNING = 0.1
FEWEST_POINTS = 30


def check(facts: RunFacts) -> RuleResult | None:
    """Count the spikes of each metric of the update."""
    if not suffers(facts):
        return None
    for name in WATCHED:
        series = facts.series(name)
        if series is None or len(series) < FEWEST_POINTS:
            continue
        found = spikes(series, z=NOISE_UNITS, material=MATERIAL)
        start = series.steps[0] + BEGINNING * (series.steps[-1] - series.steps[0])
        late = [spike for spike in found.largest if spike.step > start and spike.z > 0]
        if not found.enough or len(late) < FEWEST or found.share > MOST:
            continue
        largest = max(late, key=lambda spike: spike.value)
        summary = (
            f"{series.logged_as} has {len(late)} spikes, the largest {largest.value:.3g} at step {largest.step:,.0f}: "
            f"{largest.relative:.3g} times the range of all other points; the return does not rise"
        )
        evidence = (
            facts.evidence(name, largest.relative, MATERIAL, note="distance from the course over the usual range"),
        )
        return RuleResult(Severity.WARNING, 0.6, summary, evidence, late[0].step)
    return None
