"""The policy runs away from its reference while the score falls.

What it sees: The KL to the reference is several times its early level, far from where it began, and the score falls.
Why it hurts: Far from the reference the text degenerates, and rewards, advantages and gradients with it.
Evidence needed: kl_ref and the score with at least 12 points each.
Looks alike: KL that grows from zero while the score rises: that is learning; single spikes of an estimator with heavy
tails.
What to change: Lower the learning rate first; then raise the KL coefficient in steps of two, or go back to the last
good checkpoint and add a KL loss.
References: PeterGriffinJin/Search-R1#88, #89; huggingface/open-r1#257; Schulman 2020, approximating KL.
"""

from __future__ import annotations

import numpy as np

from rlclinic.facts.growth import growth
from rlclinic.facts.language_model import is_falling, told
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.stretch import finite, lasting_from, moving_median
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult

RULE = Rule("LMR05", needs=("kl_ref", "return/train"), algorithms=("language-model", "ppo"))


class Limits(RuleLimits):
    grew: float = 3.0
    """Late over early KL."""
    far: float = 0.1
    """Nats per token. Every run that learns leaves its reference by hundredths; from here on the text differs."""


LIMITS = Limits()
# Points that a dip of a noisy estimator may last.
SMOOTHED = 5


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare the growth of the KL with the score."""
    series = facts.series("kl_ref")
    grown = growth(series)
    if series is None or grown is None or grown.factor < limits.grew or not is_falling(facts):
        return None
    if grown.late.value < limits.far:
        return None
    summary = (
        f"{series.logged_as} grew {grown.factor:.3g} times, from {grown.early.value:.3g} to {grown.late.value:.3g}, "
        f"while {told(facts)}"
    )
    evidence = (
        facts.evidence(
            "kl_ref", grown.factor, limits.grew, level=grown.late, note="late over early KL to the reference"
        ),
    )
    steps, sizes = finite(series)
    beyond = moving_median(np.abs(sizes), SMOOTHED) >= max(limits.grew * grown.early.value, limits.far)
    onset = min(lasting_from(steps, beyond) or grown.onset_step, grown.onset_step)
    return RuleResult(Severity.WARNING, 0.75, summary, evidence, onset)
