"""A diagnosis as JSON: the object that `rlclinic diagnose --json` prints. docs/diagnosis.schema.json describes it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rlclinic.model.answer import Answer
from rlclinic.model.diagnosis import Cause, Diagnosis, Suspect
from rlclinic.model.finding import Evidence, Finding
from rlclinic.model.summary import run_summary
from rlclinic.reports.outlook import outlook_object
from rlclinic.reports.recommendations import prescription_object
from rlclinic.reports.root_cause import shown_causes
from rlclinic.reports.run_json import dumps

DIAGNOSIS_SCHEMA = "rlclinic.diagnosis/1"
# Digits of a probability: more would claim what no likelihood table holds.
DIGITS = 4


def diagnosis_object(diagnosis: Diagnosis) -> dict[str, Any]:
    """The object of the contract. Numbers that are not finite are still floats; `dumps` writes them as strings."""
    return {
        "schema": DIAGNOSIS_SCHEMA,
        "run": run_summary(diagnosis.run),
        "verdict": diagnosis.verdict.value,
        "reason": diagnosis.reason,
        "answer": answer_object(diagnosis.answer),
        "healthy": diagnosis.is_healthy,
        "lacking": list(diagnosis.lacking),
        "findings": [_finding(finding) for finding in diagnosis.findings],
        "not_checked": [
            {"code": item.code, "title": item.title, "needs": list(item.needs), "error": item.error or None}
            for item in diagnosis.not_checked
        ],
        "causes": [_cause(cause) for cause in shown_causes(diagnosis)],
        "classes": [
            {"id": name, "probability": round(probability, DIGITS)}
            for name, probability in sorted(diagnosis.classes.items(), key=lambda item: -item[1])
        ],
        "prescriptions": [prescription_object(item) for item in diagnosis.prescriptions],
        "decision_path": list(diagnosis.decision_path),
        "next_steps": list(diagnosis.next_steps),
        "unknowns": list(diagnosis.unknowns),
        "curves": [
            {
                "metric": name,
                "start": curve.start,
                "best": curve.best,
                "best_step": curve.best_step,
                "final": curve.final,
            }
            for name, curve in diagnosis.curves.items()
        ],
        "goal": None if diagnosis.goal is None else {"level": diagnosis.goal.level, "origin": diagnosis.goal.origin},
        "moves": [asdict(onset) for onset in diagnosis.onsets],
        "suspect": None if diagnosis.suspect is None else _suspect(diagnosis.suspect),
        "guidelines": list(diagnosis.guidelines),
        "outlook": outlook_object(diagnosis.outlook),
    }


def diagnosis_json(diagnosis: Diagnosis) -> str:
    """The object as JSON text."""
    return dumps(diagnosis_object(diagnosis)) + "\n"


def answer_object(answer: Answer) -> list[dict[str, Any]]:
    """The lines of the answer."""
    return [{"label": line.label, "text": line.text, "commands": dict(line.commands)} for line in answer.lines]


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "code": finding.code,
        "name": finding.name,
        "title": finding.title,
        "family": finding.family,
        "severity": finding.severity.value,
        "confidence": round(finding.confidence, DIGITS),
        "onset_step": finding.onset_step,
        "summary": finding.summary,
        "evidence": [_evidence(item) for item in finding.evidence],
    }


def _evidence(item: Evidence) -> dict[str, Any]:
    return {
        "metric": item.metric,
        "logged_as": item.logged_as,
        "steps": None if item.steps is None else list(item.steps),
        "value": item.value,
        "threshold": item.threshold,
        "points": item.points,
        "note": item.note,
    }


def _cause(cause: Cause) -> dict[str, Any]:
    return {
        "id": cause.id,
        "class": cause.cause_class,
        "kind": cause.kind,
        "title": cause.title,
        "probability": round(cause.probability, DIGITS),
        "metrics_only": round(cause.metrics_only, DIGITS),
        "config_only": round(cause.config_only, DIGITS),
        "component": cause.component,
        "for": list(cause.supports),
        "against": list(cause.contradicts),
        **({"code": list(cause.code)} if cause.code else {}),
    }


def _suspect(suspect: Suspect) -> dict[str, Any]:
    return {**asdict(suspect), "config": dict(suspect.config)}
