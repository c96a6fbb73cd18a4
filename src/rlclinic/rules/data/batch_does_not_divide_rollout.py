"""The batch size does not divide the rollout.

What it sees: n_steps times environments (or the rollout size) is no multiple of the batch size, or is smaller than
it.
Why it hurts: gymnasium-solver refuses to train. Others use a last minibatch of a few samples, whose normalised
advantages and gradients are noise, or drop the rest of the data.
Evidence needed: batch_size, and n_steps with n_envs or the rollout size, in the config.
Looks alike: Batch sizes given as a share of the rollout, which always divide it. Frameworks that count minibatches.
What to change: Choose a batch size that divides n_steps times n_envs.
References: SB3's warning on a truncated mini-batch of size 1; gymnasium-solver utils/dataloaders.py.
"""

from __future__ import annotations

from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.settings import positive, setting_evidence
from rlclinic.facts.update_count import rollout
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult

RULE = Rule(
    "DAT02", needs=("config:batch_size", "config:n_steps|config:rollout_size"), algorithms=("ppo", "actor-critic")
)

# Frameworks that stop with an error, and those that go on with a remainder.
REFUSES = frozenset({"gymnasium-solver", "rlclinic"})
GOES_ON = frozenset({"sb3", "sb3-zoo", "mlagents", "openai-baselines"})


class Limits(RuleLimits):
    stub: float = 0.25
    """A last minibatch below this share of a whole one is the case that SB3 warns about."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Divide the rollout by the batch size."""
    framework = facts.run.framework
    size, whole = positive(facts, "batch_size"), rollout(facts)
    if size is None or whole is None or framework not in REFUSES | GOES_ON:
        return None
    if not facts.is_on_policy or facts.is_language_model or size <= 1.0:
        return None
    rest = whole % size
    if rest == 0:
        return None
    refuses = framework in REFUSES
    if size > whole:
        text = f"the batch size {size:.0f} is larger than the rollout of {whole:.0f} samples"
    else:
        text = f"the batch size {size:.0f} does not divide the rollout of {whole:.0f} samples: {rest:.0f} are left over"
    ending = f"; {framework} refuses such a config" if refuses else ""
    evidence = (setting_evidence(facts, "batch_size", rest, 0.0, note="rollout modulo batch size"),)
    if refuses:
        return RuleResult(Severity.ERROR, 0.95, text + ending, evidence)
    return RuleResult(Severity.INFO, 0.6 if rest < limits.stub * size else 0.4, text, evidence)
