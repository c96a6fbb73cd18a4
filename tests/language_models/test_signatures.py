"""Signatures of language-model faults, end to end: a log as a framework writes it, and what is said of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from rlclinic.engine import diagnose
from rlclinic.model.diagnosis import Diagnosis
from tests.language_models.cases import CASES, FALL, FLAT, GRPO, RISE_AND_STALL, Case
from tests.language_models.curves import UPDATES, Curve, Drawn, healthy
from tests.language_models.logs import write

# Causes that accuse nothing of what was configured or written.
HARMLESS = frozenset({"nothing-wrong", "unknown", "already-solved", "budget-too-small", "validation-missing"})
SURE = 0.5


def _each(*, first: bool) -> Iterator[object]:
    """Each case in one format, a different one from case to case; or in all the others."""
    for place, case in enumerate(CASES):
        chosen = case.frameworks[place % len(case.frameworks)]
        for framework in case.frameworks:
            if (framework == chosen) is first:
                yield pytest.param(case, framework, id=f"{case.name}-{framework}")


@pytest.mark.parametrize(("case", "framework"), list(_each(first=True)))
def test_a_signature_leads_to_its_cause_and_its_twins_to_none(case: Case, framework: str, tmp_path: Path) -> None:
    _judge(case, _diagnosed(case, framework, tmp_path))


@pytest.mark.slow
@pytest.mark.parametrize(("case", "framework"), list(_each(first=False)))
def test_the_format_does_not_matter(case: Case, framework: str, tmp_path: Path) -> None:
    _judge(case, _diagnosed(case, framework, tmp_path))


@pytest.mark.parametrize("rate", [5e-7, 1e-6, 3e-6])
@pytest.mark.parametrize("score", [FLAT, FALL, RISE_AND_STALL])
def test_an_ordinary_learning_rate_is_not_blamed(rate: float, score: Curve, tmp_path: Path) -> None:
    curves = healthy(Drawn(0), score) | {"rate": np.full(UPDATES, rate)}
    found = diagnose(write("verl", tmp_path / "run", curves, {**GRPO, "actor_rollout_ref.actor.optim.lr": rate}))
    assert not found.causes[0].id.startswith("learning-rate")
    assert not any(change.key == "learning_rate" for item in found.prescriptions[:1] for change in item.changes)


@pytest.mark.parametrize(("rate", "rank", "after"), [(5e-5, 0, 2e-6), (1e-5, 0, 3.3e-6), (5e-5, 32, 1.7e-5)])
def test_a_rate_far_beyond_the_usual_goes_there_at_once(rate: float, rank: int, after: float, tmp_path: Path) -> None:
    case = next(case for case in CASES if case.name == "learning-rate-too-high")
    config = {"actor_rollout_ref.actor.optim.lr": rate, "actor_rollout_ref.model.lora_rank": rank}
    found = diagnose(write("verl", tmp_path / "run", case.build(Drawn(0)), {**GRPO, **config}))
    changes = [change for item in found.prescriptions for change in item.changes]
    assert next(change.after for change in changes if change.key == "learning_rate") == after


def _diagnosed(case: Case, framework: str, folder: Path) -> Diagnosis:
    return diagnose(write(framework, folder / "run", case.build(Drawn(0)), {**GRPO, **case.config}))


def _judge(case: Case, found: Diagnosis) -> None:
    assert found.verdict.value in case.verdicts
    if not case.calm:
        assert found.causes[0].id in case.causes
        return
    assert not [cause.id for cause in found.causes if cause.probability >= SURE and cause.id not in HARMLESS]
    assert not [finding.code for finding in found.findings if finding.severity.rank > 0]
