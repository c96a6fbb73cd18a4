"""Every rule is documented and has a name of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from rlclinic.engine import diagnose
from rlclinic.model.errors import UsageError
from rlclinic.readers.open import read
from rlclinic.rules.documentation import SECTIONS, page_of
from rlclinic.rules.registry import RULES, check_names, checked_limits
from rlclinic.rules.rule import RuleInfo

FOLDER = Path(__file__).parents[2] / "src" / "rlclinic" / "rules"


def test_there_are_rules_for_every_family() -> None:
    families = {row.family for row in RULES}
    classic = [row for row in RULES if row.family != "language_model"]
    assert len(classic) >= 45
    assert families == {path.parent.name for path in FOLDER.glob("*/__init__.py")}


def test_codes_and_names_are_unique() -> None:
    assert len({row.code for row in RULES}) == len({row.name for row in RULES}) == len(RULES)


def test_every_rule_file_has_a_row() -> None:
    files = {
        path.stem.replace("_", "-")
        for path in FOLDER.glob("*/*.py")
        if path.stem != "__init__" and "def check(" in path.read_text(encoding="utf-8")
    }
    assert files == {row.name for row in RULES}


@pytest.mark.parametrize("row", RULES, ids=lambda row: row.code)
def test_a_rule_is_documented_whole(row: RuleInfo) -> None:
    page = page_of(row)
    assert list(page.sections) == list(SECTIONS)
    assert 10 < len(page.title) < 110
    assert "!" not in page.title


def test_a_name_that_is_no_rule_is_refused() -> None:
    with pytest.raises(UsageError, match="no rule or family is called 'nonsense'"):
        check_names(["POL01", "nonsense"])


def test_a_limit_can_be_moved_for_one_diagnosis_and_an_unknown_one_is_refused() -> None:
    run = read(FOLDER.parents[2] / "tests" / "fixtures" / "runs" / "sb3" / "ppo_cartpole_high_lr")
    never = checked_limits({"kl-too-large": {"LARGE": 1e6, "meaningless": 1e6, "mostly_beyond": 1e6, "burst": 1e6}})
    assert never["POL04"]["large"] == 1e6
    before, moved, after = (diagnose(run, limits=limits) for limits in (None, never, None))
    assert [finding.code for finding in moved.findings if finding.code == "POL04"] == []
    assert "POL04" in {finding.code for finding in before.findings}
    assert before.findings == after.findings
    assert (moved.verdict, moved.causes, moved.prescriptions) == (before.verdict, before.causes, before.prescriptions)
    with pytest.raises(UsageError, match="has no threshold 'NOTHING'"):
        checked_limits({"POL01": {"NOTHING": 1.0}})


def test_limits_are_frozen_and_take_only_their_own_names() -> None:
    rule = next(row for row in RULES if row.limits)
    name = next(iter(rule.limits))
    kind = type(rule.module.LIMITS)
    assert getattr(kind(**{name: 7.0}), name) == 7.0
    assert getattr(rule.module.LIMITS, name) == rule.limits[name] != 7.0
    with pytest.raises(TypeError, match="no limit is called nonsense"):
        kind(nonsense=1.0)
    with pytest.raises(AttributeError, match="frozen"):
        setattr(rule.module.LIMITS, name, 7.0)
