"""Real runs of other people get a verdict that a reasonable expert would give.

The corpus is not part of the repository. Set RLCLINIC_CORPUS to its folder; without it these tests are skipped.
"""

from __future__ import annotations

from typing import Any

import pytest

from rlclinic.facts.run_facts import RunFacts
from rlclinic.judgement.verdict import verdict
from rlclinic.model.finding import Finding, Severity
from rlclinic.readers.open import read
from rlclinic.rules.registry import RULES, examine
from tests.test_corpus import CORPUS, LABELS, RUNS_IN_CORPUS

pytestmark = pytest.mark.skipif(
    not LABELS, reason=f"{RUNS_IN_CORPUS} labelled runs not checked: no corpus here, set RLCLINIC_CORPUS to its folder"
)

# Share of the runs whose label is sure that must get an acceptable verdict.
ACCEPTABLE = 0.9
OWN = tuple(row for row in RULES if row.family in {"success", "convergence", "evaluation", "process"})
# Findings that are true of a healthy run's logs, by the cause in its label that allows them.
ALLOWED = {"EVA02": "evaluation-stale", "EVA03": "return-not-logged", "PRC03": "interrupted"}


@pytest.fixture(scope="module")
def judged() -> list[tuple[dict[str, Any], str, str, tuple[Finding, ...]]]:
    """Label, verdict, reason and findings of each run."""
    rows = []
    for label in LABELS:
        facts = RunFacts(read(CORPUS / label["path"]))
        findings, _ = examine(facts)
        word, reason = verdict(facts, findings)
        rows.append((label, word.value, reason, findings))
    return rows


def test_nine_of_ten_sure_labels_are_met(judged: list[tuple[dict[str, Any], str, str, Any]]) -> None:
    sure = [row for row in judged if row[0]["confidence"] == "high"]
    missed = [
        f"{word}, not {' or '.join(label['verdict'])}: {label['path']} ({reason})"
        for label, word, reason, _ in sure
        if word not in label["verdict"]
    ]
    assert len(missed) <= (1 - ACCEPTABLE) * len(sure), "\n".join(missed)


def test_runs_that_learn_or_solve_their_task_get_no_warning_about_it(
    judged: list[tuple[dict[str, Any], str, str, tuple[Finding, ...]]],
) -> None:
    own = {row.code for row in OWN}
    wrong = [
        f"{finding.code} {finding.summary}: {label['path']}"
        for label, _, _, findings in judged
        if label["verdict"][0] in {"solved", "learning"}
        for finding in findings
        if finding.code in own and finding.severity is not Severity.INFO
        if ALLOWED.get(finding.code) not in label["causes"]
    ]
    assert wrong == []
