"""Which curves a diagnosis shows, which findings are marked on them, and the legend."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rlclinic.model.diagnosis import Diagnosis
from rlclinic.model.finding import Finding
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.run import RETURN_METRICS, Run
from rlclinic.model.series import Series
from rlclinic.reports.curves import Chart, Line, Mark, svg
from rlclinic.reports.key_metrics import relevant
from rlclinic.reports.performance import axis_words
from rlclinic.reports.text import number

# Curves in all; more are not looked at.
MAX_CURVES = 12
WIDE, TALL = 1040, 250
# The same for the width of a phone.
PHONE_WIDE, PHONE_TALL = 380, 230

# Metrics that span orders of magnitude when training diverges: their spikes would hide all else on an even scale.
WIDE_RANGING = ("value_loss", "loss", "grad_norm", "q", "q1", "q2", "td_error", "advantage", "approx_kl", "kl_ref")
# Greatest over middle value from which such a metric is drawn by orders of magnitude.
LOG_FROM = 100.0


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawn curve and its caption."""

    svg: str
    title: str
    logged_as: tuple[str, ...]
    remark: str = ""
    on_phone: str = ""
    """Drawn again for a narrow screen, where one picture does not fit both."""


def return_picture(diagnosis: Diagnosis) -> Picture | None:
    """The returns, the threshold and the beginning of every finding."""
    run = diagnosis.run
    main, goal = run.returns, diagnosis.goal
    if main is None:
        return None
    shown = [main] + [
        run.series[name]
        for name in RETURN_METRICS
        if name in run and name != main.name and run.series[name].axis == main.axis
    ]
    marks = _marks(diagnosis.findings) if main.axis == run.step_axis else ()
    chart = Chart(
        "return over steps",
        tuple(Line(series.name, series.steps, series.values) for series in shown),
        marks,
        goal.level if goal is not None and np.isfinite(goal.level) else None,
        _range(run, main),
        width=WIDE,
        height=TALL,
    )
    names = tuple(f"{series.name} ({series.logged_as})" for series in shown)
    drawn, phone = svg(chart), svg(replace(chart, width=PHONE_WIDE, height=PHONE_TALL))
    return Picture(drawn, "return", names, f"over {axis_words(main.axis)}", phone) if drawn else None


def constant_metrics(diagnosis: Diagnosis) -> list[str]:
    """The metrics that never change, with their value: a line of text tells as much as a curve."""
    return [
        f"{series.logged_as} {number(float(series.values[0]))}" for series in relevant(diagnosis) if _is_flat(series)
    ]


def metric_pictures(diagnosis: Diagnosis) -> list[Picture]:
    """The other curves: those that findings name first."""
    run = diagnosis.run
    room = MAX_CURVES - sum(name in run for name in RETURN_METRICS)
    pictures: list[Picture] = []
    for series in relevant(diagnosis):
        if len(pictures) == room:
            break
        drawn = None if _is_flat(series) else _metric_picture(diagnosis, series)
        if drawn is not None:
            pictures.append(drawn)
    return pictures


def marked(diagnosis: Diagnosis) -> tuple[Finding, ...]:
    """The findings that know when they began, in the order of their beginning."""
    known = [item for item in diagnosis.findings if item.onset_step is not None and np.isfinite(item.onset_step)]
    return tuple(sorted(known, key=lambda item: item.onset_step or 0.0))


def _metric_picture(diagnosis: Diagnosis, series: Series) -> Picture | None:
    run = diagnosis.run
    own = [item for item in diagnosis.findings if any(part.metric == series.name for part in item.evidence)]
    log = _spans_orders(series)
    chart = Chart(
        f"{series.name} over steps",
        (Line(series.name, series.steps, series.values),),
        _marks(own) if series.axis == run.step_axis else (),
        None,
        _range(run, series),
        log=log,
    )
    remarks = ["orders of magnitude"] if log else []
    if series.axis != run.step_axis:
        remarks.append(f"over {axis_words(series.axis)}")
    drawn = svg(chart)
    return Picture(drawn, series.name, (series.logged_as,), ", ".join(remarks)) if drawn else None


def _marks(findings: tuple[Finding, ...] | list[Finding]) -> tuple[Mark, ...]:
    return tuple(
        Mark(item.onset_step, item.code, item.severity.value)
        for item in findings
        if item.onset_step is not None and np.isfinite(item.onset_step)
    )


def _range(run: Run, series: Series) -> tuple[float, float] | None:
    """Curves over the run's own steps share one range, so that what happened at once stands one above the other."""
    if series.axis != run.step_axis:
        return None
    ends = [found.last_step for found in run.series.values() if found.axis == run.step_axis and len(found)]
    last = max((end for end in [run.steps, *ends] if end is not None and np.isfinite(end)), default=0.0)
    firsts = series.steps[np.isfinite(series.steps)]
    first = min(0.0, float(firsts.min())) if firsts.size else 0.0
    return (first, last) if last > first else None


def _is_flat(series: Series) -> bool:
    return bool(len(series) > 1 and np.isfinite(series.values).all() and np.ptp(series.values) == 0)


def _spans_orders(series: Series) -> bool:
    if series.name.partition("/")[0] not in WIDE_RANGING:
        return False
    sound = series.values[np.isfinite(series.values)]
    return bool(sound.size and sound.min() > 0 and sound.max() / LOG_FROM >= float(np.median(sound)))
