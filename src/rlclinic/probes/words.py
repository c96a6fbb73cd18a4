"""A probing in plain text."""

from __future__ import annotations

from collections.abc import Mapping

from rlclinic.probes.result import Answer, CaseResult, ProbeReport
from rlclinic.probes.verdict import QUICK

MARKS: Mapping[str, str] = {"pass": "ok  ", "fail": "FAIL", "skipped": "skip", "not-judged": "?   "}
LEADING = 3
"""Components that are printed."""


def report_lines(report: ProbeReport, *, all_cases: bool = False) -> list[str]:
    """Every case, then the suspicions. Skipped cases are gathered by reason unless all are wanted."""
    counts = f"{len(report.judged) - len(report.failed)} passed, {len(report.failed)} failed"
    lines = [f"{report.trainer} ({report.portrait.family}), gamma {report.gamma:g}: {counts}", ""]
    for result in report.results:
        if result.verdict != "skipped" or all_cases:
            lines += case_lines(result)
    skipped: dict[str, list[str]] = {}
    for result in report.results:
        if result.verdict == "skipped" and not all_cases:
            skipped.setdefault(result.reason, []).append(f"{result.code} {result.case}")
    lines += [f"skip  {', '.join(names)}: {reason}" for reason, names in skipped.items()]
    lines += [f"note  {problem}" for problem in report.problems]
    return [*lines, "", *_conclusion(report)]


def failure_lines(report: ProbeReport) -> list[str]:
    """What went wrong, for a failing test."""
    if not report.judged:
        reasons = dict.fromkeys(result.reason for result in report.results if result.verdict == "not-judged")
        return [f"no probe of {report.trainer} could be judged", *(f"  {reason}" for reason in reasons)]
    lines = [f"{report.trainer} fails {len(report.failed)} probe(s)"]
    for result in report.failed:
        lines += case_lines(result)
    return [*lines, *_conclusion(report)]


def case_lines(result: CaseResult) -> list[str]:
    """One case: its verdict, its readings, and what a wrong one looks like."""
    head = f"{MARKS[result.verdict]}  {result.code:<4} {result.case:<11}"
    if result.verdict in ("skipped", "not-judged"):
        return [f"{head} {result.reason}"]
    right = sum(seed.passed for seed in result.seeds)
    readings = ", ".join(_reading(answer) for answer in result.answers)
    return [f"{head} {right}/{len(result.seeds)} seeds  {readings}"]


def _reading(answer: Answer) -> str:
    query = answer.query
    if answer.reading is None:
        return f"{query.name} not reported"
    if answer.right:
        return f"{query.name} = {answer.reading:.3g}"
    looks = f", looks like {answer.nearest.fault}" if answer.nearest else ""
    return f"{query.name} = {answer.reading:.3g} (right: {query.truth:.3g} +- {query.tolerance:.2g}{looks})"


def _conclusion(report: ProbeReport) -> list[str]:
    if not report.failed:
        if not report.judged:
            return ["Nothing could be judged."]
        return ["No probe failed.", *_not_looked_at(report)]
    lines = ["Suspected components:"]
    for place, suspicion in enumerate(report.suspicions[:LEADING], start=1):
        lines.append(f"  {place}. {suspicion.component} ({suspicion.weight:.0%}): {suspicion.title}")
        lines += [f"     {reason}" for reason in suspicion.reasons]
    if report.separating:
        lines.append(f"Probe {report.separating} would tell the first from others; --locate goes on with it.")
    if report.settling:
        lines.append(f"A trainer that offers {report.settling} lets a static contract tell the first from others.")
    return [*lines, *_not_looked_at(report)]


def _not_looked_at(report: ProbeReport) -> list[str]:
    """What the probing says nothing about."""
    lines = []
    if report.preflight:
        lines.append(f"The preflight stops at {QUICK} right seeds: a fault that shows in some seeds only may pass.")
    missing = [f"{', '.join(probe.components)} ({probe.code})" for probe, _ in report.not_looked_at]
    return [*lines, f"Not looked at: {'; '.join(missing)}."] if missing else lines
