"""The KL to the reference counts twice, or its term has no weight.

What it sees: The KL is both inside the reward and a loss of its own; or the loss is on with a coefficient of zero.
Why it hurts: Two penalties act on the same thing with different estimators, and tuning one does not show what the other
does. A coefficient of zero costs a forward pass of the reference and does nothing.
Evidence needed: the settings of the two paths.
Looks alike: Runs without any KL term on purpose (DAPO, Dr.GRPO).
What to change: Keep one of them: for GRPO the loss (use_kl_loss) with a coefficient near 0.001.
References: verl documentation, GRPO; verl 0.4 warns of it too.
"""

from __future__ import annotations

from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.settings import setting_evidence
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import Rule, RuleResult

RULE = Rule(
    "LMR19",
    needs=("config:use_kl_loss",),
    algorithms=("language-model", "ppo"),
    causes={"kl-penalty-too-strong": 0.6},
)


def check(facts: RunFacts) -> RuleResult | None:
    """Look at the two switches and the weight of the loss."""
    config = facts.run.config
    if config.get("use_kl_loss") is not True:
        return None
    key = config.settings["use_kl_loss"].native_key
    if config.get("use_kl_in_reward") is True:
        summary = f"{key} is on and the KL is inside the reward as well: it counts twice"
        evidence = (setting_evidence(facts, "use_kl_loss", 2.0, 1.0, note="KL terms"),)
        return RuleResult(Severity.WARNING, 0.8, summary, evidence)
    if facts.setting("kl_loss_coef") == 0.0:
        summary = f"{key} is on with a coefficient of 0: it costs time and does nothing"
        evidence = (setting_evidence(facts, "kl_loss_coef", 0.0, note="weight of the loss"),)
        return RuleResult(Severity.INFO, 0.9, summary, evidence)
    return None
