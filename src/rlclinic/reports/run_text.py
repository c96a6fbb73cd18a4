"""A run, and a list of runs, as plain text for the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from rlclinic.model.config import Setting
from rlclinic.model.run import Run
from rlclinic.model.series import Series
from rlclinic.model.vocabulary import expected_metrics
from rlclinic.reports.text import columns, number, printable, shorten, sparkline

# Without --all only the head of long lists is shown.
MAX_UNKNOWN = 12
MAX_SETTINGS = 40
MAX_LOGS = 8
VALUE_WIDTH = 48

AXIS_WORDS = {"env_steps": "env steps"}


def show_text(run: Run, *, everything: bool = False) -> str:
    """What was read of one run."""
    blocks = [
        _head(run),
        _metrics(run, everything=everything),
        _config(run, everything=everything),
        _logs(run, everything=everything),
        _provenance(run),
    ]
    return printable("\n\n".join("\n".join(block) for block in blocks if block)) + "\n"


def runs_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """A table of runs."""
    header = ("run", "framework", "algorithm", "environment", "status", "steps", "last", "best")
    cells = [
        (
            shorten(str(row["id"]), 40),
            row["framework"],
            row["algorithm"] or "-",
            shorten(row["environment"] or "-", 32),
            row["status"],
            number(row["steps"]),
            number(row["return"]["last"]),
            number(row["return"]["best"]),
        )
        for row in rows
    ]
    return printable("\n".join(columns([header, *cells], right=frozenset({5, 6, 7}), indent=""))) + "\n"


def _head(run: Run) -> list[str]:
    axis = AXIS_WORDS.get(run.step_axis, run.step_axis)
    budget = f" of {number(run.budget)}" if run.budget else ""
    returns = run.returns
    rows = [
        ("path", run.path),
        ("framework", run.framework if run.source == "files" else f"{run.framework} (from {run.source})"),
        ("algorithm", run.algorithm or "not known from the files"),
        ("environment", run.environment or "not known from the files"),
        (
            "status",
            f"{run.status.state.value}: {run.status.reason}" if run.status.reason else run.status.state.value,
        ),
        ("steps", f"{number(run.steps)}{budget} {axis}"),
        ("return", _return(run, returns)),
    ]
    if run.started_at:
        rows.append(("started", datetime.fromtimestamp(run.started_at, UTC).strftime("%Y-%m-%d %H:%M UTC")))
    return [run.id, *columns(rows)]


def _return(run: Run, returns: Series | None) -> str:
    if returns is None:
        return "not logged: nothing here says how well the agent does"
    goal = f", threshold {number(run.threshold)}" if run.threshold is not None else ""
    return f"last {number(returns.last)}, best {number(returns.highest)}{goal} ({returns.logged_as})"


def _metrics(run: Run, *, everything: bool) -> list[str]:
    known = [series for series in run.series.values() if series.known]
    unknown = [series for series in run.series.values() if not series.known]
    missing = [entry.name for entry in expected_metrics(run.algorithm) if entry.name not in run]
    lines = ["Metrics"]
    if known:
        rows = [("metric", "points", "first", "last", "", "logged as")]
        rows += [(s.name, str(len(s)), _first(s), number(s.last), sparkline(s.values), _logged(s, run)) for s in known]
        lines += columns(rows, right=frozenset({1, 2, 3}))
    else:
        lines.append("  none that rlclinic knows")
    lines += [f"  {s.name}: {s.caveat}" for s in known if s.caveat]
    if missing:
        lines.append(f"  not logged: {', '.join(missing)}")
    if unknown:
        shown = unknown if everything else unknown[:MAX_UNKNOWN]
        more = f" and {len(unknown) - len(shown)} more (--all)" if len(unknown) > len(shown) else ""
        lines.append(f"  other names, kept as logged: {', '.join(s.logged_as for s in shown)}{more}")
    return lines


def _first(series: Series) -> str:
    return number(float(series.values[0])) if len(series) else "-"


def _logged(series: Series, run: Run) -> str:
    axis = "" if series.axis == run.step_axis else f" (per {series.axis})"
    return series.logged_as + axis


def _config(run: Run, *, everything: bool) -> list[str]:
    settings = list(run.config.settings.values())
    if not settings and not run.config.native:
        return ["Config", "  none found: name a config or the training script with --config FILE to have it checked"]
    shown = settings if everything else settings[:MAX_SETTINGS]
    lines = ["Config", *columns([_setting(setting) for setting in shown])]
    if len(settings) > len(shown):
        lines.append(f"  and {len(settings) - len(shown)} more (--all)")
    used = {setting.native_key for setting in settings}
    others = [key for key in run.config.native if key not in used]
    if others:
        listed = others if everything else others[:MAX_UNKNOWN]
        more = f" and {len(others) - len(listed)} more (--all)" if len(others) > len(listed) else ""
        lines.append(f"  other keys: {', '.join(listed)}{more}")
    return lines


def _setting(setting: Setting) -> tuple[str, str, str]:
    where = "default" if setting.is_default else str(setting.origin or "derived")
    key = "" if setting.native_key == setting.key else f" as {setting.native_key}"
    return setting.key, shorten(str(setting.value), VALUE_WIDTH), where + key


def _logs(run: Run, *, everything: bool) -> list[str]:
    if not run.logs:
        return []
    shown = run.logs if everything else run.logs[:MAX_LOGS]
    lines = ["Errors and warnings in the logs (quoted)"]
    for item in shown:
        lines.append(f"  {item.file}:{item.line} {item.kind}")
        lines += [f"    | {shorten(line, 140)}" for line in item.text.splitlines()[-6:]]
    if len(run.logs) > len(shown):
        lines.append(f"  and {len(run.logs) - len(shown)} more (--all)")
    return lines


def _provenance(run: Run) -> list[str]:
    kinds: dict[str, int] = {}
    for file in run.provenance.files:
        kinds[file.kind] = kinds.get(file.kind, 0) + 1
    counted = ", ".join(f"{kind} x{count}" if count > 1 else kind for kind, count in kinds.items())
    lines = ["Read", f"  {len(run.provenance.files)} files by reader {run.provenance.reader}: {counted}"]
    if run.checkpoints:
        plural = "" if len(run.checkpoints) == 1 else "s"
        lines.append(f"  {len(run.checkpoints)} checkpoint{plural}, last {run.checkpoints[-1].path}")
    return lines + [f"  note: {note}" for note in run.provenance.notes]
