"""What is wrong with a run, what a finding means, and what was read: rlclinic's own questions, for every framework."""

from __future__ import annotations

from typing import Any, Literal

from rlclinic.apps.mcp.log_text import gravest, quoted
from rlclinic.apps.mcp.reply import UNTRUSTED, Number, Part, Reply, plain_value
from rlclinic.apps.mcp.tools.runs import threshold_of
from rlclinic.apps.mcp.workspace import Workspace
from rlclinic.model.errors import UsageError

# Findings, causes and prescriptions of the short form: the rest rarely changes what to do.
SHORT = 5
LEADING = 3


class EvidenceOut(Part):
    metric: str
    logged_as: str
    value: Number
    threshold: Number | None
    steps: list[Number] | None
    points: int
    note: str


class FindingOut(Part):
    code: str
    name: str
    severity: str
    confidence: Number
    onset_step: Number | None
    summary: str
    evidence: list[EvidenceOut]


class CauseOut(Part):
    id: str
    title: str
    probability: Number
    speaks_for: list[str]
    speaks_against: list[str]
    code: list[str]
    """Files and functions of the framework in which it happens, where they are known."""


class PrescriptionOut(Part):
    number: int
    priority: str
    kind: str
    instruction: str
    changes: list[dict[str, Any]]
    native: dict[str, str] | None
    """The change in the user's own syntax."""
    rationale: str
    expected_impact: dict[str, Any] | None
    """An interval with its basis: measured, cited or guess."""
    risk: str
    safety: str


class DiagnosisReply(Reply):
    run: dict[str, Any]
    verdict: str
    reason: str
    goal: dict[str, Any] | None
    causes: list[CauseOut]
    findings: list[FindingOut]
    findings_total: int
    prescriptions: list[PrescriptionOut]
    prescriptions_total: int
    decision_path: list[str]
    outlook: dict[str, Any] | None
    """Only for a run that is still going: where it heads and whether to continue, stop or restart."""
    next_steps: list[str]
    unknowns: list[str]
    not_checked: int
    """Rules whose inputs are missing. Absent is not healthy."""
    not_checked_needs: list[str]
    guidelines: list[str]
    untrusted: str = UNTRUSTED


class Explanation(Reply):
    name: str
    kind: str
    """rule, cause or list."""
    title: str
    sections: dict[str, str]
    thresholds: dict[str, Number]
    entries: list[str]


class ShownRun(Reply):
    run: dict[str, Any]
    metrics: list[dict[str, Any]]
    metrics_total: int
    missing_metrics: list[str]
    config: dict[str, Any]
    defaults: dict[str, Any]
    """Settings that the user did not set: the framework's own."""
    logs: list[str]
    checkpoints: int
    reader: str
    files: list[str]
    notes: list[str]
    untrusted: str = UNTRUSTED


def diagnose(
    workspace: Workspace, run_id: str, detail: Literal["short", "full"] = "short", goal: float | None = None
) -> DiagnosisReply:
    """Say what is wrong with a run of any framework, why, how surely, and what to change: verdict, findings with their
    arithmetic, causes with probabilities, prescriptions with expected impact. A running run gets an outlook instead of
    a result. `full` gives every finding; `goal` is the return that would be enough, in the run's units."""
    from rlclinic.reports.diagnosis_json import diagnosis_object

    opened = workspace.open(run_id)
    told = opened.towards(goal)
    data = diagnosis_object(told)
    most = SHORT if detail == "short" else 1_000
    findings = sorted(data["findings"], key=lambda item: ("error", "warning", "info").index(item["severity"]))
    needs = list(dict.fromkeys(need for item in data["not_checked"] for need in item["needs"]))
    reply = DiagnosisReply(
        run=_run(workspace, data["run"], threshold_of(opened) if told.goal is None else told.goal.level),
        verdict=data["verdict"],
        reason=data["reason"],
        goal=plain_value(data["goal"]),
        causes=[
            CauseOut(
                id=item["id"],
                title=item["title"],
                probability=item["probability"],
                speaks_for=item["for"],
                speaks_against=item["against"],
                code=item.get("code", []),
            )
            for item in data["causes"][:most]
        ],
        findings=[_finding(item, detail) for item in findings[:most]],
        findings_total=len(findings),
        prescriptions=[
            _prescription(number, item)
            for number, item in enumerate(data["prescriptions"][: LEADING if detail == "short" else most], start=1)
        ],
        prescriptions_total=len(data["prescriptions"]),
        decision_path=data["decision_path"],
        outlook=plain_value(data["outlook"]),
        next_steps=data["next_steps"],
        unknowns=data["unknowns"],
        not_checked=len(data["not_checked"]),
        not_checked_needs=needs[:8] if detail == "short" else needs,
        guidelines=[workspace.shown(path) for path in data["guidelines"]],
    )
    lines = "\n".join(f"{line.label}: {line.text}" for line in told.answer.lines[:LEADING])
    return reply.said(f"{opened.run.id!r}\n{lines}", wide=detail == "full")


