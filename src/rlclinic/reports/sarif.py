"""Diagnoses as SARIF 2.1.0, for code scanning and editors: one run with many results.

A result points at the config line of the offending value where there is one, else at the file its numbers come from.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from rlclinic import __version__
from rlclinic.model.diagnosis import Diagnosis
from rlclinic.model.finding import Finding, Severity
from rlclinic.model.numbers import percent
from rlclinic.model.words import sentence
from rlclinic.reports.formats import Context
from rlclinic.reports.location import finding_location, source_file
from rlclinic.reports.run_json import dumps
from rlclinic.reports.text import printable

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
# Digits of a confidence.
DIGITS = 4
# For a finding whose rule says nothing of itself.
NAMELESS = "Finding"
# The standard wants the name of a rule in Pascal case, of letters and digits.
_WORDS = re.compile(r"[A-Za-z][A-Za-z0-9]*")


def diagnoses_sarif(diagnoses: Sequence[Diagnosis], context: Context) -> str:
    """All findings of all diagnoses as one SARIF run."""
    pairs = [(diagnosis, finding) for diagnosis in diagnoses for finding in diagnosis.findings]
    rules: dict[str, Finding] = {}
    for _, finding in sorted(pairs, key=lambda pair: pair[1].code):
        rules.setdefault(finding.code, finding)
    places = {code: index for index, code in enumerate(rules)}
    run = {
        "tool": {
            "driver": {
                "name": "rlclinic",
                "semanticVersion": __version__,
                "rules": [_rule(finding, context.guides.get(code, {})) for code, finding in rules.items()],
            }
        },
        "columnKind": "unicodeCodePoints",
        "results": [_result(diagnosis, finding, places[finding.code], context.root) for diagnosis, finding in pairs],
    }
    return dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}) + "\n"


def _rule(finding: Finding, guide: Mapping[str, str]) -> dict[str, Any]:
    title = printable(sentence(finding.title)) or NAMELESS
    text = "\n\n".join(f"{head}: {body}" for head, body in guide.items()) or title
    markdown = "\n\n".join(f"**{head}.** {body}" for head, body in guide.items()) or title
    return {
        "id": finding.code,
        "name": "".join(part.capitalize() for part in _WORDS.findall(finding.name)) or NAMELESS,
        "shortDescription": {"text": title},
        "fullDescription": {"text": guide.get("What it sees", title)},
        "help": {"text": text, "markdown": markdown},
        "defaultConfiguration": {"level": LEVELS[finding.severity]},
        "properties": {"tags": [finding.family]},
    }


def _result(diagnosis: Diagnosis, finding: Finding, rule: int, root: str) -> dict[str, Any]:
    place = finding_location(diagnosis, finding, root)
    file = place.file if place is not None else source_file(diagnosis, finding, root)
    run = diagnosis.run
    lead = diagnosis.causes[0] if diagnosis.causes else None
    cause = "" if lead is None else f" Leading cause: {lead.id} ({percent(lead.probability)})."
    mark = hashlib.blake2b(f"{finding.code}\0{run.path}".encode("utf-8", "surrogateescape"), digest_size=16)
    return {
        "ruleId": finding.code,
        "ruleIndex": rule,
        "level": LEVELS[finding.severity],
        "message": {"text": printable(f"{run.id}: {sentence(finding.summary, finding.names)}{cause}")},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": quote(file, errors="replace")},
                    "region": {"startLine": place.line if place is not None else 1},
                }
            }
        ],
        "partialFingerprints": {"rlclinic/v1": mark.hexdigest()},
        "properties": {
            "run": run.id,
            "verdict": diagnosis.verdict.value,
            "confidence": round(finding.confidence, DIGITS),
            "onsetStep": finding.onset_step,
        },
    }
