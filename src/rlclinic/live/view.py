"""What `watch` shows: one run in detail, many as a table, single events as lines."""

from __future__ import annotations

from collections.abc import Sequence

from rlclinic.live.messages import body, headline
from rlclinic.live.watch import Event, Watched
from rlclinic.model.diagnosis import Diagnosis
from rlclinic.model.finding import Severity
from rlclinic.model.run import Run
from rlclinic.model.series import Series
from rlclinic.reports.performance import duration
from rlclinic.reports.text import columns, number, shorten, sparkline

# Metrics beside the return, in the order in which a debugger reads them; those that the run has are shown.
KEY_METRICS = (
    "explained_variance", "entropy", "action_std/min", "grad_norm", "advantage/abs_max", "approx_kl", "clip_fraction",
    "q/mean", "q/spread", "value_loss", "alpha", "epsilon", "fps",
)  # fmt: skip
MOST_METRICS, MOST_FINDINGS = 7, 5
CURVE = 40
# Of the columns of a table: those aligned to the right, those it does without where it is too wide, the first first
# (the curve, the time left, the budget used), and the characters that alerts need.
NUMBERS, LEFT_OUT, ALERTS = frozenset({2, 3, 4}), (5, 6, 3), 20


def overview(runs: Sequence[Watched], width: int) -> list[str]:
    """One run in detail; several as a table."""
    if len(runs) == 1:
        return detail(runs[0], width)
    header = ("run", "state", "step", "used", "return", "", "left", "advice", "alerts")
    rows = [header, *(_row(watched) for watched in runs)]
    left_out = iter(LEFT_OUT)
    shown = list(range(len(header)))
    while max(map(len, _table(rows, shown[:-1]))) + ALERTS > width and (spare := next(left_out, None)) is not None:
        shown.remove(spare)
    return [_cut(line, width) for line in _table(rows, shown)]


def _table(rows: Sequence[Sequence[str]], shown: Sequence[int]) -> list[str]:
    right = frozenset(at for at, index in enumerate(shown) if index in NUMBERS)
    return columns([[row[index] for index in shown] for row in rows], right=right, indent="")


def detail(watched: Watched, width: int) -> list[str]:
    """Return with its forecast, key metrics, findings with their onset, time left, and what to do."""
    if watched.look is None:
        return [f"{watched.name}: {watched.problem or 'nothing to read yet'}"]
    diagnosis = watched.look.diagnosis
    run, outlook = diagnosis.run, diagnosis.outlook
    who = "  ".join(word for word in (run.id, run.algorithm, run.environment, run.status.state.value) if word)
    lines = [who, _progress(diagnosis), ""]
    lines += _curve(run, diagnosis)
    shown = [run.series[name] for name in KEY_METRICS if name in run and run.series[name].last is not None]
    rows = [(one.logged_as, sparkline(one.values), number(one.last)) for one in shown[:MOST_METRICS]]
    lines += columns(rows, right=frozenset({2}))
    findings = [item for item in diagnosis.findings if item.severity is not Severity.INFO][:MOST_FINDINGS]
    lines += ["", *(_finding(item.code, item.severity, item.onset_step, item.summary) for item in findings)]
    if outlook is not None:
        lines += ["", f"{outlook.advice.value}: {outlook.reason}"]
    else:
        lines += ["", f"{diagnosis.verdict.value}: {diagnosis.reason}"]
    lines += [f"alert: [{item.level.value}] {item.title}" for item in watched.look.told]
    return [_cut(line, width) for line in lines]


def event_lines(event: Event) -> list[str]:
    """One event as lines of a log."""
    if event.alert is not None:
        return [headline(event.alert), *(f"  {line}" for line in body(event.alert))]
    if event.look is None:
        return [f"{event.name}: {event.kind}: {event.text}"]
    run = event.look.diagnosis.run
    step = f"step {number(run.steps)}"
    if event.kind == "run":
        told = f"{event.name}: {run.status.state.value} at {step}, {event.look.diagnosis.verdict.value}"
        return [told, *([f"  cannot be alerted to: {event.text}"] if event.text else [])]
    word = run.status.state.value if event.kind == "state" else event.kind
    return [f"{event.name}: {word} at {step}: {event.text}"]


def _cut(line: str, width: int) -> str:
    """A line that fits, its columns kept."""
    return line if len(line) <= width else line[: width - 1] + "…"


def _row(watched: Watched) -> tuple[str, ...]:
    name = shorten(watched.name.rpartition("/")[2], 40)
    if watched.look is None:
        return (name, watched.problem or "unread", "", "", "", "", "", "", "")
    diagnosis = watched.look.diagnosis
    run, outlook = diagnosis.run, diagnosis.outlook
    used = f"{min(100 * run.steps / run.budget, 100):.0f}%" if run.budget else ""
    left = duration(outlook.seconds_left) if outlook is not None and outlook.seconds_left is not None else ""
    advice = outlook.advice.value if outlook is not None else diagnosis.verdict.value
    value = number(run.returns.last) if run.returns is not None else ""
    curve = sparkline(run.returns.values, 12) if run.returns is not None else ""
    alerts = ", ".join(item.title for item in watched.look.told)
    return (name, run.status.state.value, number(run.steps), used, value, curve, left, advice, alerts)


def _progress(diagnosis: Diagnosis) -> str:
    run, outlook = diagnosis.run, diagnosis.outlook
    told = f"step {number(run.steps)}"
    if run.budget:
        told += f" of {number(run.budget)} ({100 * run.steps / run.budget:.0f}%)"
    if outlook is not None and outlook.seconds_left is not None:
        told += f", about {duration(outlook.seconds_left)} left"
    return told


def _curve(run: Run, diagnosis: Diagnosis) -> list[str]:
    """The return so far, and the band in which it is expected to end."""
    returns: Series | None = run.returns
    if returns is None or returns.last is None:
        return ["no return has been logged so far"]
    line = f"{returns.logged_as}  {sparkline(returns.values, CURVE)}  {number(returns.last)}"
    ahead = diagnosis.outlook.expectation if diagnosis.outlook is not None else None
    if ahead is not None:
        line += f"  → {number(ahead.value)} ({number(ahead.low)} to {number(ahead.high)}) at the end"
    return [line]


def _finding(code: str, severity: Severity, onset: float | None, summary: str) -> str:
    since = f" since step {number(onset)}" if onset is not None else ""
    return f"{severity.value:<8}{code}{since}: {summary}"
