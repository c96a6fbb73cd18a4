"""A key of the config is not one of the framework's and was silently dropped.

What it sees: The config sets a hyperparameter under a name that other frameworks use and this one does not, in a
framework that drops unknown keys without a word.
Why it hurts: The run trains with the default instead of the value that stands in the file, and the file says
otherwise.
Evidence needed: the config of a framework that drops unknown keys and whose keys are all known (gymnasium-solver).
Looks alike: Keys for other tools in the same file; only names that mean a hyperparameter are counted.
What to change: Rename the key to the framework's own and check the value that the run logs.
References: gymnasium-solver utils/config.py at a80484c3: build_from_dict filters; its own ALE-Breakout-v5 sets
learning_rate, which is ignored.
"""

from __future__ import annotations

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.config import Setting
from rlclinic.model.finding import Evidence, Severity
from rlclinic.reference.framework import framework
from rlclinic.rules.rule import Rule, RuleResult

RULE = Rule("CFG03")

FRAMEWORK = "gymnasium-solver"
# Fields of its Config that its table of hyperparameters does not name.
OTHER_FIELDS = frozenset(
    {
        "project_id", "description", "spec", "seed_train", "seed_val", "seed_test", "env_kwargs", "vectorization_mode",
        "grayscale_obs", "resize_obs", "obs_type", "normalize_returns", "policy_targets", "eval_warmup_epochs",
        "eval_freq_epochs", "early_stop_on_train_threshold", "early_stop_on_eval_threshold", "devices", "quiet",
        "enable_wandb", "plateau_interventions", "init_from_run", "advantages_type", "config_id", "run_id",
    }
)  # fmt: skip
# What its REINFORCE has no field for.
NOT_OF_REINFORCE = frozenset({"gae_lambda", "clip_range", "clip_range_vf", "vf_coef", "normalize_advantages"})


def check(facts: RunFacts) -> RuleResult | None:
    """Find keys that mean a hyperparameter elsewhere and nothing here."""
    if facts.run.framework != FRAMEWORK:
        return None
    algorithm = facts.run.algorithm
    dropped = [setting for key, setting in facts.run.config.native.items() if _is_dropped(key, algorithm)]
    if not dropped:
        return None
    listed = "; ".join(
        f"{setting.native_key} = {setting.value}{_instead(setting.native_key)}" for setting in dropped[:3]
    )
    summary = f"{FRAMEWORK} drops keys that it does not know: {listed}"
    evidence = tuple(
        Evidence(_meaning(setting.native_key), setting.native_key, _number(setting), note="set under an unknown key")
        for setting in dropped
    )
    return RuleResult(Severity.WARNING, 0.85, summary, evidence)


def _is_dropped(key: str, algorithm: str) -> bool:
    if key.startswith("_") or key in OTHER_FIELDS or "." in key or "_schedule" in key:
        return False
    if algorithm == "REINFORCE" and key in NOT_OF_REINFORCE:
        return True
    return framework(FRAMEWORK).hyperparameters.find(key) is None and bool(_meaning(key))


def _meaning(key: str) -> str:
    """The canonical hyperparameter that a key means in other frameworks; empty if none."""
    found = framework("common").hyperparameters.find(key)
    return found[1][0].name if found is not None else ""


def _instead(key: str) -> str:
    own = framework(FRAMEWORK).hyperparameters
    for candidate in own:
        found = own.find(candidate)
        if candidate != key and found is not None and found[1][0].name == _meaning(key):
            return f" (its own key is {candidate})"
    return ""


def _number(setting: Setting) -> float:
    value = setting.value
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else float("nan")
