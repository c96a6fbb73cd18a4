"""What of a diagnosis is worth a message: nine well-known alarms, every finding that is an error, a sure cause.

By default rules decide, which judge every number on the run's own scale. The literal thresholds that people put on
dashboards are a preset of their own: they fit few tasks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rlclinic.model.diagnosis import Diagnosis, Verdict
from rlclinic.model.errors import UsageError
from rlclinic.model.finding import Evidence, Severity
from rlclinic.model.run import Run

RULES, THRESHOLDS = "rules", "thresholds"
PRESETS = (RULES, THRESHOLDS)
# Probability from which on a leading cause is worth a message.
SURE = 0.5
# Causes that ask for nothing while a run goes on.
QUIET = frozenset({"nothing-wrong", "unknown", "already-solved", "budget-too-small", "interrupted", "seed-variance"})
CAUSE = "cause"


@dataclass(frozen=True, slots=True)
class Alarm:
    """One of the nine: who sees it without a scale, and where its literal threshold lies."""

    key: str
    title: str
    level: Severity
    rules: tuple[str, ...]
    """Names of the rules that see it."""
    metrics: tuple[str, ...] = ()
    """Canonical metrics that the literal threshold is about; every metric where there are none."""
    above: float = math.inf
    below: float = -math.inf
    magnitude: bool = False
    """Whether the sign does not count."""


_W, _E = Severity.WARNING, Severity.ERROR
NINE: tuple[Alarm, ...] = (
    Alarm("not-finite", "NaN in metrics", _E, ("not-a-number",)),
    Alarm(
        "gradient-explosion",
        "Gradient explosion",
        _E,
        ("gradient-norm-explodes",),
        ("grad_norm", "grad_norm/actor"),
        above=1e4,
    ),
    Alarm(
        "entropy-collapse",
        "Entropy collapse",
        _W,
        ("policy-died-early", "entropy-fell-early"),
        ("entropy",),
        below=0.01,
    ),
    Alarm(
        "action-dimension-collapsed",
        "Action dimension collapsed",
        _W,
        ("action-std-collapses",),
        ("action_std/min",),
        below=0.01,
    ),
    Alarm(
        "q-divergence",
        "Q-value divergence",
        _W,
        ("q-values-diverge",),
        ("q/mean", "q1/mean", "q2/mean"),
        above=1e3,
        magnitude=True,
    ),
    Alarm("twin-q-divergence", "Q-value twin divergence", _W, ("twin-critics-diverge",), ("q/spread",), above=100.0),
    Alarm(
        "value-anti-correlated",
        "Value function anti-correlated",
        _W,
        ("explained-variance-negative",),
        ("explained_variance",),
        below=-0.5,
    ),
    Alarm("excessive-clipping", "Excessive clipping", _W, ("clip-fraction-high",), ("clip_fraction",), above=0.5),
    Alarm(
        "advantage-explosion",
        "Advantage explosion",
        _W,
        ("advantages-extreme",),
        ("advantage/abs_max",),
        above=100.0,
        magnitude=True,
    ),
)
_OF_RULE = {rule: alarm for alarm in NINE for rule in alarm.rules}


@dataclass(frozen=True, slots=True)
class Condition:
    """Something that holds now and that a user wants to be told."""

    key: str
    level: Severity
    title: str
    summary: str
    evidence: tuple[Evidence, ...] = ()
    onset: float | None = None
    code: str = ""
    """Of the rule that sees it; empty for a threshold or a cause."""
    at_once: bool = False
    """Whether waiting would only confirm it: a number that is not finite stays one."""


def checked_presets(names: Sequence[str]) -> tuple[str, ...]:
    """The names, each of which must be a preset."""
    unknown = [name for name in names if name not in PRESETS]
    if unknown:
        raise UsageError(f"no alerts are called {unknown[0]!r}", hint=f"one of {', '.join(PRESETS)}")
    return tuple(names)


def conditions_of(diagnosis: Diagnosis, presets: Sequence[str] = (RULES,)) -> list[Condition]:
    """All that hold, the gravest first."""
    found = [condition for preset in presets for condition in _MAKERS[preset](diagnosis)]
    by_key: dict[str, Condition] = {}
    for condition in sorted(found, key=lambda item: -item.level.rank):
        by_key.setdefault(condition.key, condition)
    return list(by_key.values())


def lacking(diagnosis: Diagnosis) -> tuple[str, ...]:
    """Which of the nine alarms cannot be raised on this run, and what they need."""
    missing = {item.code: item.needs for item in diagnosis.not_checked}
    from rlclinic.rules.registry import RULES as ALL

    codes = {rule.name: rule.code for rule in ALL}
    lines = []
    for alarm in NINE:
        wanted = [missing[codes[rule]] for rule in alarm.rules if codes[rule] in missing]
        if len(wanted) == len(alarm.rules) and wanted[0]:
            lines.append(f"{alarm.title}: needs {' and '.join(wanted[0])}")
    return tuple(lines)


def _from_rules(diagnosis: Diagnosis) -> list[Condition]:
    found = []
    for finding in diagnosis.findings:
        alarm = _OF_RULE.get(finding.name)
        if finding.severity is Severity.INFO or (alarm is None and finding.severity is not Severity.ERROR):
            continue
        found.append(
            Condition(
                key=alarm.key if alarm else finding.name,
                level=max((alarm.level if alarm else finding.severity, finding.severity), key=lambda item: item.rank),
                title=alarm.title if alarm else finding.title,
                summary=finding.summary,
                evidence=finding.evidence,
                onset=finding.onset_step,
                code=finding.code,
                at_once=alarm is not None and alarm.key == "not-finite",
            )
        )
    lead = diagnosis.causes[0] if diagnosis.causes else None
    judged = diagnosis.verdict not in (Verdict.INSUFFICIENT_DATA, Verdict.NOT_RL)
    if judged and lead is not None and lead.id not in QUIET and lead.probability >= SURE:
        summary = f"{lead.title}: {100 * lead.probability:.0f}% probable; {diagnosis.reason}"
        found.append(Condition(f"{CAUSE}:{lead.id}", Severity.WARNING, lead.title, summary))
    return found


def _from_thresholds(diagnosis: Diagnosis) -> list[Condition]:
    return [condition for alarm in NINE for condition in _beyond(alarm, diagnosis.run)]


def _beyond(alarm: Alarm, run: Run) -> list[Condition]:
    """The metrics whose newest value lies beyond the literal threshold; first of all those that are no number."""
    for name in alarm.metrics or tuple(run.series):
        series = run.series.get(name)
        if series is None or not len(series):
            continue
        value, step = float(series.values[-1]), float(series.steps[-1])
        if not alarm.metrics:
            beyond, limit = not math.isfinite(value), None
        else:
            size = abs(value) if alarm.magnitude else value
            beyond = size > alarm.above or size < alarm.below
            limit = alarm.above if math.isfinite(alarm.above) else alarm.below
        if beyond:
            evidence = Evidence(series.name, series.logged_as, value, limit, (step, step), 1, "newest value")
            told = "is not finite" if limit is None else f"is beyond {limit:g}"
            summary = f"{series.logged_as} = {value:.4g} at step {step:,.0f} {told}"
            return [Condition(alarm.key, alarm.level, alarm.title, summary, (evidence,), step, at_once=True)]
    return []


_MAKERS = {RULES: _from_rules, THRESHOLDS: _from_thresholds}
