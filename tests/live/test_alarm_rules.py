"""The alarms of a live run and the rules that raise them."""

from __future__ import annotations

from rlclinic.live.conditions import NINE
from rlclinic.rules.registry import RULES


def test_every_rule_that_an_alarm_names_exists() -> None:
    assert {rule for alarm in NINE for rule in alarm.rules} <= {rule.name for rule in RULES}
