"""Whether anything is wrong with a run, in short."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlclinic.apps.mcp.reply import UNTRUSTED, Part, Reply
from rlclinic.apps.mcp.workspace import OpenRun, Workspace

if TYPE_CHECKING:
    from rlclinic.model.finding import Finding

TOP = 5
# Verdicts that say nothing about health.
UNDECIDED = ("insufficient-data", "not-rl", "interrupted")
# The words of gymnasium-solver's server.
SEVERITIES = {"error": "CRITICAL", "warning": "WARNING", "info": "INFO"}


class Anomaly(Part):
    severity: str
    type: str
    """Name of the rule; explain tells more."""
    code: str
    message: str
    tip: str


class Health(Reply):
    run_id: str
    anomaly_count: int
    top_anomalies: list[Anomaly]
    is_healthy: bool | None
    """Null where too little could be checked to say."""
    verdict: str
    rules_not_checked: int
    untrusted: str = UNTRUSTED


def health_check(workspace: Workspace, run_id: str) -> Health:
    """The worst findings of a run in short: severity, rule, message, tip. Healthy means that nothing was found and
    enough could be checked. diagnose tells causes and changes."""
    opened = workspace.open(run_id)
    found = by_weight(opened)
    serious = _serious(opened)
    verdict = opened.diagnosis.verdict.value
    reply = Health(
        run_id=opened.run.id,
        anomaly_count=len(found),
        top_anomalies=[
            Anomaly(
                severity=SEVERITIES[item.severity.value],
                type=item.name,
                code=item.code,
                message=item.summary,
                tip=_tip(item),
            )
            for item in found[:TOP]
        ],
        is_healthy=is_healthy(opened),
        verdict=verdict,
        rules_not_checked=len(opened.diagnosis.not_checked),
    )
    return reply.said(f"{opened.run.id!r}: {verdict}, {len(serious)} findings that matter.")


def is_healthy(opened: OpenRun) -> bool | None:
    """Whether nothing serious was found and the run does well; None where too little could be checked to say."""
    verdict = opened.diagnosis.verdict.value
    if _serious(opened):
        return False
    return None if verdict in UNDECIDED else verdict in ("solved", "learning")


def by_weight(opened: OpenRun) -> list[Finding]:
    """The findings, the worst first."""
    return sorted(opened.diagnosis.findings, key=lambda item: (-item.severity.rank, -item.confidence))


def _serious(opened: OpenRun) -> list[Finding]:
    return [finding for finding in opened.diagnosis.findings if finding.severity.value != "info"]


def _tip(finding: Finding) -> str:
    from rlclinic.rules.documentation import find_rule, page_of

    row = find_rule(finding.code)
    return page_of(row).sections["What to change"] if row is not None else ""
