"""The alarms of a live run and the rules that raise them."""

from __future__ import annotations

from rlclinic.live.conditions import EARLY, NINE, NO_NEWS, SETTINGS
from rlclinic.rules.registry import RULES


def test_every_rule_that_an_alarm_names_exists() -> None:
    assert {rule for alarm in NINE for rule in alarm.rules} <= {rule.name for rule in RULES}


def test_every_rule_and_family_that_alerts_depend_on_exists() -> None:
    assert {rule.name for rule in RULES} >= NO_NEWS
    assert {rule.family for rule in RULES} >= EARLY | SETTINGS
