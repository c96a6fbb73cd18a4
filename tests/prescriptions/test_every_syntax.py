"""Every cause with a config remedy, in every syntax: applied to a real config, loaded, and read back as prescribed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rlclinic.causes.catalogue import catalogue
from rlclinic.model.diagnosis import Verdict
from rlclinic.model.prescription import Change, PrescriptionKind
from rlclinic.model.run import Run
from rlclinic.prescriptions.candidate import candidate_of
from rlclinic.prescriptions.case import Case
from rlclinic.prescriptions.constraints import fitted, problems
from rlclinic.prescriptions.effects import Effects
from rlclinic.prescriptions.levers import turned
from rlclinic.prescriptions.proposal import fits, proposed
from rlclinic.prescriptions.remedies import remedies
from rlclinic.prescriptions.syntax import CannotWrite, render
from rlclinic.prescriptions.written import change_of
from tests.prescriptions.made import suspected
from tests.prescriptions.matrix.configs import Config, configs
from tests.prescriptions.matrix.loaders import loaded
from tests.prescriptions.matrix.refused import REFUSED, UNREAD
from tests.prescriptions.matrix.sickness import sick

CAUSES = [
    cause for cause, remedy in remedies().items() if any(row.kind is PrescriptionKind.CONFIG for row in remedy.rows)
]
SYNTAXES = list(dict.fromkeys(config.syntax for config in configs()))
LANGUAGE = "language-model"


def _concerned(cause: str, syntax: str) -> list[Config]:
    """Configs of a syntax that the cause can be about: language models have causes and configs of their own."""
    about_language = catalogue()[cause].cause_class == LANGUAGE
    return [item for item in configs() if item.syntax == syntax and (item.framework == "verl") == about_language]


def _case(run: Run, cause: str) -> Case:
    (suspect,) = suspected({cause: 0.9})
    return Case(run, Verdict.NOT_LEARNING, {}, {cause: suspect})


def _offers(case: Case, cause: str) -> Iterator[tuple[Change, ...]]:
    """The changes of each config row that has something to say about this config."""
    for row in remedies()[cause].rows:
        if row.kind is not PrescriptionKind.CONFIG or not fits(case, row):
            continue
        turns = fitted(case, proposed(case, row))
        changes = tuple(found for turn in turned(case, turns) if (found := change_of(case, turn)) is not None)
        if changes and not problems(case, turns):
            yield changes


@pytest.mark.parametrize("syntax", SYNTAXES)
@pytest.mark.parametrize("cause", CAUSES)
def test_a_prescription_loads_in_the_framework_and_reads_back(cause: str, syntax: str) -> None:
    written, reasons = 0, []
    for config in _concerned(cause, syntax):
        run = sick(config, cause)
        for changes in _offers(_case(run, cause), cause):
            try:
                native = render(run, changes, config.dialect)
            except CannotWrite as refusal:
                reasons.append(refusal.message)
                continue
            written += 1
            before = {key: setting.value for key, setting in run.config.native.items()}
            after = config.run(loaded(config, before, native.text))
            for change in changes:
                if (syntax, change.key) not in UNREAD:
                    _assert_same(after, change, native.text)
    if written:
        assert (cause, syntax) not in REFUSED, "it can be written now: take it off the table of refusals"
        return
    assert (cause, syntax) in REFUSED, f"nothing was written: {reasons or 'no row has anything to offer'}"
    assert all(len(reason) > 10 for reason in reasons)


def _assert_same(run: Run, change: Change, text: str) -> None:
    found = _meaning(change.key, run.config.get(change.key))
    if isinstance(change.after, float):
        assert found == pytest.approx(change.after, rel=1e-9), text
    else:
        assert found == change.after, text


@pytest.mark.parametrize(("cause", "syntax"), sorted(REFUSED))
def test_what_cannot_be_written_is_prescribed_in_another_way(cause: str, syntax: str) -> None:
    for config in _concerned(cause, syntax):
        if config.dialect.id.endswith(("-flags", "-yaml")) and config.framework in ("gymnasium-solver", "sb3-zoo"):
            continue  # The other syntax of the same framework may say it.
        case = _case(sick(config, cause), cause)
        made = candidate_of(case, case.causes[cause], Effects())
        assert made is not None
        assert made.prescription.kind is not PrescriptionKind.CONFIG
        assert len(made.prescription.instruction) > 20


def _meaning(key: str, value: object) -> object:
    """What a framework's own word for a setting means."""
    if key == "learning_rate_schedule" and value in (None, False, "fixed"):
        return "constant" if value is not False else False
    if key in ("normalize_advantage", "normalize_obs") and isinstance(value, str):
        return value not in ("off", "NoFilter")
    return value
