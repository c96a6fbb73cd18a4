"""A number of the config is text, as in the YAML value 1e-3.

What it sees: A hyperparameter that is meant to be a number holds a text that looks like one. YAML 1.1, which PyYAML
reads, takes 1e-3 for text and 1.0e-3 for a number; command-line overrides often stay text as well.
Why it hurts: The optimiser refuses a text (TypeError), or a comparison with it is wrong without a word.
Evidence needed: a config file that keeps types (YAML, JSON).
Looks alike: Formats that know only text and convert on use (MLflow, Hydra, command lines); a run that trained and
improved with the value.
What to change: Write 0.001 or 1.0e-3 instead of 1e-3, without quotes.
References: yaml/pyyaml#173; gymnasium-solver `--override policy_lr=1e-3` ends in a TypeError of Adam.
"""

from __future__ import annotations

import re

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.config import Setting
from rlclinic.model.finding import Evidence, Severity
from rlclinic.model.run import Status
from rlclinic.reference.hyperparameters import hyperparameters
from rlclinic.rules.rule import Rule, RuleResult

RULE = Rule("CFG04", needs=("config:learning_rate|config:gamma|config:batch_size|config:n_steps",))

TYPED_FILES = (".yaml", ".yml", ".json")
# OmegaConf, which Hydra uses, reads 1e-3 as a number.
HYDRA = ".hydra/"
# Hyperparameters that may also be schedules, but never a number in quotes.
NUMBERS_OF_ANY_KIND = frozenset({"learning_rate", "learning_rate_critic", "clip_range", "clip_range_vf", "ent_coef"})
_NUMBER = re.compile(r"[-+]?(?:\d[\d_]*+\.?\d*+|\.\d++)(?:[eE][-+]?\d++)?")


def check(facts: RunFacts) -> RuleResult | None:
    """Find numbers that stand as text."""
    found = [setting for setting in facts.run.config.settings.values() if _is_text(setting)]
    curve = facts.curve
    if not found or (curve is not None and (curve.improved or curve.still_rising)):
        return None
    stopped = facts.run.status.state is Status.CRASHED or not facts.run.series
    listed = ", ".join(f"{setting.native_key} = {str(setting.value)!r}{_where(setting)}" for setting in found[:3])
    end = " and the run has no metrics" if not facts.run.series else ""
    summary = f"text where a number is meant: {listed}{end}"
    evidence = tuple(
        Evidence(setting.key, setting.native_key, _as_number(setting), note="the number that the text looks like")
        for setting in found
    )
    if stopped:
        return RuleResult(Severity.ERROR, 0.85, summary, evidence)
    return RuleResult(Severity.WARNING, 0.5, summary, evidence)


def _is_text(setting: Setting) -> bool:
    entry, origin = hyperparameters().get(setting.key), setting.origin
    if not isinstance(setting.value, str) or entry is None or origin is None or HYDRA in origin.file:
        return False
    if entry.kind not in ("number", "integer") and setting.key not in NUMBERS_OF_ANY_KIND:
        return False
    return origin.file.endswith(TYPED_FILES) and _NUMBER.fullmatch(setting.value.strip()) is not None


def _as_number(setting: Setting) -> float:
    return float(str(setting.value).strip().replace("_", ""))


def _where(setting: Setting) -> str:
    return f" ({setting.origin})" if setting.origin is not None else ""
