"""What of a diagnosis is worth a message: nine well-known alarms, errors, a sure cause, and early signs of trouble.

By default rules decide, which judge every number on the run's own scale. The literal thresholds that people put on
dashboards are a preset of their own: they fit few tasks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

from rlclinic.model.diagnosis import Diagnosis, Verdict
from rlclinic.model.errors import UsageError
from rlclinic.model.finding import Evidence, Finding, Severity
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.run import Run, Status
from rlclinic.rules.rule import CONFIG

RULES, THRESHOLDS = "rules", "thresholds"
PRESETS = (RULES, THRESHOLDS)
# Probability from which on a leading cause is worth a message.
SURE = 0.5
# Causes that ask for nothing while a run goes on.
QUIET = frozenset({"nothing-wrong", "unknown", "already-solved", "budget-too-small", "interrupted", "seed-variance"})
WELL = frozenset({"nothing-wrong", "already-solved"})
# What is left where nothing else fits: a plateau that passes looks like it, and its own signs are told as findings.
LEFT_OVER = frozenset({"implementation-bug"})
NOT_FINITE = "numerical-failure"
CAUSE = "cause"
# Families of rules that see trouble in the update itself, long before the return shows it: their warnings count, too.
EARLY = frozenset({"policy", "value", "off_policy", "optimisation", "implementation", "mmrkhs"})
# Families of rules about settings, which are no news while a run does well.
SETTINGS = frozenset({"config", "data"})
SUFFERS = frozenset(
    {
        Verdict.MISCONFIGURED,
        Verdict.NOT_LEARNING,
        Verdict.COLLAPSED,
        Verdict.UNSTABLE,
        Verdict.PLATEAUED,
        Verdict.REWARD_HACKING,
    }
)
# A return that stands still while the run goes on may yet rise, and then the cause was none.
STANDS_STILL = frozenset({Verdict.PLATEAUED, Verdict.NOT_LEARNING})
# True from the first update on, also in runs that do well: chosen on the fault benchmark, both parts in view.
NO_NEWS = frozenset({"part-gets-no-gradient"})


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
    """Whether even the start of a run is no excuse: a number that is not finite stays one."""
    must_hold: bool = False
    """Whether it may pass by itself, so that it is told only after a while."""


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
    lead = diagnosis.causes[0] if diagnosis.causes and diagnosis.causes[0].probability >= SURE else None
    settled = lead is not None and lead.id not in QUIET | LEFT_OVER
    well = lead is not None and lead.id in WELL
    for finding in diagnosis.findings:
        alarm = _OF_RULE.get(finding.name)
        error = finding.severity is Severity.ERROR and (finding.family not in SETTINGS or diagnosis.verdict in SUFFERS)
        firm = alarm is not None or error
        if finding.severity is Severity.INFO or not (firm or (not well and _is_early_sign(finding))):
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
                # A sign that leaves the cause open may be chance.
                must_hold=not (firm or settled),
            )
        )
    judged = diagnosis.verdict not in (Verdict.INSUFFICIENT_DATA, Verdict.NOT_RL)
    # Its own alarm has told of it already.
    told = lead is not None and lead.id == NOT_FINITE and any(condition.at_once for condition in found)
    if judged and lead is not None and settled and not told:
        summary = f"{lead.title}: {100 * lead.probability:.0f}% probable; {diagnosis.reason}"
        may_rise = diagnosis.verdict in STANDS_STILL and _goes_on(diagnosis.run)
        found.append(Condition(f"{CAUSE}:{lead.id}", Severity.WARNING, lead.title, summary, must_hold=may_rise))
    return found


def _goes_on(run: Run) -> bool:
    return run.status.state is not Status.FINISHED and (run.budget is None or run.steps < run.budget)


def _is_early_sign(finding: Finding) -> bool:
    """A warning that rests on something that was measured, not on settings alone."""
    if finding.family not in EARLY or finding.name in NO_NEWS:
        return False
    return finding.severity is Severity.WARNING and finding.name not in _of_settings()


@cache
def _of_settings() -> frozenset[str]:
    """Rules that need nothing but settings."""
    from rlclinic.rules.registry import RULES as ALL

    alone = (rule for rule in ALL if rule.rule.needs and all(f"{CONFIG}" in need for need in rule.rule.needs))
    return frozenset(rule.name for rule in alone)


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
