"""Settings of a language-model run contradict each other, or leave something switched off that seems to be on.

What it sees: Mini-batches larger than the batch of prompts; sampling at temperature 0, or cut (top-p) in a way that the
trainer's probabilities do not know; clip bounds that leave the ratio no room upwards, or more room down than up; a part
of the reward with a weight of zero; a setting that a shell variable left empty.
Why it hurts: Each is legal and silent. What was meant does not happen, or the ratio compares two distributions.
Evidence needed: the config.
Looks alike: A part of the reward that is logged on purpose without a weight; cut sampling at validation only.
What to change: Say what is meant: let the mini-batch divide the batch, sample at temperature 1 with top-p 1, clip
at 0.2 below and 0.2 to 0.28 above, and give the empty setting or the unpaid part a value.
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
    needs=("config:group_size|config:use_kl_loss|config:top_p|config:prompts_per_batch|config:temperature",),
    algorithms=("language-model", "ppo"),
    step=DecisionStep.UPDATE_SIZE,
    causes={"config-not-applied": 1.2, "sampler-trainer-mismatch": 0.4},
)


def check(facts: RunFacts) -> RuleResult | None:
    """Collect what does not go together. Training on examples samples, clips and groups nothing."""
    if facts.run.returns is None and "loss/supervised" in facts.run:
        return None
    parts = (_batches, _sampling, _clip_bounds, _unpaid_parts, _empty)
    found = {key: words for part in parts for key, words in part(facts).items()}
    if not found:
        return None
    severity = Severity.INFO if training(facts) is None or is_progressing(facts) else Severity.WARNING
    harmless_alone = set(found) <= {"top_p", "reward_weights"}
    evidence = tuple(
        setting_evidence(
            facts, key, facts.setting(key) or 0.0, note="empty" if facts.setting(key) is None else "setting"
        )
        for key in found
    )
    return RuleResult(Severity.INFO if harmless_alone else severity, 0.6, "; ".join(found.values()), evidence)


def _batches(facts: RunFacts) -> dict[str, str]:
    batch, small = facts.setting("prompts_per_batch"), facts.setting("mini_batch_size")
    # Search-R1 counts trajectories in a mini-batch, not prompts.
    each = (facts.setting("group_size") or 1.0) if facts.run.framework == "search-r1" else 1.0
    if not batch or not small or small <= each * batch:
        return {}
    names = _key(facts, "mini_batch_size"), _key(facts, "prompts_per_batch")
    times = f" x {each:.0f} responses" if each > 1.0 else ""
    return {"mini_batch_size": f"{names[0]} {small:.0f} is larger than {names[1]} {batch:.0f}{times}"}


def _sampling(facts: RunFacts) -> dict[str, str]:
    heat, share = facts.setting("temperature"), facts.setting("top_p")
    found = {}
    if heat == 0.0:
        found["temperature"] = f"{_key(facts, 'temperature')} is 0: all responses to a prompt are the same"
    if share is not None and share < 1.0 and not facts.run.config.settings["top_p"].is_default:
        found["top_p"] = f"{_key(facts, 'top_p')} {share:g} cuts the samples; the trainer's probabilities are not cut"
    return found


def _clip_bounds(facts: RunFacts) -> dict[str, str]:
    """The bounds are distances from a ratio of 1."""
    high = facts.setting("clip_range_high")
    low = facts.setting("clip_range_low")
    low = facts.setting("clip_range") if low is None else low
    if high is None or facts.run.config.settings["clip_range_high"].is_default:
        return {}
    key = _key(facts, "clip_range_high")
    if high <= 0.0:
        return {"clip_range_high": f"{key} {high:g} lets no probability rise"}
    if low is not None and high < low:
        return {
            "clip_range_high": f"{key} {high:g} is below the lower bound {low:g}: probabilities fall more than rise"
        }
    return {}


def _unpaid_parts(facts: RunFacts) -> dict[str, str]:
    weights = facts.run.config.get("reward_weights")
    if not isinstance(weights, (list, tuple)) or not any(weights) or all(weights):
        return {}
    unpaid = sum(weight == 0 for weight in weights)
    return {"reward_weights": f"{_key(facts, 'reward_weights')} gives {unpaid} of {len(weights)} parts no weight"}


def _empty(facts: RunFacts) -> dict[str, str]:
    """Settings that were written down without a value."""
    settings = facts.run.config.settings.items()
    empty = {key: setting.native_key for key, setting in settings if setting.value == "" and not setting.is_default}
    return {key: f"{native} is empty: a shell variable that is not set?" for key, native in empty.items()}


def _key(facts: RunFacts, name: str) -> str:
    return facts.run.config.settings[name].native_key
