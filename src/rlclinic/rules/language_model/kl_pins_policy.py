"""The KL penalty holds the policy at its reference, and the score does not improve.

What it sees: A KL coefficient far above those in use, a KL to the reference that stays tiny, and a score that does not
rise.
Why it hurts: Any step away from the reference costs more than it earns, so nothing is learned.
Evidence needed: the KL to the reference and the score with at least 12 points, and the KL coefficient.
Looks alike: A learning rate too small to move at all, where the coefficient is ordinary; a score near its ceiling.
What to change: Lower the coefficient by a factor of ten; 0.001 to 0.05 is common, and DAPO and Dr.GRPO do without.
References: Ziegler et al. 2019 (arXiv 1909.08593); Yu et al. 2025 (DAPO, arXiv 2503.14476); defaults of verl and TRL.
"""

from __future__ import annotations

from rlclinic.facts.language_model import change, is_near_ceiling, is_progressing, told
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.settings import setting_evidence
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "LMR14",
    needs=("kl_ref", "return/train", "config:kl_loss_coef|config:kl_coef"),
    algorithms=("language-model", "ppo"),
    step=DecisionStep.UPDATE_SIZE,
    causes={"kl-penalty-too-strong": 4.0},
)
COEFFICIENTS = ("kl_loss_coef", "kl_coef")


class Limits(RuleLimits):
    strong: float = 0.2
    """A coefficient four times the largest default in use (TRL's 0.05)."""
    tiny: float = 0.01
    """Nats: a policy that close to its reference says nearly the same everywhere."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Look at the coefficient, then at how far the policy went."""
    levels = change(facts, "kl_ref")
    if levels is None or is_progressing(facts) or is_near_ceiling(facts):
        return None
    strong = [key for key in COEFFICIENTS if (facts.setting(key) or 0.0) >= limits.strong]
    late = levels[1]
    if not strong or not 0.0 <= late.value <= limits.tiny:
        return None
    key, value = strong[0], facts.setting(strong[0]) or 0.0
    summary = f"with a KL coefficient of {value:.3g} the KL to the reference is {late.value:.2g} nats; {told(facts)}"
    evidence = (
        facts.evidence("kl_ref", late.value, limits.tiny, level=late, note="median of the last 15%, in nats"),
        setting_evidence(facts, key, value, limits.strong, note="KL coefficient"),
    )
    return RuleResult(Severity.WARNING, 0.7, summary, evidence)
