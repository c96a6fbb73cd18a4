"""Hyperparameters lie far from those of working configs.

What it sees: Values that the user set are more than two spreads, and so a factor of five at least, away from the middle
of published working configs of the same algorithm, and from the one for this environment.
Why it hurts: It need not. Unusual values work where the task asks for them; a value alone is never a cause, only a
place to look at when a symptom points there.
Evidence needed: a config with numbers, of an algorithm with reference configs (PPO, A2C, DQN, SAC, TD3 and their kin).
Looks alike: Thousands of parallel environments, where batches are large by right; values tuned for this very task.
What to change: Nothing without a symptom. With one, try the reference value first.
References: RL Baselines3 Zoo, hyperparams/*.yml at 22e3ff2; Stable-Baselines3 defaults.
"""

from __future__ import annotations

from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.settings import setting_evidence
from rlclinic.facts.unusual_settings import domain_of, unusual
from rlclinic.facts.update_count import rollout
from rlclinic.model.finding import Severity
from rlclinic.reference.usual import Basis, Unusual, how_unusual
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult

RULE = Rule("CFG01", needs=("config:learning_rate|config:gamma|config:batch_size",))


class Limits(RuleLimits):
    spreads: float = 2.0
    """Spreads of working configs, of at least 0.35 decades each."""
    shown: int = 5


LIMITS = Limits()
# Minibatches per rollout within which an on-policy batch is usual, however many environments fill the rollout.
USUAL_MINIBATCHES = (1.0, 64.0)
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


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Measure every comparable number in spreads of working configs."""
    found = [(name, away) for name in COMPARED if (away := _distant(facts, name, limits)) is not None]
    if not found:
        return None
    found.sort(key=lambda item: -abs(item[1].spreads))
    shown = found[: limits.shown]
    listed = ", ".join(
        f"{_key(facts, name)} {facts.setting(name):.3g} (usual {away.usual:.3g})" for name, away in shown
    )
    more = f" and {len(found) - limits.shown} more" if len(found) > limits.shown else ""
    summary = f"far from working {facts.run.algorithm} configs: {listed}{more}"
    note = "spreads of working configs from their centre"
    evidence = tuple(setting_evidence(facts, name, away.spreads, limits.spreads, note=note) for name, away in shown)
    return RuleResult(Severity.INFO, 0.9, summary, evidence)


def _distant(facts: RunFacts, name: str, limits: Limits) -> Unusual | None:
    setting, value = facts.run.config.settings.get(name), facts.setting(name)
    if setting is None or value is None or value <= 0 or setting.is_default:
        return None
    if name == "batch_size" and _is_usual_batch(facts, value):
        return None
    run = facts.run
    for_task = unusual(facts, name, value)
    for_all = how_unusual(name, value, algorithm=run.algorithm, domain=domain_of(facts))
    if for_task is None or for_all is None or for_all.usual is None or for_all.basis is Basis.DEFAULT:
        return None
    return for_all if min(abs(for_task.spreads), abs(for_all.spreads)) > limits.spreads else None


def _is_usual_batch(facts: RunFacts, size: float) -> bool:
    whole = rollout(facts)
    return whole is not None and facts.is_on_policy and USUAL_MINIBATCHES[0] <= whole / size <= USUAL_MINIBATCHES[1]


def _key(facts: RunFacts, name: str) -> str:
    setting = facts.run.config.settings[name]
    return setting.native_key.rpartition(".")[2] if " " not in setting.native_key else name
