"""Exploration is over before anything was learned.

What it sees: Epsilon is at its end value within the first 2% of the run, or before the first update, and the return
has not risen by the end.
Why it hurts: The agent repeats the first policy it had; a Q function fitted to that data never learns what other
actions are worth.
Evidence needed: epsilon with its step axis, and a return. learning_starts and the budget where the config has them.
Looks alike: A task that needs little exploration: the return rises all the same. Noisy networks, which explore
without epsilon. Random actions before learning starts.
What to change: Let epsilon fall over 10 to 30% of the budget, counted from the first update; keep 0.01 to 0.1 at the
end.
References: SB3 DQN `exploration_fraction` 0.1; DRLinter's rule SuboptimalExploration.
"""

from __future__ import annotations

import numpy as np

from rlclinic.facts.goal_status import failed
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.settings import positive, setting_evidence
from rlclinic.model.finding import Severity
from rlclinic.model.series import Series
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult
from rlclinic.signals._robust import median

RULE = Rule(
    "OFF09",
    needs=("epsilon|config:exploration_fraction|config:exploration_steps", "return/train|return/eval"),
    algorithms=("q-learning",),
    step=DecisionStep.EXPLORATION,
)


class Limits(RuleLimits):
    at_once: float = 0.02
    """Share of the run within which epsilon has fallen."""
    still_explores: float = 0.2
    """Above this nobody calls it the end of exploration."""
    fewest_points: int = 12


LIMITS = Limits()
NOISY_NETWORKS = frozenset({"RAINBOW"})


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Find the step at which epsilon is down, and hold it against the run and the first update."""
    epsilon, run = facts.series("epsilon"), facts.run
    whole = max(run.env_steps or 0.0, run.budget or 0.0)
    if epsilon is not None and epsilon.axis != "env_steps":
        # Episodes or updates tell the share of the run as well.
        whole = float(epsilon.steps[-1])
    if run.algorithm.upper() in NOISY_NETWORKS or not failed(facts) or whole <= 0:
        return None
    starts = positive(facts, "learning_starts") or 0.0
    ended = _logged_end(epsilon, limits) if epsilon is not None else _configured_end(facts, whole, limits)
    if ended is None or starts >= 0.5 * whole:
        return None
    bar = max(limits.at_once * whole, starts)
    if ended > bar:
        return None
    curve = facts.curve
    beside = f"; the return went from {curve.start:.4g} to {curve.final:.4g}" if curve is not None else ""
    first = f", before the first update at step {starts:,.0f}" if ended <= starts else ""
    summary = (
        f"epsilon has reached its final value by step {ended:,.0f}, after {100 * ended / whole:.2g}% of the run"
        f"{first}{beside}"
    )
    note = "step at which epsilon is down, against the larger of 2% of the run and learning_starts"
    found = (
        facts.evidence("epsilon", ended, bar, note=note)
        if epsilon is not None
        else setting_evidence(facts, "exploration_fraction", ended, bar, note=note)
    )
    return RuleResult(Severity.WARNING, 0.6, summary, (found,), ended)


def _logged_end(epsilon: Series, limits: Limits) -> float | None:
    """First step from which on epsilon stays within a tenth of its range of its last value."""
    if len(epsilon) < limits.fewest_points:
        return None
    values = epsilon.values
    last = median(values[-max(1, len(epsilon) // 10) :])
    if last > limits.still_explores or not np.isfinite(last):
        return None
    reach = max(0.1 * float(np.nanmax(values) - last), 1e-9)
    outside = np.flatnonzero(~(np.abs(values - last) <= reach))
    if not outside.size:
        return 0.0
    return float(epsilon.steps[min(int(outside[-1]) + 1, len(epsilon) - 1)])


def _configured_end(facts: RunFacts, whole: float, limits: Limits) -> float | None:
    fraction, end = positive(facts, "exploration_fraction"), facts.setting("exploration_final")
    if fraction is None or end is None or end > limits.still_explores:
        return positive(facts, "exploration_steps")
    return fraction * (facts.run.budget or whole)
