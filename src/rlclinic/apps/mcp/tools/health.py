"""Whether anything is wrong with a run, in short."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlclinic.apps.mcp.desk import Case, Desk
from rlclinic.apps.mcp.reply import UNTRUSTED, Part, Reply

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


def health_check(desk: Desk, run_id: str) -> Health:
    """The worst findings of a run in short: severity, rule, message, tip. Healthy means that nothing was found and
    enough could be checked. diagnose tells causes and changes."""
    case = desk.case(run_id)
    found = by_weight(case)
    serious = _serious(case)
    verdict = case.diagnosis.verdict.value
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
        is_healthy=is_healthy(case),
        verdict=verdict,
        rules_not_checked=len(case.diagnosis.not_checked),
    )
    return reply.said(f"{case.run.id!r}: {verdict}, {len(serious)} findings that matter.")


def is_healthy(case: Case) -> bool | None:
    """Whether nothing serious was found and the run does well; None where too little could be checked to say."""
    verdict = case.diagnosis.verdict.value
    if _serious(case):
        return False
    return None if verdict in UNDECIDED else verdict in ("solved", "learning")


def by_weight(case: Case) -> list[Finding]:
    """The findings, the worst first."""
    return sorted(case.diagnosis.findings, key=lambda item: (-item.severity.rank, -item.confidence))


def _serious(case: Case) -> list[Finding]:
    return [finding for finding in case.diagnosis.findings if finding.severity.value != "info"]


def _tip(finding: Finding) -> str:
    from rlclinic.rules.documentation import find_rule, page_of

    row = find_rule(finding.code)
    return page_of(row).sections["What to change"] if row is not None else ""
