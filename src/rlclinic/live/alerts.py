"""From what holds now to messages: one for each change of state, none for a state that lasts.

An alert is raised when its condition holds, and has held for a while where it may pass by itself; it escalates when it
gets graver, clears when it has been gone for a while, and can then be raised again. All durations are env steps over
all environments: neither calls of a callback nor seconds mean the same on two machines.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import field
from enum import StrEnum

from rlclinic.live.conditions import CAUSE, Condition
from rlclinic.model.diagnosis import Diagnosis
from rlclinic.model.finding import Evidence, Severity
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.prescription import Prescription
from rlclinic.model.run import Run
from rlclinic.model.vocabulary import families_of


class Change(StrEnum):
    """What became of an alert."""

    RAISED = "raised"
    ESCALATED = "escalated"
    CLEARED = "cleared"


@dataclass(frozen=True, slots=True)
class Patience:
    """How long is waited, as shares of the budget; without a budget, of the steps so far."""

    warm_up: float = 0.02
    """Before which nothing is said: every run starts with wild numbers."""
    hold: float = 0.08
    """For which a condition that may pass by itself must hold before it is told."""
    clear: float = 0.06
    """For which it must be gone before that is told."""
    cool_down: float = 0.1
    """After it was cleared, within which it is not told again."""


@dataclass(frozen=True, slots=True)
class Alert:
    """One message."""

    change: Change
    key: str
    level: Severity
    title: str
    summary: str
    step: float
    run: str
    evidence: tuple[Evidence, ...] = ()
    onset: float | None = None
    cause: str = ""
    """The leading cause with its probability."""
    prescription: str = ""
    change_text: str = ""
    """The change as the user writes it."""
    on_the_fly: str = ""
    """The line that makes the change in the running process, where the library allows it."""
    command: str = ""
    """What shows more."""
    code: str = ""


@dataclass(slots=True)
class _State:
    """One condition over time."""

    condition: Condition
    since: float
    """Step from which on it has held without a break."""
    seen: float
    """Step at which it last held."""
    holds: bool = False
    """Whether it held at the last look."""
    told: Severity | None = None
    """The level that the user knows of; None while he knows nothing."""
    quiet_until: float = field(default=-1.0)
    """Step before which it is not told again."""


class AlertBook:
    """The alerts of one run."""

    def __init__(self, patience: Patience | None = None, budget: float | None = None) -> None:
        self.patience = patience or Patience()
        self.budget = budget
        self._states: dict[str, _State] = {}
        self._last_step = 0.0
        self._looked = False

    @property
    def active(self) -> list[Condition]:
        """What the user was told and still holds, the gravest first."""
        told = [state.condition for state in self._states.values() if state.told is not None]
        return sorted(told, key=lambda item: -item.level.rank)

    def update(
        self, step: float, conditions: Sequence[Condition], *, clears: bool = True
    ) -> list[tuple[Change, Condition]]:
        """What changed with a new look at the run. Nothing `clears` while the run lies collapsed: a KL that is small
        again because the policy is dead is no good news."""
        first, self._looked = not self._looked, True
        if step < self._last_step:
            self._resume(step)
        self._last_step = step
        scale = self.budget or max(step, 1.0)
        now = {condition.key: condition for condition in conditions}
        changes: list[tuple[Change, Condition]] = []
        for key, condition in now.items():
            state = self._states.get(key)
            if state is None:
                state = self._states[key] = _State(condition, step, step)
            if not state.holds:
                # Of a run that is looked at for the first time, the rule knows since when.
                began = condition.onset if first and condition.onset is not None else step
                state.since, state.holds = min(began, step), True
            state.condition, state.seen = condition, step
            change = self._risen(state, step, scale)
            if change is not None:
                state.told = condition.level
                changes.append((change, condition))
        for key, state in list(self._states.items()):
            if key in now:
                continue
            state.holds = False
            if state.told is None:
                if step >= state.quiet_until:
                    del self._states[key]
                continue
            if clears and step - state.seen >= self.patience.clear * scale:
                state.told, state.quiet_until = None, step + self.patience.cool_down * scale
                changes.append((Change.CLEARED, state.condition))
        return changes

    def _risen(self, state: _State, step: float, scale: float) -> Change | None:
        level = state.condition.level
        if state.told is not None:
            return Change.ESCALATED if level.rank > state.told.rank else None
        if step < state.quiet_until:
            return None
        if state.condition.at_once:
            return Change.RAISED
        if step < self.patience.warm_up * scale:
            return None
        held = step - state.since >= self.patience.hold * scale
        return Change.RAISED if held or not state.condition.must_hold else None

    def _resume(self, step: float) -> None:
        """The run went back to an earlier step: what was seen after it did not happen."""
        for state in self._states.values():
            state.since, state.seen = min(state.since, step), min(state.seen, step)
            state.quiet_until = min(state.quiet_until, step)


def alert_of(change: Change, condition: Condition, diagnosis: Diagnosis) -> Alert:
    """The message: with the leading cause, what to do about it and the command that shows more."""
    run = diagnosis.run
    lead = diagnosis.causes[0] if diagnosis.causes else None
    advice = _prescription(diagnosis, condition) if change is not Change.CLEARED else None
    shows = (
        f"rlclinic diagnose {shlex.quote(run.path)}"
        if run.path
        else f"rlclinic explain {condition.code or _cause(condition)}"
    )
    return Alert(
        change=change,
        key=condition.key,
        level=condition.level,
        title=condition.title,
        summary=condition.summary,
        step=run.steps,
        run=run.id,
        evidence=condition.evidence,
        onset=condition.onset,
        cause=f"{lead.id} ({100 * lead.probability:.0f}%)" if lead is not None else "",
        prescription=advice.instruction if advice is not None else "",
        change_text=advice.native.text if advice is not None and advice.native is not None else "",
        on_the_fly=on_the_fly(run, advice) if advice is not None else "",
        command=shows,
        code=condition.code,
    )


# How a running process takes a new value, by framework, family of algorithms and canonical setting: only what the
# library reads anew at every update.
_LINES = {
    ("sb3", "", "learning_rate"): "model.lr_schedule = lambda _: {value}",
    ("sb3", "ppo", "clip_range"): "model.clip_range = lambda _: {value}",
    ("sb3", "ppo", "ent_coef"): "model.ent_coef = {value}",
    ("sb3", "actor-critic", "ent_coef"): "model.ent_coef = {value}",
    ("torchrl", "", "learning_rate"): "for group in optimizer.param_groups: group['lr'] = {value}",
    ("torchrl", "ppo", "clip_range"): "loss_module.clip_epsilon.fill_({value})",
}


def on_the_fly(run: Run, advice: Prescription) -> str:
    """The line that makes a prescribed change in the running process; empty where it needs a restart."""
    if len(advice.changes) != 1:
        return ""
    key, value = advice.changes[0].key, advice.changes[0].after
    if isinstance(value, bool) or not isinstance(value, int | float):
        return ""
    families = ("", *families_of(run.algorithm))
    lines = (_LINES.get((run.framework, family, key), "") for family in families)
    return next((line.format(value=value) for line in lines if line), "")


def _prescription(diagnosis: Diagnosis, condition: Condition) -> Prescription | None:
    """The first that treats the cause the alert is about, else the first."""
    cause = _cause(condition)
    fitting = [item for item in diagnosis.prescriptions if cause in item.causes]
    return next(iter(fitting or diagnosis.prescriptions), None)


def _cause(condition: Condition) -> str:
    return condition.key.removeprefix(f"{CAUSE}:") if condition.key.startswith(f"{CAUSE}:") else ""
