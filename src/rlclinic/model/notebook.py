"""How runs and diagnoses show themselves in a notebook. Everything from the files is escaped."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from rlclinic.model.diagnosis import Diagnosis
    from rlclinic.model.run import Run
    from rlclinic.model.series import FloatArray, Series

WIDTH, HEIGHT = 120, 24
MAX_POINTS = 200


def run_html(run: Run) -> str:
    """A small table: identity, then one row per known metric with its curve."""
    facts = {
        "framework": run.framework,
        "algorithm": run.algorithm,
        "environment": run.environment,
        "status": f"{run.status.state.value} {run.status.reason}",
        "steps": f"{run.steps:,.0f} {run.step_axis}",
    }
    head = "".join(f"<tr><th>{escape(key)}</th><td>{escape(value)}</td></tr>" for key, value in facts.items())
    rows = "".join(_row(series) for series in run.series.values() if series.known)
    return (
        f"<div><b>{escape(run.id)}</b><table>{head}</table>"
        f"<table><tr><th>metric</th><th>logged as</th><th>points</th><th>last</th><th></th></tr>{rows}</table></div>"
    )


def diagnosis_html(diagnosis: Diagnosis) -> str:
    """The verdict, the likeliest causes and the findings; `rlclinic diagnose --output-format html` has the whole."""
    causes = "".join(
        f"<tr><td>{escape(cause.id)}</td><td>{100 * cause.probability:.0f}%</td></tr>" for cause in diagnosis.causes
    )
    findings = "".join(
        f"<tr><td>{escape(item.code)}</td><td>{escape(item.severity.value)}</td><td>{escape(item.summary)}</td></tr>"
        for item in diagnosis.findings
    )
    return (
        f"<div><b>{escape(diagnosis.run.id)}: {escape(diagnosis.verdict.value)}</b><p>{escape(diagnosis.reason)}</p>"
        f"<table><tr><th>cause</th><th>probability</th></tr>{causes}</table>"
        f"<table><tr><th>code</th><th>severity</th><th>finding</th></tr>{findings}</table>"
        f"<p>{len(diagnosis.not_checked)} checks were not made because something is missing.</p></div>"
    )


def _row(series: Series) -> str:
    last = "-" if series.last is None else f"{series.last:.4g}"
    return (
        f"<tr><td>{escape(series.name)}</td><td>{escape(series.logged_as)}</td><td>{len(series)}</td>"
        f"<td>{last}</td><td>{_curve(series)}</td></tr>"
    )


def _curve(series: Series) -> str:
    finite = np.isfinite(series.values) & np.isfinite(series.steps)
    steps, values = series.steps[finite], series.values[finite]
    if values.size < 2:
        return ""
    chosen = np.linspace(0, values.size - 1, min(values.size, MAX_POINTS)).astype(int)
    x = _scaled(steps[chosen], WIDTH)
    y = HEIGHT - _scaled(values[chosen], HEIGHT)
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
    line = f'<polyline fill="none" stroke="currentColor" points="{points}"/>'
    return f'<svg width="{WIDTH}" height="{HEIGHT}">{line}</svg>'


def _scaled(values: FloatArray, size: int) -> FloatArray:
    span = float(values.max() - values.min()) or 1.0
    return np.asarray((values - values.min()) / span * size)
