"""Hyperparameters lie far from those of working configs.

What it sees: Values that the user set are more than two spreads and more than a factor of five away from the centre of
published working configs of the same algorithm, and from the one for this environment.
Why it hurts: It need not. Unusual values work where the task asks for them; a value alone is never a cause, only a
place to look at when a symptom points there.
Evidence needed: a config with numbers, of an algorithm with reference configs (PPO, A2C, DQN, SAC, TD3 and their kin).
Looks alike: Thousands of parallel environments, where batches are large by right; values tuned for this very task.
What to change: Nothing without a symptom. With one, try the reference value first.
References: RL Baselines3 Zoo, hyperparams/*.yml at 22e3ff2; Stable-Baselines3 defaults.
"""

from __future__ import annotations

from dataclasses import dataclass

from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.settings import setting_evidence
from rlclinic.facts.update_count import rollout
from rlclinic.model.finding import Severity
from rlclinic.reference.tasks import log_position, reference_config, reference_spread
from rlclinic.rules.result import RuleResult
from rlclinic.rules.rule import Rule

RULE = Rule("CFG01", needs=("config:learning_rate|config:gamma|config:batch_size",))


@dataclass(frozen=True, slots=True)
class Limits:
    """What the rule judges by."""

    spreads: float = 2.0
    """Spreads (robust standard deviations in log10 over working configs), and the factor in log10 units."""
    factor: float = 0.699
    as_published: float = 0.4
    """Within this factor (log10 of 2.5) of the reference for the very environment a value is as published."""
    shown: int = 5


LIMITS = Limits()
# Minibatches per rollout within which an on-policy batch is usual, however many environments fill the rollout.
USUAL_MINIBATCHES = (1.0, 64.0)
# Settings that only language models have; the reference configs are not about them.
OF_LANGUAGE = ("max_response_length", "max_prompt_length", "prompts_per_batch", "group_size")
# Numbers whose size does not depend on the budget or on the machine.
COMPARED = (
    "learning_rate",
    "gamma",
    "gae_lambda",
    "clip_range",
    "ent_coef",
    "vf_coef",
    "max_grad_norm",
    "n_epochs",
    "batch_size",
    "buffer_size",
    "tau",
    "target_update_interval",
    "update_to_data",
    "exploration_final",
)


@dataclass(frozen=True, slots=True)
class Distant:
    """One hyperparameter far from the reference."""

    name: str
    value: float
    usual: float
    spreads: float


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Measure every comparable number in spreads of working configs."""
    if facts.is_language_model or _is_for_language(facts):
        return None
    found = [item for name in COMPARED if (item := _distant(facts, name, limits)) is not None]
    if not found:
        return None
    found.sort(key=lambda item: -abs(item.spreads))
    shown = found[: limits.shown]
    listed = ", ".join(f"{_key(facts, item.name)} {item.value:.3g} (usual {item.usual:.3g})" for item in shown)
    more = f" and {len(found) - limits.shown} more" if len(found) > limits.shown else ""
    summary = f"far from working {facts.run.algorithm} configs: {listed}{more}"
    evidence = tuple(
        setting_evidence(
            facts, item.name, item.spreads, limits.spreads, note="spreads of working configs from their centre"
        )
        for item in shown
    )
    return RuleResult(Severity.INFO, 0.9, summary, evidence)


def _is_for_language(facts: RunFacts) -> bool:
    return any(name in facts.run.config for name in OF_LANGUAGE)


def _distant(facts: RunFacts, name: str, limits: Limits) -> Distant | None:
    setting, value = facts.run.config.settings.get(name), facts.setting(name)
    centre = reference_spread(facts.run.algorithm).get(name)
    if setting is None or value is None or setting.is_default or centre is None:
        return None
    at = log_position(name, value)
    if (
        at is None
        or abs(at - centre[0]) <= max(limits.factor, limits.spreads * centre[1])
        or _published(facts, name, at, limits)
    ):
        return None
    if name == "batch_size" and _is_usual_batch(facts, value):
        return None
    usual = 1.0 - 10.0 ** centre[0] if name in ("gamma", "gae_lambda") else 10.0 ** centre[0]
    return Distant(name, value, usual, (at - centre[0]) / centre[1])


def _published(facts: RunFacts, name: str, at: float, limits: Limits) -> bool:
    own = reference_config(facts.run.environment, facts.run.algorithm).get(name)
    if isinstance(own, bool) or not isinstance(own, int | float):
        return False
    place = log_position(name, float(own))
    return place is not None and abs(at - place) <= limits.as_published


def _is_usual_batch(facts: RunFacts, size: float) -> bool:
    whole = rollout(facts)
    return whole is not None and facts.is_on_policy and USUAL_MINIBATCHES[0] <= whole / size <= USUAL_MINIBATCHES[1]


def _key(facts: RunFacts, name: str) -> str:
    setting = facts.run.config.settings[name]
    return setting.native_key.rpartition(".")[2] if " " not in setting.native_key else name
