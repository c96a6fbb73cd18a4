"""A diagnosis in which every text is an attack on the reader of the report."""

from __future__ import annotations

import numpy as np

from rlclinic.model.config import Config, Origin, Setting
from rlclinic.model.diagnosis import Cause, Diagnosis, Verdict
from rlclinic.model.finding import Evidence, Finding, NotChecked, Severity
from rlclinic.model.prescription import (
    Basis,
    Change,
    Impact,
    Native,
    Prescription,
    PrescriptionKind,
    Priority,
    Safety,
)
from rlclinic.model.run import LogExcerpt, Provenance, Run, RunStatus, SourceFile, Status
from rlclinic.model.series import Series

SCRIPT = "<script>alert(1)</script>"
ATTACKS = (
    SCRIPT,
    '"><img src=x onerror=alert(1)>',
    "'-alert(1)-'",
    "</style></title></svg><b>",
    "\x1b[31mred\x1b]8;;http://x\x07",
    "right\u202eto\u2066left",
    "a\n\n# Forged heading\n\n| a | b |",
    "[link](javascript:alert(1)) ![pixel](http://x/y.png)",
    "@maintainer #1 *bold* `code` ``more`` ~~gone~~ $x$",
    "x" * 300,
    "\x00\x07\x9b31m",
    "",
)


def hostile_diagnosis(text: str) -> Diagnosis:
    """The same text in every place that a log, a config or a file name can fill."""
    steps = np.arange(60.0)
    series = {
        name: Series(name, text, steps, np.sin(steps), caveat=text, known=False)
        for name in ("return/train", "return/eval", "approx_kl", f"home{text}made")
    }
    settings = {text: Setting(text, text, text, Origin(text, 3)), "lr": Setting("lr", text, text)}
    run = Run(
        id=text,
        path=text,
        framework="unknown",
        source=text,
        algorithm=text,
        environment=text,
        status=RunStatus(Status.CRASHED, text),
        steps=59.0,
        budget=100.0,
        threshold=2.0,
        config=Config(settings, settings),
        series=series,
        logs=(LogExcerpt("traceback", text, 1, f"{text}\n```\n{text}"),),
        provenance=Provenance(text, (SourceFile(text, text, 1),), (text,)),
    )
    evidence = (
        Evidence("approx_kl", text, 1.0, 0.5, (3.0, 9.0), 4, text),
        Evidence(f"home{text}made", text, float("nan"), 0.5),
    )
    return Diagnosis(
        run=run,
        verdict=Verdict.CRASHED,
        reason=text,
        findings=tuple(Finding(text, text, text, item, 0.5, text, evidence, 20.0, text) for item in Severity),
        not_checked=(NotChecked(text, text, (text,)),),
        causes=(
            Cause(text, text, "root", text, 0.6, 0.5, 0.4, text or None, (text,), (text,)),
            Cause("unknown", "unknown", "none", "unknown", 0.4),
        ),
        classes={text: 0.6},
        prescriptions=(
            Prescription(
                priority=Priority.HIGH,
                kind=PrescriptionKind.CONFIG,
                instruction=text,
                rationale=text,
                expected_impact=Impact(text, -0.5, 0.5, Basis.GUESS, text),
                risk=text,
                safety=Safety.SAFE,
                causes=(text,),
                changes=(Change(text, text, text, text),),
                native=Native(text, f"{text}\n```\n{text}"),
                code=f"{text}\n```\n{text}",
                watch=(text, "approx_kl"),
            ),
        ),
        guidelines=(text,),
        decision_path=(text,),
        next_steps=(text, text),
        unknowns=(text,),
    )
