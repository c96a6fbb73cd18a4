"""One message for each change of state, by env steps."""

from __future__ import annotations

from rlclinic.live.alerts import AlertBook, Change, Patience
from rlclinic.live.conditions import Condition
from rlclinic.model.finding import Severity

PATIENCE = Patience(warm_up=0.1, hold=0.05, clear=0.1, cool_down=0.2)


def condition(level: Severity = Severity.WARNING, *, at_once: bool = False, must_hold: bool = True) -> Condition:
    title, summary = "Entropy collapse", "entropy is gone"
    return Condition("entropy-collapse", level, title, summary, at_once=at_once, must_hold=must_hold)


def book() -> AlertBook:
    return AlertBook(PATIENCE, budget=1_000)


def told(alerts: AlertBook, step: float, *conditions: Condition) -> list[Change]:
    return [change for change, _ in alerts.update(step, conditions)]


def test_a_state_that_lasts_is_told_once() -> None:
    alerts = book()
    changes = [change for step in range(200, 600, 20) for change in told(alerts, step, condition())]
    assert changes == [Change.RAISED]


def test_nothing_is_said_during_the_warm_up() -> None:
    alerts = book()
    assert [told(alerts, step, condition()) for step in (20, 50, 80, 99)] == [[]] * 4
    assert told(alerts, 100, condition()) == [Change.RAISED]


def test_a_condition_must_hold_for_a_while() -> None:
    alerts = book()
    flicker = [told(alerts, step, *([condition()] if step % 80 == 0 else [])) for step in range(200, 600, 40)]
    assert not any(flicker)


def test_what_cannot_pass_by_itself_is_told_at_once() -> None:
    assert told(book(), 1, condition(Severity.ERROR, at_once=True)) == [Change.RAISED]


def test_what_is_firm_is_told_when_it_is_first_seen_after_the_warm_up() -> None:
    alerts = book()
    assert told(alerts, 50, condition(must_hold=False)) == []
    assert told(alerts, 100, condition(must_hold=False)) == [Change.RAISED]


def test_a_graver_state_is_told_and_a_milder_one_is_not() -> None:
    alerts = book()
    told(alerts, 200, condition())
    assert told(alerts, 260, condition()) == [Change.RAISED]
    assert told(alerts, 270, condition(Severity.ERROR)) == [Change.ESCALATED]
    assert told(alerts, 280, condition()) == []
    assert told(alerts, 290, condition(Severity.ERROR)) == []


def test_it_clears_after_a_while_and_can_come_again() -> None:
    alerts = book()
    told(alerts, 200, condition())
    assert told(alerts, 250, condition()) == [Change.RAISED]
    assert told(alerts, 300) == []
    assert told(alerts, 350) == [Change.CLEARED]
    assert alerts.active == []
    assert told(alerts, 400, condition()) == []
    assert told(alerts, 500, condition()) == [], "the cool-down lasts until step 550"
    assert told(alerts, 560, condition()) == [Change.RAISED]


def test_nothing_clears_while_the_run_lies_collapsed() -> None:
    alerts = book()
    told(alerts, 200, condition())
    assert told(alerts, 250, condition()) == [Change.RAISED]
    assert alerts.update(400, [], clears=False) == []
    assert len(alerts.active) == 1
    assert told(alerts, 420) == [Change.CLEARED]


def test_a_short_break_does_not_clear_it() -> None:
    alerts = book()
    told(alerts, 200, condition())
    changes = [
        change for step in range(250, 800, 50) for change in told(alerts, step, *[condition()] * (step % 100 > 0))
    ]
    assert changes == [Change.RAISED]


def test_without_a_budget_durations_are_shares_of_the_steps_so_far() -> None:
    alerts = AlertBook(PATIENCE)
    assert told(alerts, 10_000, condition()) == []
    assert told(alerts, 10_500, condition()) == []
    assert told(alerts, 10_600, condition()) == [Change.RAISED]


def test_a_run_that_goes_back_to_an_earlier_step_is_followed_from_there() -> None:
    alerts = book()
    told(alerts, 800, condition())
    assert told(alerts, 850, condition()) == [Change.RAISED]
    assert told(alerts, 300) == []
    assert told(alerts, 410) == [Change.CLEARED]
