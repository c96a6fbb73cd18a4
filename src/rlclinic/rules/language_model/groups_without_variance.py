"""Most groups of responses have equal rewards and give no gradient.

What it sees: Nearly all groups have zero variance of reward, or every advantage is zero, or a group holds one
response.
Why it hurts: The advantage of a response is its reward minus the mean of its group. Where all are equal there is
nothing to learn; with one response per prompt there is no baseline at all.
Evidence needed: zero_variance_groups, advantage/abs_max or reward/std with at least 12 points, or the group size; one
row in which all groups are so, or the highest reward is the lowest, and the advantage or the gradient is zero.
Looks alike: A task that is almost solved, where all responses are right; a score that fell to its floor for another
reason, where ties are the consequence; advantages printed as 0.000; the spread of a reward component over the batch,
which is not that of a group.
What to change: If nearly all rewards are low: easier prompts, more samples per prompt, a reward for partial success,
and a check of the verifier. If they are high: harder prompts. Filter groups without variance; raise the sampling
temperature.
References: Yu et al. 2025 (DAPO, arXiv 2503.14476), dynamic sampling; huggingface/trl#3857; trl PR #5640.
"""

from __future__ import annotations

import numpy as np

from rlclinic.facts.language_model import MIN_POINTS, change, is_falling, is_near_ceiling, is_progressing, told
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.saturation import nothing_to_learn
from rlclinic.facts.settings import setting_evidence
from rlclinic.facts.stretch import rounding
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "LMR03",
    needs=("zero_variance_groups|reward/std|advantage/abs_max|config:group_size",),
    algorithms=("language-model",),
    step=DecisionStep.REWARD,
)


class Limits(RuleLimits):
    nearly_all: float = 0.8
    """Share of groups without variance that leaves at most a fifth of the batch to learn from."""
    mostly_zero: float = 0.5
    """Share of late points at which every advantage (or the spread within groups) is zero."""


LIMITS = Limits()
GROUPED = frozenset({"GRPO", "DAPO", "GSPO", "RLOO"})


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Look at the groups, then at the advantages, then at the group size."""
    if not facts.is_language_model:
        return None
    return _tied_groups(facts, limits) or _no_gradient(facts) or _zero_advantages(facts, limits) or _group_of_one(facts)


def _tied_groups(facts: RunFacts, limits: Limits) -> RuleResult | None:
    levels = change(facts, "zero_variance_groups")
    if levels is None or levels[1].value < limits.nearly_all:
        return None
    early, late = levels
    follows = early.value < limits.nearly_all and is_falling(facts)
    summary = (
        f"{100 * late.value:.3g}% of the groups have equal rewards ({100 * early.value:.3g}% early on)"
        f"{_why(facts, follows=follows)}; {told(facts)}"
    )
    evidence = (
        facts.evidence(
            "zero_variance_groups", late.value, limits.nearly_all, level=late, note="median of the last 15%"
        ),
    )
    return RuleResult(_severity(facts, follows=follows), _confidence(follows=follows), summary, evidence)


def _no_gradient(facts: RunFacts) -> RuleResult | None:
    """What few rows show beyond doubt: a group that differs somewhere has an advantage, and a gradient."""
    groups = facts.series("zero_variance_groups")
    highest, lowest = facts.series("return/train_max"), facts.series("return/train_min")
    still = next((one for name in ("advantage/abs_max", "grad_norm") if (one := facts.series(name)) is not None), None)
    if still is None or still.values.any():
        return None
    if groups is not None:
        tied, seen = bool((groups.values == 1.0).all()), groups
    elif highest is not None and lowest is not None:
        tied, seen = bool(np.array_equal(highest.values, lowest.values)), highest
    else:
        return None
    if not tied:
        return None
    rows = "the only row" if len(seen) == 1 else f"all of the {len(seen)} rows"
    what = f"{still.logged_as} is 0"
    summary = f"all responses of a group get equal rewards, and {what}, in {rows}{_why(facts, follows=False)}"
    evidence = (facts.evidence(still.name, 0.0, 0.0, note="where every group ties"),)
    return RuleResult(_severity(facts, follows=False), 0.8, summary, evidence)


def _zero_advantages(facts: RunFacts, limits: Limits) -> RuleResult | None:
    for name in ("reward/std", "advantage/abs_max"):
        series = facts.series(name)
        if series is None or len(series) < MIN_POINTS:
            continue
        values = series.values[np.isfinite(series.values)]
        late = values[-max(1, values.size // 3) :]
        zero = float(np.mean(np.abs(late) <= rounding(series)))
        if zero < limits.mostly_zero:
            continue
        early = values[: max(1, values.size // 3)]
        follows = bool(np.mean(np.abs(early) <= rounding(series)) < limits.mostly_zero) and is_falling(facts)
        summary = (
            f"{series.logged_as} is zero in {100 * zero:.3g}% of the last {late.size} points"
            f"{_why(facts, follows=follows)}"
        )
        evidence = (facts.evidence(name, zero, limits.mostly_zero, note="share of zeros in the last third"),)
        return RuleResult(_severity(facts, follows=follows), _confidence(follows=follows), summary, evidence)
    return None


def _group_of_one(facts: RunFacts) -> RuleResult | None:
    size, estimator = facts.setting("group_size"), facts.run.config.get("adv_estimator")
    grouped = facts.run.algorithm in GROUPED and estimator in (None, "grpo", "rloo")
    if size != 1 or not grouped:
        return None
    key = facts.run.config.settings["group_size"].native_key
    summary = f"{key} is 1: with one response per prompt {facts.run.algorithm} has no baseline"
    evidence = (setting_evidence(facts, "group_size", 1.0, 2.0, note="responses per prompt"),)
    severity = Severity.INFO if is_progressing(facts) else Severity.WARNING
    return RuleResult(severity, 0.7, summary, evidence)


def _severity(facts: RunFacts, *, follows: bool) -> Severity:
    if nothing_to_learn(facts) is not None:
        return Severity.WARNING
    return Severity.INFO if follows or is_progressing(facts) or is_near_ceiling(facts) else Severity.WARNING


def _confidence(*, follows: bool) -> float:
    """That ties hold the run back: where the score fell first they say little."""
    return 0.25 if follows else 0.8


def _why(facts: RunFacts, *, follows: bool) -> str:
    if follows:
        return ": they were not before the score fell"
    if (why := nothing_to_learn(facts)) is not None:
        return f": {why}"
    return ": the task is nearly solved" if is_near_ceiling(facts) else ""
