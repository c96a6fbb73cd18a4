"""Every rule is documented and has a name of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from rlclinic.model.errors import UsageError
from rlclinic.rules import thresholds
from rlclinic.rules.documentation import SECTIONS, find_rule, page_of
from rlclinic.rules.registry import ROWS, Row, check_names

RULES = Path(__file__).parents[2] / "src" / "rlclinic" / "rules"


def test_there_are_rules_for_every_family() -> None:
    families = {row.family for row in ROWS}
    classic = [row for row in ROWS if row.family != "language_model"]
    assert len(classic) >= 45
    assert families == {path.parent.name for path in RULES.glob("*/__init__.py")}


def test_codes_and_names_are_unique() -> None:
    assert len({row.code for row in ROWS}) == len({row.name for row in ROWS}) == len(ROWS)


def test_every_rule_file_has_a_row() -> None:
    files = {
        path.stem.replace("_", "-")
        for path in RULES.glob("*/*.py")
        if path.stem != "__init__" and "def check(" in path.read_text(encoding="utf-8")
    }
    assert files == {row.name for row in ROWS}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.code)
def test_a_rule_is_documented_whole(row: Row) -> None:
    page = page_of(row)
    assert list(page.sections) == list(SECTIONS)
    assert 10 < len(page.title) < 110
    assert "!" not in page.title


def test_a_name_that_is_no_rule_is_refused() -> None:
    with pytest.raises(UsageError, match="no rule or family is called 'nonsense'"):
        check_names(["POL01", "nonsense"])


def test_a_threshold_can_be_moved_and_an_unknown_one_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    row = find_rule("entropy-fell-early")
    assert row is not None
    name, value = next(iter(thresholds.thresholds_of(row).items()))
    monkeypatch.setattr(row.module, name, getattr(row.module, name))
    thresholds.apply_thresholds({"entropy-fell-early": {name: value + 1}})
    assert thresholds.thresholds_of(row)[name] == value + 1
    with pytest.raises(UsageError, match="has no threshold 'NOTHING'"):
        thresholds.apply_thresholds({"POL01": {"NOTHING": 1.0}})
