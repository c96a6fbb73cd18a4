"""More or fewer gradient steps for the same data."""

from __future__ import annotations

from rlclinic.prescriptions.case import Case
from rlclinic.prescriptions.target import FINE, stepped
from rlclinic.prescriptions.turn import Turn
from rlclinic.reference.working import usual_value

# Most passes over one rollout in working PPO configs.
MOST_EPOCHS = 20
# Two steps: beyond them the usual number of updates is the target.
FAR = FINE**2
# Rollouts in a budget below which shorter ones are part of the remedy.
FEW_ROLLOUTS = 20


def more_updates(case: Case) -> tuple[Turn, ...]:
    """On policy smaller minibatches, then shorter rollouts, then more epochs; off policy more steps per env step."""
    if not case.is_on_policy:
        return _per_step(case, up=True)
    batch, known = case.number("batch_size"), case.reference_number("batch_size")
    rollout = case.rollout
    if case.saw("few-updates-in-budget") and (usual := _usual_pace(case)):
        return usual
    if batch and rollout and batch > max(64, known or 64):
        return (Turn("batch_size", stepped(case, "batch_size", up=False)),)
    steps = case.number("n_steps")
    if steps and case.number("n_envs") and steps > (case.reference_number("n_steps") or 128) and steps >= 32:
        return (Turn("n_steps", round(steps / FINE)),)
    epochs = case.number("n_epochs")
    # Only a clipped ratio makes a second pass over the same data sound.
    if epochs and epochs < MOST_EPOCHS and "ppo" in case.families:
        return (Turn("n_epochs", round(min(MOST_EPOCHS, FINE * epochs))),)
    return ()


def fewer_updates(case: Case) -> tuple[Turn, ...]:
    """Off policy half as many gradient steps per env step; on policy half as many epochs."""
    if not case.is_on_policy:
        return _per_step(case, up=False)
    epochs = case.number("n_epochs")
    return (Turn("n_epochs", max(1, round(epochs / FINE))),) if epochs and epochs > 1 else ()


def _usual_pace(case: Case) -> tuple[Turn, ...]:
    """Minibatch and passes, and the rollout where the budget holds few, as working configs have them."""
    turns = []
    for key, up in (("batch_size", False), ("n_epochs", True), ("n_steps", False)):
        here, usual = case.number(key), _usual(case, key)
        if not here or not usual or (usual <= here) == up:
            continue
        if key == "n_steps" and not _few_rollouts(case):
            continue
        if key != "n_epochs" or "ppo" in case.families:
            turns.append(Turn(key, round(usual)))
    return tuple(turns)


def _usual(case: Case, key: str) -> float | None:
    known = case.reference_number(key) if case.has_entry else None
    return known if known is not None else usual_value(case.run.algorithm, key, case.budget)


def _few_rollouts(case: Case) -> bool:
    return bool(case.rollout and case.budget and case.budget < FEW_ROLLOUTS * case.rollout)


def _per_step(case: Case, *, up: bool) -> tuple[Turn, ...]:
    ratio, steps, every = case.number("update_to_data"), case.number("gradient_steps"), case.number("train_freq")
    written = case.run.config.settings.get("update_to_data")
    if ratio and written is not None and " / " not in written.native_key:
        return (Turn("update_to_data", ratio * FINE if up else ratio / FINE),)
    usual = _usual(case, "update_to_data")
    if up and usual and every and steps and steps > 0 and usual * every >= FAR * steps:
        return (Turn("gradient_steps", max(1, round(usual * every))),)
    if up and every and every > 1 and every % 2 == 0 and (steps or 1) > 0:
        return (Turn("train_freq", round(every / FINE)),)
    if up and steps and steps > 0:
        return (Turn("gradient_steps", round(steps * FINE)),)
    if not up and steps and steps > 1:
        return (Turn("gradient_steps", round(steps / FINE)),)
    if not up and every:
        return (Turn("train_freq", round(every * FINE)),)
    return ()
