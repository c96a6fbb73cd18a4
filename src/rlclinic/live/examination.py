"""One look at a run: its diagnosis, and which alerts change with it. Monitors and `watch` look the same way."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

from rlclinic.engine import diagnose
from rlclinic.live.alerts import Alert, AlertBook, Patience, alert_of
from rlclinic.live.conditions import RULES, Condition, conditions_of
from rlclinic.live.record import About, LiveRecord
from rlclinic.model.diagnosis import Diagnosis, Verdict
from rlclinic.model.finding import Severity
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.outlook import Advice
from rlclinic.model.run import Run

# Share of the budget between two judgements.
STRIDE = 0.02


@dataclass(frozen=True, slots=True)
class Look:
    """What one look found."""

    diagnosis: Diagnosis
    alerts: tuple[Alert, ...]
    """What changed since the look before."""
    told: tuple[Condition, ...] = ()
    """What was told and holds now, the gravest first."""

    @property
    def errors(self) -> tuple[str, ...]:
        """Titles of the errors among it."""
        return tuple(item.title for item in self.told if item.level is Severity.ERROR)

    @property
    def advice(self) -> tuple[Advice, str]:
        """What to do with the process, derived anew at every look."""
        outlook = self.diagnosis.outlook
        return (outlook.advice, outlook.reason) if outlook is not None else (Advice.CONTINUE, self.diagnosis.reason)


def warm_up() -> float:
    """Load tables and libraries now: the first look at a run would otherwise take a second of its training.

    Returns the seconds that a look takes after that.
    """
    record = LiveRecord(About(algorithm="PPO", environment="CartPole-v1", budget=1_000.0))
    for step in range(1, 40):
        record.log({"return/train": float(step % 7), "entropy": 0.5, "approx_kl": 0.01, "value_loss": 1.0}, step)
    conditions_of(diagnose(record.run()))
    began = time.perf_counter()
    conditions_of(diagnose(record.run()))
    return time.perf_counter() - began


class Examiner:
    """Looks at one run again and again."""

    def __init__(self, presets: Sequence[str] = (RULES,), patience: Patience | None = None) -> None:
        self._presets = tuple(presets)
        self.book = AlertBook(patience)
        self._judged = -math.inf

    def look(self, run: Run) -> Look:
        """Diagnose the run as it is now."""
        diagnosis = diagnose(run)
        self.book.budget = run.budget
        conditions = conditions_of(diagnosis, self._presets)
        clears = diagnosis.verdict is not Verdict.COLLAPSED
        changes = self.book.update(run.steps, conditions, clears=clears) if self._is_due(run, conditions) else []
        alerts = tuple(alert_of(change, condition, diagnosis) for change, condition in changes)
        return Look(diagnosis, alerts, tuple(self.book.active))

    def _is_due(self, run: Run, conditions: Sequence[Condition]) -> bool:
        """Whether enough is new to judge by: the more often one looks, the more often chance looks like trouble."""
        new = abs(run.steps - self._judged)
        if new < STRIDE * (run.budget or 0.0) and not any(condition.at_once for condition in conditions):
            return False
        self._judged = run.steps
        return True
