"""Whether anything is wrong with a run, in short."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlclinic.apps.mcp.desk import Case, Desk
from rlclinic.apps.mcp.reply import UNTRUSTED, Part, Reply

if TYPE_CHECKING:
    from rlclinic.model.finding import Finding

TOP = 5
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


def health_check(desk: Desk, run_id: str) -> Health:
    """The worst findings of a run in short: severity, rule, message, tip. Healthy means that nothing was found and
    enough could be checked. diagnose tells causes and changes."""
    case = desk.case(run_id)
    found = by_weight(case)
    serious = [finding for finding in found if finding.severity.value != "info"]
    verdict = case.diagnosis.verdict.value
    healthy = None if verdict in ("insufficient-data", "not-rl") else not serious and verdict in ("solved", "learning")
    reply = Health(
        run_id=case.run.id,
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
        is_healthy=healthy,
        verdict=verdict,
        rules_not_checked=len(case.diagnosis.not_checked),
    )
    return reply.said(f"{case.run.id!r}: {verdict}, {len(serious)} findings that matter.")


def by_weight(case: Case) -> list[Finding]:
    """The findings, the worst first."""
    return sorted(case.diagnosis.findings, key=lambda item: (-item.severity.rank, -item.confidence))


def _tip(finding: Finding) -> str:
    from rlclinic.rules.documentation import find_rule, page_of

    row = find_rule(finding.code)
    return page_of(row).sections["What to change"] if row is not None else ""
