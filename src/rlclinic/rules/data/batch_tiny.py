"""Each gradient step sees only a few samples.

What it sees: Fewer than 16 samples per gradient step.
Why it hurts: The direction of a step is mostly noise, and advantages normalised over so few samples are noise as
well.
Evidence needed: batch_size in the config (or rollout and minibatches).
Looks alike: Small tasks learn with tiny batches: without a poor return it is a note. A2C with one environment uses
its whole rollout of 5 samples by design. Prompts or groups of language models are not samples.
What to change: At least 32 to 64 samples per step, or a learning rate that is lower by the same factor.
References: McCandlish et al. 2018 (arXiv 1812.06162) on the noise scale of gradients.
"""

from __future__ import annotations

from rlclinic.facts.goal_status import failed
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.settings import positive, setting_evidence
from rlclinic.facts.update_count import batch
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult

RULE = Rule("DAT05", needs=("config:batch_size|config:rollout_size|config:n_steps",))


class Limits(RuleLimits):
    tiny: float = 16.0
    """Samples per gradient step."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Look at the samples per gradient step."""
    if facts.is_language_model:
        return None
    size = batch(facts) if facts.is_on_policy else positive(facts, "batch_size")
    if size is None or size >= limits.tiny:
        return None
    bad = failed(facts)
    summary = f"each gradient step sees {size:.3g} samples"
    key = "batch_size" if "batch_size" in facts.run.config else "rollout_size"
    evidence = (setting_evidence(facts, key, size, limits.tiny, note="samples per gradient step"),)
    return RuleResult(Severity.WARNING if bad else Severity.INFO, 0.45 if bad else 0.3, summary, evidence)
