"""Every cause with a config remedy, in every syntax.

Either the prescription is applied to a real config, loaded by the framework and read back as prescribed; or the product
says why the config cannot say it, and prescribes something else.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest

from rlclinic.causes.catalogue import catalogue
from rlclinic.engine import diagnose
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.diagnosis import Verdict
from rlclinic.model.prescription import Change, Prescription, PrescriptionKind
from rlclinic.model.run import Run
from rlclinic.prescriptions.assessment import Assessment
from rlclinic.prescriptions.checks.constraints import fitted, problems
from rlclinic.prescriptions.proposals.effects import Effects
from rlclinic.prescriptions.proposals.native_settings import native_settings
from rlclinic.prescriptions.proposals.option import fits, option_changes, unwritable
from rlclinic.prescriptions.proposals.proposal import proposal_of
from rlclinic.prescriptions.proposals.written import change_of
from rlclinic.prescriptions.remedies.table import remedies
from rlclinic.prescriptions.syntax import CannotWrite, dialects_of, render
from tests.prescriptions.made import suspected
from tests.prescriptions.matrix.configs import LANGUAGE_MODELS, Config, configs
from tests.prescriptions.matrix.loaders import loaded
from tests.prescriptions.matrix.refused import REFUSED, UNREAD
from tests.prescriptions.matrix.sickness import sick

CAUSES = [
    cause
    for cause, remedy in remedies().items()
    if any(option.kind is PrescriptionKind.CONFIG for option in remedy.options)
]
SYNTAXES = list(dict.fromkeys(config.syntax for config in configs()))
LANGUAGE, IMITATION = "language-model", "imitation"


@pytest.mark.parametrize("syntax", SYNTAXES)
@pytest.mark.parametrize("cause", CAUSES)
def test_a_cause_is_treated_in_the_config_or_it_is_said_why_not(cause: str, syntax: str) -> None:
    concerned = _concerned(cause, syntax)
    if not concerned:
        _assert_out_of_the_question(cause, syntax)
        return
    written = [_assert_written(config, cause, changes) for config in concerned for changes in _offers(config, cause)]
    if any(written):
        assert (cause, syntax) not in REFUSED, "it can be written now: take it off the table of refusals"
        return
    assert (cause, syntax) in REFUSED, "nothing was written"
    told = [_assert_said_otherwise(config, cause) for config in concerned]
    words = REFUSED[cause, syntax]
    assert any(words in reason for reason in told) if words else not any(told), told


def test_the_table_of_refusals_is_about_known_causes_and_syntaxes() -> None:
    assert {cause for cause, _ in REFUSED} <= set(CAUSES)
    assert {syntax for _, syntax in REFUSED} <= set(SYNTAXES)


def _concerned(cause: str, syntax: str) -> list[Config]:
    """Configs of a syntax that the cause can be about: language models and imitation have causes of their own."""
    if catalogue()[cause].cause_class == IMITATION:
        return []
    about_language = catalogue()[cause].cause_class == LANGUAGE
    own = [item for item in configs() if item.syntax == syntax]
    return [item for item in own if (item.framework in LANGUAGE_MODELS) == about_language]


def _assert_out_of_the_question(cause: str, syntax: str) -> None:
    """A run that trains no language model, or imitates nobody, is never suspected of a cause that only these have."""
    own = catalogue()[cause].cause_class
    assert own in (LANGUAGE, IMITATION)
    for config in configs():
        if config.syntax == syntax:
            assert own not in _classes(config.syntax, config.algorithm)


@cache
def _classes(*identity: str) -> frozenset[str]:
    config = next(item for item in configs() if (item.syntax, item.algorithm) == identity)
    return frozenset(diagnose(config.run()).classes)


def _assessment(config: Config, cause: str) -> Assessment:
    (suspect,) = suspected({cause: 0.9})
    return Assessment(RunFacts(sick(config, cause)), Verdict.NOT_LEARNING, {}, {cause: suspect})


def _offers(config: Config, cause: str) -> Iterator[tuple[Change, ...]]:
    """The changes of each config option that has something to say about this config."""
    assessment = _assessment(config, cause)
    for option in remedies()[cause].options:
        if option.kind is not PrescriptionKind.CONFIG or not fits(assessment, option):
            continue
        wanted = fitted(assessment, option_changes(assessment, option))
        written = (change_of(assessment, change) for change in native_settings(assessment, wanted))
        changes = tuple(change for change in written if change is not None)
        if changes and not problems(assessment, wanted):
            yield changes


def _assert_written(config: Config, cause: str, changes: tuple[Change, ...]) -> bool:
    """Whether the syntax can say the changes; what it says must load and read back."""
    run = sick(config, cause)
    try:
        native = render(run, changes, config.dialect)
    except CannotWrite:
        return False
    before = {key: setting.value for key, setting in run.config.native.items()}
    after = config.run(loaded(config, before, native.text))
    for change in changes:
        if (config.syntax, change.key) not in UNREAD:
            _assert_same(after, change, native.text)
    return True


def _assert_same(run: Run, change: Change, text: str) -> None:
    found = _meaning(change.key, run.config.get(change.key))
    if isinstance(change.after, float):
        assert found == pytest.approx(change.after, rel=1e-9), text
    else:
        assert found == _meaning(change.key, change.after), text


def _assert_said_otherwise(config: Config, cause: str) -> str:
    """Something else is prescribed, with the reason why the config cannot say it; the reason, if there is one."""
    assessment = _assessment(config, cause)
    made = proposal_of(assessment, assessment.causes[cause], Effects())
    assert made is not None
    if _other_syntax_says_it(config, made.prescription):
        return _refusal(config, cause)
    assert made.prescription.kind is not PrescriptionKind.CONFIG
    assert len(made.prescription.instruction) > 20
    reason = unwritable(assessment, remedies()[cause].options)
    assert reason in made.prescription.rationale
    return reason


def _other_syntax_says_it(config: Config, prescription: Prescription) -> bool:
    others = {item.id for item in dialects_of(config.own_run())} - {config.syntax}
    return prescription.native is not None and prescription.native.format in others


def _refusal(config: Config, cause: str) -> str:
    """Why this very syntax cannot say the changes."""
    changes = next(_offers(config, cause))
    with pytest.raises(CannotWrite) as refusal:
        render(sick(config, cause), changes, config.dialect)
    return refusal.value.message


def _meaning(key: str, value: object) -> object:
    """What a framework's own word for a setting means."""
    if key == "learning_rate_schedule" and value in (None, False, "fixed"):
        return "constant" if value is not False else False
    if key in ("normalize_advantage", "normalize_obs") and isinstance(value, str):
        return value not in ("off", "NoFilter")
    if key == "clip_range_vf" and value == 0:
        return None
    return value
