"""Fewer updates ran than the config implies, or they stopped.

What it sees: An update counter below half of what steps, rollout size and epochs imply; or losses that are no longer
logged for the last fifth of the run, or more, while episodes go on.
Why it hurts: The rest of the run only collects data. The usual reason is a target KL that ends every pass early, or
that latches and never lets go.
Evidence needed: updates with a config, or losses and a return over the same steps.
Looks alike: Counters that count rollouts or epochs (allowed for). A resumed run whose counter began again. Losses
that are logged less often than returns.
What to change: Remove or raise target_kl; check learning_starts and train_freq; look for skipped updates (NaN
guards).
References: gymnasium-solver, whose target KL latches; SB3 PPO `train/n_updates` counts passes.
"""

from __future__ import annotations

import numpy as np

from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.settings import positive, setting_evidence
from rlclinic.facts.stretch import finite
from rlclinic.facts.update_count import expected_updates, rollout
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult
from rlclinic.signals._robust import median

RULE = Rule("DAT06", needs=("updates|policy_loss|value_loss|loss",))


class Limits(RuleLimits):
    missing: float = 0.5
    """Logged over implied updates."""
    silent: float = 0.2
    """Share of the run after the last loss."""
    louder: float = 10.0
    """The gap must also be this many times the usual distance of losses."""
    fewest_points: int = 12
    fewest_losses: int = 2


LIMITS = Limits()
# Frameworks whose counter is known to count gradient steps (off-policy) or passes (PPO) of one process.
COUNTERS = frozenset({"sb3", "sb3-zoo"})
LOSSES = ("policy_loss", "value_loss", "loss", "approx_kl")


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """A counter that is too low is said first, then losses that ended early."""
    return _counter(facts, limits) or _silence(facts, limits)


def made_and_implied(facts: RunFacts, limits: Limits = LIMITS) -> tuple[float, float] | None:
    """Updates that the counter shows and that the config implies; None where either cannot be known."""
    updates = facts.series("updates")
    if updates is None or facts.run.framework not in COUNTERS or len(updates) < limits.fewest_points:
        return None
    steps, counts = finite(updates)
    if updates.axis != "env_steps" or bool(np.any(np.diff(counts) < 0)):
        return None
    implied = _implied(facts, float(steps[0]), float(steps[-1]))
    if implied is None or implied < limits.fewest_points:
        return None
    return float(counts[-1] - counts[0]), implied


def _counter(facts: RunFacts, limits: Limits) -> RuleResult | None:
    updates, counted = facts.series("updates"), made_and_implied(facts, limits)
    if updates is None or counted is None:
        return None
    made, implied = counted
    if made >= limits.missing * implied:
        return None
    summary = (
        f"{updates.logged_as} rose by {made:,.0f} over {updates.steps[-1] - updates.steps[0]:,.0f} steps; the config "
        f"implies {implied:,.0f}"
    )
    stop = facts.setting("target_kl")
    evidence = [facts.evidence("updates", made / implied, limits.missing, note="logged over implied updates")]
    if stop is not None:
        evidence.append(setting_evidence(facts, "target_kl", stop, note="ends passes early"))
    return RuleResult(Severity.WARNING, 0.7, summary, tuple(evidence), float(updates.steps[0]))


def _implied(facts: RunFacts, first: float, last: float) -> float | None:
    """Updates in the unit of the counter between two steps."""
    if facts.is_off_policy:
        before, after = expected_updates(facts, first), expected_updates(facts, last)
        return after - before if before is not None and after is not None else None
    whole = rollout(facts)
    if whole is None:
        return None
    passes = positive(facts, "n_epochs") if "ppo" in facts.families else 1.0
    return None if passes is None else (last - first) / whole * passes


def _silence(facts: RunFacts, limits: Limits) -> RuleResult | None:
    returns = facts.series("return/train")
    losses = [s for s in (facts.series(name) for name in LOSSES) if s is not None and len(s) >= limits.fewest_losses]
    losses = [s for s in losses if returns is not None and s.axis == returns.axis]
    if returns is None or not losses or len(returns) < limits.fewest_points:
        return None
    longest = max(losses, key=lambda series: float(series.steps[-1]))
    last, end = float(longest.steps[-1]), float(returns.steps[-1])
    usual = median(np.diff(longest.steps)) if len(longest) > 2 else last / len(longest)
    gap = end - last
    if gap <= 0 or gap < limits.silent * end or gap < limits.louder * usual:
        return None
    after = int(np.sum(returns.steps > last))
    summary = (
        f"no loss is logged after step {last:,.0f} ({longest.logged_as}) while {after} more returns follow up to step "
        f"{end:,.0f}: the updates stopped"
    )
    evidence = (facts.evidence(longest.name, gap / end, limits.silent, note="share of the run after the last loss"),)
    return RuleResult(Severity.ERROR, 0.8, summary, evidence, last)
