"""The setting that the user really turns: some count minibatches, budget updates, or adapt the rate to a KL."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rlclinic.prescriptions.case import Case
from rlclinic.prescriptions.target import FINE, rounded
from rlclinic.prescriptions.turn import Turn

# Schedules that set the learning rate from the KL of the last update: there the target KL is the pace.
ADAPTIVE = frozenset({"adaptive", "KLAdaptiveLR", "KLAdaptiveRL"})
# What a budget is counted in where it is not env steps.
COUNTED = ("total_updates", "total_epochs")
BUDGETS = frozenset({"total_steps", *COUNTED})
"""Settings that say how long to train."""
# Frameworks whose users write the number of minibatches; a batch size in their logs is only computed.
COUNT_MINIBATCHES = frozenset({"cleanrl", "rsl_rl", "skrl", "openai-baselines"})


def turned(case: Case, turns: Sequence[Turn]) -> tuple[Turn, ...]:
    """The changes in terms of what is written in the user's config; those that cannot be written are left out."""
    kept = {turn.key: turn.to for turn in turns}
    found: list[Turn] = []
    for turn in turns:
        replaced = _replaced(case, turn, kept)
        if replaced is not None:
            found.append(replaced)
    return tuple(found)


def is_derived(case: Case, key: str) -> bool:
    """Whether a value follows from others, so that nobody writes it."""
    setting = case.run.config.settings.get(key)
    return setting is not None and " / " in setting.native_key


def _replaced(case: Case, turn: Turn, kept: dict[str, object]) -> Turn | None:
    if turn.key == "batch_size" and _counts_minibatches(case):
        return _minibatches(case, turn, kept)
    if turn.key == "learning_rate" and str(case.run.config.get("learning_rate_schedule")) in ADAPTIVE:
        return _target_kl(case, turn)
    if turn.key == "n_steps" and (is_derived(case, "n_steps") or "n_steps" not in case.run.config):
        return _rollout(case, turn)
    if turn.key == "total_steps" and (is_derived(case, "total_steps") or case.number("total_steps") is None):
        return _updates(case, turn)
    return None if is_derived(case, turn.key) else turn


def _counts_minibatches(case: Case) -> bool:
    counted = case.number("n_minibatches")
    return bool(
        counted
        and not is_derived(case, "n_minibatches")
        and (case.run.framework in COUNT_MINIBATCHES or is_derived(case, "batch_size"))
    )


def _minibatches(case: Case, turn: Turn, kept: dict[str, object]) -> Turn | None:
    steps = kept.get("n_steps", case.number("n_steps"))
    envs = kept.get("n_envs", case.number("n_envs"))
    batch = turn.to
    if not (isinstance(steps, int | float) and isinstance(envs, int | float) and isinstance(batch, int | float)):
        return None
    return Turn("n_minibatches", max(1, round(steps * envs / batch)))


def _target_kl(case: Case, turn: Turn) -> Turn | None:
    target, rate = case.number("target_kl"), case.number("learning_rate")
    if target is None or rate is None or not isinstance(turn.to, int | float):
        return None
    return Turn("target_kl", rounded("target_kl", target * FINE if turn.to > rate else target / FINE))


def _rollout(case: Case, turn: Turn) -> Turn | None:
    size, steps = case.number("rollout_size"), case.number("n_steps")
    if not size or not steps or is_derived(case, "rollout_size") or not isinstance(turn.to, int | float):
        return None
    return Turn("rollout_size", round(size * turn.to / steps))


def _updates(case: Case, turn: Turn) -> Turn | None:
    before = case.budget
    if not isinstance(turn.to, int | float) or not before:
        return None
    for unit in COUNTED:
        count = case.number(unit)
        if count and not is_derived(case, unit):
            # A part of an update more than asked is no other experiment.
            return Turn(unit, math.ceil(count * turn.to / before))
    counted = any(case.number(unit) for unit in COUNTED)
    return turn if case.run.config.get("total_steps") is None and not counted else None
