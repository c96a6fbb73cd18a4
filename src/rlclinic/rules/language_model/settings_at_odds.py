"""Settings of a language-model run contradict each other, or leave something switched off that seems to be on.

What it sees: A KL loss that is on with a weight of zero; mini-batches larger than the batch of prompts; sampling that
is cut (top-p), whose probabilities the trainer does not know; a setting that a shell variable left empty.
Why it hurts: Each is legal and silent. What was meant does not happen, or the ratio compares two distributions.
Evidence needed: the config.
Looks alike: Runs without any KL on purpose (DAPO, Dr.GRPO); cut sampling at validation only.
What to change: Say what is meant: switch the KL loss off or give it a weight, let the mini-batch divide the batch,
sample with top-p 1 in training, and give the empty setting a value.
References: verl documentation, ppo_trainer configuration; huggingface/trl PR #3867; Search-R1 train_grpo.sh.
"""

from __future__ import annotations

from rlclinic.facts.language_model import is_progressing, training
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.settings import setting_evidence
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleResult

RULE = Rule(
    "LMR30",
    needs=("config:group_size|config:use_kl_loss|config:top_p|config:prompts_per_batch",),
    algorithms=("language-model", "ppo"),
    step=DecisionStep.UPDATE_SIZE,
    causes={"config-not-applied": 1.2, "sampler-trainer-mismatch": 0.4},
)


def check(facts: RunFacts) -> RuleResult | None:
    """Collect what does not go together."""
    found = {**_kl_without_weight(facts), **_batches(facts), **_cut_sampling(facts), **_empty(facts)}
    if not found:
        return None
    severity = Severity.INFO if training(facts) is None or is_progressing(facts) else Severity.WARNING
    only_sampling = set(found) == {"top_p"}
    evidence = tuple(
        setting_evidence(
            facts, key, facts.setting(key) or 0.0, note="empty" if facts.setting(key) is None else "setting"
        )
        for key in found
    )
    return RuleResult(Severity.INFO if only_sampling else severity, 0.6, "; ".join(found.values()), evidence)


def _kl_without_weight(facts: RunFacts) -> dict[str, str]:
    if facts.run.config.get("use_kl_loss") is not True or facts.setting("kl_loss_coef") != 0:
        return {}
    return {
        "kl_loss_coef": f"{_key(facts, 'use_kl_loss')} is on with {_key(facts, 'kl_loss_coef')} 0: no KL is trained"
    }


def _batches(facts: RunFacts) -> dict[str, str]:
    batch, small = facts.setting("prompts_per_batch"), facts.setting("mini_batch_size")
    # Search-R1 counts trajectories, not prompts.
    if not batch or not small or facts.run.framework == "search-r1" or small <= batch:
        return {}
    names = _key(facts, "mini_batch_size"), _key(facts, "prompts_per_batch")
    return {"mini_batch_size": f"{names[0]} {small:.0f} is larger than {names[1]} {batch:.0f}"}


def _cut_sampling(facts: RunFacts) -> dict[str, str]:
    share = facts.setting("top_p")
    if share is None or share >= 1.0 or facts.run.config.settings["top_p"].is_default:
        return {}
    return {"top_p": f"{_key(facts, 'top_p')} {share:g} cuts the samples; the trainer's probabilities are not cut"}


def _empty(facts: RunFacts) -> dict[str, str]:
    """Settings that were written down without a value."""
    settings = facts.run.config.settings.items()
    empty = {key: setting.native_key for key, setting in settings if setting.value == "" and not setting.is_default}
    return {key: f"{native} is empty: a shell variable that is not set?" for key, native in empty.items()}


def _key(facts: RunFacts, name: str) -> str:
    return facts.run.config.settings[name].native_key
