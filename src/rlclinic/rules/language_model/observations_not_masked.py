"""Tokens that a tool returned are trained on as if the model had said them.

What it sees: The run searches or calls tools, and the setting that takes retrieved tokens out of the loss is off.
Why it hurts: The model learns to predict text that it did not write; the policy gradient of such tokens is noise, and
runs become unstable.
Evidence needed: the settings of the search tool and of the mask.
Looks alike: Frameworks whose agent loop always masks (verl from 0.4 on, TRL): they have no such setting.
What to change: Turn the mask on: actor_rollout_ref.actor.state_masking=true in Search-R1.
References: Jin et al. 2025 (Search-R1, arXiv 2503.09516), retrieved token masking.
"""

from __future__ import annotations

from rlclinic.facts.language_model import is_progressing, told
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.settings import setting_evidence
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleResult

RULE = Rule(
    "LMR17",
    needs=("config:mask_observations", "config:do_search"),
    algorithms=("language-model", "ppo"),
    step=DecisionStep.ENVIRONMENT,
    causes={"observation-tokens-trained": 5.0},
)


def check(facts: RunFacts) -> RuleResult | None:
    """Look at the two settings, and at whether masked tokens are logged after all."""
    config = facts.run.config
    if config.get("do_search") is not True or config.get("mask_observations") is not False:
        return None
    if facts.series("state_tokens") is not None:
        return None
    setting = config.settings["mask_observations"]
    how = "left off" if setting.is_default else "off"
    summary = f"{setting.native_key} is {how} in a run that searches: retrieved tokens are trained on; {told(facts)}"
    evidence = (setting_evidence(facts, "mask_observations", 0.0, 1.0, note="mask of retrieved tokens"),)
    severity = Severity.INFO if is_progressing(facts) else Severity.WARNING
    return RuleResult(severity, 0.8, summary, evidence)
