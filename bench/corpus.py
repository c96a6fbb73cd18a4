"""Diagnose a corpus of labelled runs and print how right verdicts and causes are: `python -m bench.corpus [FOLDER]`.

The folder holds labels.yaml: for each run its path, acceptable verdicts and causes, and the labeller's confidence.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

import yaml

from rlclinic.engine import diagnose
from rlclinic.model.diagnosis import Diagnosis
from rlclinic.model.errors import RlclinicError
from rlclinic.readers.open import read

DEFAULT = Path(os.environ.get("RLCLINIC_CORPUS", "../shared/corpus"))
HEALTHY = ("solved", "learning")
# Causes that say that nothing needs to change.
HARMLESS = frozenset({"nothing-wrong", "already-solved", "unknown"})
SURE = 0.5
WIDTH = 46


def main(folder: Path = DEFAULT) -> dict[str, float]:
    """Print one line per run and the shares; return the shares."""
    labels: list[dict[str, Any]] = yaml.safe_load((folder / "labels.yaml").read_text(encoding="utf-8"))
    high = right = false_alarms = healthy = with_cause = named = 0
    for label in labels:
        try:
            diagnosis = diagnose(read(folder / label["path"]))
        except RlclinicError as error:
            print(f"{_short(label)} cannot be read: {error.message}")
            continue
        fits = diagnosis.verdict.value in label["verdict"]
        alarm = _false_alarm(diagnosis, label)
        found = _names_cause(diagnosis, label)
        sure = label["confidence"] == "high"
        high += sure
        right += sure and fits
        healthy += label["verdict"][0] in HEALTHY
        false_alarms += bool(alarm)
        with_cause += bool(label["causes"])
        named += bool(label["causes"]) and found
        marks = ("  " if fits else "V ") + ("C " if label["causes"] and not found else "  ") + ("F" if alarm else " ")
        top = ", ".join(f"{cause.id} {cause.probability:.2f}" for cause in diagnosis.causes[:3])
        codes = " ".join(f.code for f in diagnosis.findings if f.severity.rank > 0)
        ours = f"{diagnosis.verdict.value:17s} | {label['verdict']} | {top} | {label['causes']} | {codes}"
        print(f"{_short(label)} {marks} {ours}")
    shares = {
        "acceptable verdict, high-confidence runs": right / max(high, 1),
        "accepted cause among the first three": named / max(with_cause, 1),
        "false alarms on healthy runs": false_alarms / max(healthy, 1),
    }
    print("\nV verdict not acceptable, C no accepted cause among the first three, F false alarm on a healthy run")
    for name, share in shares.items():
        print(f"{name}: {share:.3f}")
    print(f"{right} of {high} verdicts, {named} of {with_cause} causes, {false_alarms} of {healthy} healthy runs")
    return shares


def _short(label: dict[str, Any]) -> str:
    name = re.sub(r"^([^/]+)/.*?([^/]{1,28})$", r"\1/\2", label["path"])
    return f"{name[-WIDTH:]:{WIDTH}s}"


def _false_alarm(diagnosis: Diagnosis, label: dict[str, Any]) -> str:
    if label["verdict"][0] not in HEALTHY:
        return ""
    wrong = [
        c for c in diagnosis.causes if c.probability > SURE and c.id not in HARMLESS and c.id not in label["causes"]
    ]
    return wrong[0].id if wrong else ""


def _names_cause(diagnosis: Diagnosis, label: dict[str, Any]) -> bool:
    return any(cause.id in label["causes"] for cause in diagnosis.causes[:3])


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT)