def explain(workspace: Workspace, name: str = "") -> Explanation:
    """Explain a rule by its code or name (POL02, entropy-fell-early) or a cause by its id: what it sees, why it hurts,
    what looks alike, what to change. Without a name, list the causes and the rule families."""
    from rlclinic.causes.catalogue import catalogue
    from rlclinic.causes.explain import cause_page
    from rlclinic.rules.documentation import find_rule, page_of
    from rlclinic.rules.registry import RULES

    wanted = name.strip()
    row, entry = find_rule(wanted), catalogue().get(wanted)
    if row is not None:
        page = page_of(row)
        return Explanation(
            name=f"{page.code} {page.name}", kind="rule", title=page.title, sections=dict(page.sections),
            thresholds=dict(row.limits), entries=[],
        ).said(f"{page.code} {page.name}: {page.title}.")  # fmt: skip
    if entry is not None:
        body = {"Meaning": entry.meaning, "Class": entry.cause_class, **cause_page(entry)["speaks"]}
        return Explanation(
            name=entry.id, kind="cause", title=entry.meaning, sections=body, thresholds={}, entries=[]
        ).said(f"{entry.id}: {entry.meaning}.")
    if not wanted or wanted in {item.family for item in RULES}:
        rules = [f"{item.code} {item.name}" for item in RULES if wanted in ("", item.family)]
        entries = rules if wanted else [*catalogue(), *sorted({f"family {item.family}" for item in RULES})]
        return Explanation(
            name=wanted or "all", kind="list", title="Names that explain takes", sections={}, thresholds={},
            entries=entries,
        ).said(f"{len(entries)} names; a family lists its rules.")  # fmt: skip
    import difflib

    names = [*catalogue(), *(item.name for item in RULES), *(item.code for item in RULES)]
    near = difflib.get_close_matches(wanted, names, n=3, cutoff=0.5)
    told = f"did you mean {' or '.join(near)}? " if near else ""
    raise UsageError(f"no rule or cause is called {wanted!r}", hint=f"{told}explain without a name lists them")


def show_run(workspace: Workspace, run_id: str, filter: str = "", offset: int = 0, limit: int = 25) -> ShownRun:  # noqa: A002
    """Everything that was read of a run of any framework: identity, metrics found and missing, config with what was a
    default, log excerpts, files, and what could not be read. `filter`, `offset` and `limit` page the metrics."""
    from rlclinic.reports.run_json import show_object

    opened = workspace.open(run_id)
    data = show_object(opened.run)
    rows = [row for row in data["metrics"] if filter.lower() in f"{row['name']} {row['logged_as']}".lower()]
    kept = ("name", "logged_as", "points", "first", "last", "best", "caveat")
    first = max(offset, 0)
    config = {name: plain_value(item["value"]) for name, item in data["config"].items() if not item["default"]}
    reply = ShownRun(
        run=_run(workspace, data["run"], threshold_of(opened)),
        metrics=[plain_value({key: row[key] for key in kept if row[key] not in ("", None)}) for row in rows][
            first : first + max(1, min(limit, 200))
        ],
        metrics_total=len(rows),
        missing_metrics=data["missing_metrics"],
        config=config,
        defaults={name: plain_value(item["value"]) for name, item in data["config"].items() if item["default"]},
        logs=[quoted(item, 240) for item in gravest(opened.run.logs)[:5]],
        checkpoints=len(data["checkpoints"]),
        reader=data["provenance"]["reader"],
        files=[item["path"] for item in data["provenance"]["files"]][:20],
        notes=data["provenance"]["notes"][:10],
    )
    text = f"{opened.run.id!r}: {opened.run.framework}, {len(rows)} metrics, {len(config)} settings."
    return reply.said(text, wide=limit != 25)


def _run(workspace: Workspace, summary: dict[str, Any], threshold: float | None) -> dict[str, Any]:
    """The run with the threshold that all tools judge by, whoever names it."""
    found: dict[str, Any] = plain_value(summary)
    judged = {**found["return"], "threshold": threshold}
    return {**found, "path": workspace.shown(str(summary["path"])), "return": judged}


def _finding(item: dict[str, Any], detail: str) -> FindingOut:
    names = ("code", "name", "severity", "confidence", "onset_step", "summary")
    shown = item["evidence"][:1] if detail == "short" else item["evidence"]
    return FindingOut(**{name: item[name] for name in names}, evidence=[EvidenceOut(**evidence) for evidence in shown])


def _prescription(number: int, item: dict[str, Any]) -> PrescriptionOut:
    names = ("priority", "kind", "instruction", "native", "rationale", "risk", "safety")
    return PrescriptionOut(
        number=number,
        changes=[plain_value(change) for change in item["changes"]],
        expected_impact=plain_value(item["expected_impact"]),
        **{name: item[name] for name in names},
    )
