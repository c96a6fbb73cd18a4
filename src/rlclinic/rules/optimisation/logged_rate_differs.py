"""The learning rate in force is far from the one configured.

What it sees: A rate that the config sets and a logged rate that never comes within a factor of three of it; or an
adaptive schedule that sits at a tenth of the configured rate, or less, for the last half of the run.
Why it hurts: The run is not the experiment it was meant to be: a key was dropped, overridden or rescaled. An adaptive
schedule at its floor means that each update moves the policy more than its KL target wants.
Evidence needed: learning_rate as logged, and set by the user in the config.
Looks alike: Decay and warm-up, which pass through the configured rate. Defaults that the framework fills in. Rates
printed with too few decimals.
What to change: Find out which file or flag won. With an adaptive schedule at its floor: fewer epochs, larger batches,
or a larger KL target.
References: rsl_rl adaptive schedule (bounds 1e-5 to 1e-2, factor 1.5).
"""

from __future__ import annotations

import numpy as np

from rlclinic.facts.goal_status import failed
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.settings import positive, setting_evidence
from rlclinic.facts.stretch import rounding
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult
from rlclinic.signals._robust import median

RULE = Rule("OPT06", needs=("learning_rate", "config:learning_rate"))


class Limits(RuleLimits):
    far: float = 3.0
    """Factor between configured and logged rate."""
    at_floor: float = 0.1
    """An adaptive schedule at or below this share of the configured rate."""
    fewest_points: int = 5


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare the range of logged rates with the configured one."""
    rate, configured = facts.series("learning_rate"), positive(facts, "learning_rate")
    setting = facts.run.config.settings.get("learning_rate")
    if rate is None or configured is None or setting is None or setting.is_default or len(rate) < limits.fewest_points:
        return None
    values = rate.values[np.isfinite(rate.values)]
    if rounding(rate) > configured / limits.far:
        return None
    if "adaptive" in str(facts.run.config.get("learning_rate_schedule") or "").lower():
        return _adaptive(facts, configured, limits)
    top, start = float(values.max()), median(values[: max(3, values.size // 10)])
    still_warming = bool(positive(facts, "warmup")) and int(values.argmax()) >= values.size - 2
    if still_warming or (top >= configured / limits.far and start <= configured * limits.far):
        return None
    shown = top if top < configured / limits.far else start
    summary = (
        f"{rate.logged_as} is {shown:.3g} at its {'highest' if shown == top else 'start'}, the config sets "
        f"{setting.native_key} = {configured:.3g}"
    )
    evidence = (
        facts.evidence("learning_rate", shown, configured, note="logged, against the configured rate"),
        setting_evidence(facts, "learning_rate", configured, note="configured"),
    )
    return RuleResult(Severity.WARNING, 0.7, summary, evidence)


def _adaptive(facts: RunFacts, configured: float, limits: Limits) -> RuleResult | None:
    late = facts.late("learning_rate", 0.5)
    if late is None or late.value > limits.at_floor * configured:
        return None
    bad = failed(facts)
    summary = (
        f"the adaptive learning rate is {late.value:.3g} over the last half, {100 * late.value / configured:.2g}% of "
        f"the configured {configured:.3g}: each update moves the policy more than the KL target wants"
    )
    evidence = (facts.evidence("learning_rate", late.value, limits.at_floor * configured, level=late, note="median"),)
    return RuleResult(Severity.WARNING if bad else Severity.INFO, 0.6, summary, evidence)
