"""The task was made harder during training, which explains a fall of the return.

What it sees: The return fell from its best together with the episode length or the success rate, while a curriculum
metric rose, or the run's name or config says that it has a curriculum.
Why it hurts: It need not: returns before and after are returns of different tasks. Read as a collapse it would lead to
the wrong change. If the return stays down, the step up was too large.
Evidence needed: a return with at least 12 points, and a curriculum metric or a name.
Looks alike: A real collapse of the policy, where the difficulty stayed the same.
What to change: Compare returns only within a level; log the level; raise it when the success rate is high, in smaller
steps, and mix in easier episodes.
References: Narvekar et al. 2020 (arXiv 2003.04960); Rudin et al. 2021 (arXiv 2109.11978).
"""

from __future__ import annotations

import re

import numpy as np

from rlclinic.facts.episodes import return_name
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.stretch import finite
from rlclinic.model.finding import Severity
from rlclinic.model.series import Series
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule("ENV09", needs=("return/train|return/eval",), step=DecisionStep.ENVIRONMENT)


class Limits(RuleLimits):
    min_points: int = 12
    fell: float = 4.0
    """Scales of the return that a fall from the best must measure, and share of the climb."""
    lost: float = 0.3


LIMITS = Limits()
_NAMED = re.compile(r"curricul|cur_learn|difficulty|level_?up", re.IGNORECASE)


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Set a fall of the return beside the course of the difficulty."""
    curve = facts.curve
    if curve is None or curve.points < limits.min_points or facts.is_language_model:
        return None
    if curve.drop < limits.fell * curve.scatter or curve.drop < limits.lost * curve.climb:
        return None
    raised = _raised(facts, curve.best_step)
    named = _named(facts)
    if raised is None and (not named or not _length_fell(facts)):
        return None
    fall = f"the return fell from {curve.best:.4g} at step {curve.best_step:.4g} to {curve.final:.4g}"
    evidence = [facts.evidence(return_name(facts), curve.drop, limits.fell * curve.scatter, note="fall from the best")]
    if raised is None:
        summary = f"{fall} and episodes became shorter; {named} names a curriculum: the task may have been made harder"
        return RuleResult(Severity.INFO, 0.6, summary, tuple(evidence), curve.best_step)
    series, before, after, onset = raised
    evidence.append(facts.evidence(series.name, after, before, note="level at the end against at the best return"))
    summary = f"{fall} while {series.logged_as} rose from {before:.3g} to {after:.3g}: the task was made harder"
    return RuleResult(Severity.INFO, 0.8, summary, tuple(evidence), onset)


def _raised(facts: RunFacts, peak_step: float) -> tuple[Series, float, float, float] | None:
    """A level that rose at or after the best return."""
    for name, series in facts.run.series.items():
        if not name.startswith("curriculum/") and not _NAMED.search(name):
            continue
        steps, values = finite(series)
        if not values.size:
            continue
        before = float(np.interp(0.9 * peak_step, steps, values))
        after = float(values[-1])
        if after <= before + 1e-9 * max(1.0, abs(before)):
            continue
        later = np.flatnonzero(values > before)
        return series, before, after, float(steps[later[0]])
    return None


def _named(facts: RunFacts) -> str:
    """What names a curriculum: the run, its folder, or a key of its config."""
    folder = "/".join(facts.run.location.parts[-2:])
    if _NAMED.search(facts.run.id) or _NAMED.search(folder):
        return "the name of the run"
    for key, setting in facts.run.config.native.items():
        if _NAMED.search(key) and setting.value not in (None, False, "", 0):
            return f"the config key {key}"
        if "wrapper" in key and isinstance(setting.value, str) and _NAMED.search(setting.value):
            return f"the wrapper {setting.value}"
    return ""


def _length_fell(facts: RunFacts) -> bool:
    lengths = facts.series("episode_length")
    late = facts.late("episode_length")
    return lengths is not None and late is not None and late.value < 0.7 * float(np.nanmax(lengths.values))
