"""More steps in the environment, and more or fewer gradient steps for the same data."""

from __future__ import annotations

from rlclinic.causes.weights import weights
from rlclinic.facts.goal import reference_steps
from rlclinic.prescriptions.assessment import Assessment
from rlclinic.prescriptions.remedies.careful_step import FINE, stepped
from rlclinic.prescriptions.setting_change import Changes, SettingChange, change_to
from rlclinic.reference.usual import usual_value

# Most passes over one rollout in working PPO configs.
MOST_EPOCHS = 20
# Two steps: beyond them the usual number of updates is the target.
FAR = FINE**2
# Rollouts in a budget below which shorter ones are part of the remedy.
FEW_ROLLOUTS = 20


def larger_budget(assessment: Assessment) -> Changes:
    """The budget of the reference or of published runs where it is larger, else twice the budget. Language models count
    updates."""
    budget, axis = assessment.budget, assessment.run.step_axis
    curve = assessment.facts.curve
    # A single row is an excerpt: it says of no budget that it was too small.
    if not budget or (curve is not None and curve.points == 1):
        return ()
    if axis != "env_steps":
        return change_to("total_updates", round(FINE * budget)) if axis in ("updates", "iterations") else ()
    known = assessment.entry_number("total_steps") or reference_steps(assessment.facts)
    # No task is known that needs fewer steps than these, unless an expert labels them.
    least = 0 if assessment.facts.is_imitation else weights().few_steps
    more = known if known and known > budget else max(FINE * budget, least)
    return change_to("total_steps", round(more))


def more_updates(assessment: Assessment) -> Changes:
    """On policy smaller minibatches, then shorter rollouts, then more epochs; off policy more steps per env step."""
    if not assessment.is_on_policy:
        return _per_step(assessment, up=True)
    if assessment.saw("few-updates-in-budget") and (usual := _usual_updates(assessment)):
        return usual
    batch, known = assessment.number("batch_size"), assessment.reference_number("batch_size")
    if batch and assessment.rollout and batch > max(64, known or 64):
        return change_to("batch_size", stepped(assessment, "batch_size", up=False))
    steps, usual_steps = assessment.number("n_steps"), assessment.reference_number("n_steps") or 128
    if steps and assessment.number("n_envs") and steps > usual_steps and steps >= 32:
        return change_to("n_steps", round(steps / FINE))
    epochs = assessment.number("n_epochs")
    # Only a clipped ratio makes a second pass over the same data sound.
    if epochs and epochs < MOST_EPOCHS and "ppo" in assessment.families:
        return change_to("n_epochs", round(min(MOST_EPOCHS, FINE * epochs)))
    return ()


def fewer_updates(assessment: Assessment) -> Changes:
    """Off policy half as many gradient steps per env step; on policy half as many epochs."""
    if not assessment.is_on_policy:
        return _per_step(assessment, up=False)
    epochs = assessment.number("n_epochs")
    return change_to("n_epochs", max(1, round(epochs / FINE))) if epochs and epochs > 1 else ()


def _usual_updates(assessment: Assessment) -> Changes:
    """Minibatch and passes, and the rollout where the budget holds few, as working configs have them."""
    changes = []
    for key, up in (("batch_size", False), ("n_epochs", True), ("n_steps", False)):
        here, usual = assessment.number(key), _usual(assessment, key)
        if not here or not usual or (usual <= here) == up:
            continue
        if key == "n_steps" and not _few_rollouts(assessment):
            continue
        if key != "n_epochs" or "ppo" in assessment.families:
            changes.append(SettingChange(key, round(usual)))
    return tuple(changes)


def _usual(assessment: Assessment, key: str) -> float | None:
    known = assessment.entry_number(key)
    return known if known is not None else usual_value(assessment.run.algorithm, key, assessment.budget)


def _few_rollouts(assessment: Assessment) -> bool:
    rollout, budget = assessment.rollout, assessment.budget
    return bool(rollout and budget and budget < FEW_ROLLOUTS * rollout)


def _per_step(assessment: Assessment, *, up: bool) -> Changes:
    ratio, steps, every = (assessment.number(key) for key in ("update_to_data", "gradient_steps", "train_freq"))
    if ratio and not assessment.is_derived("update_to_data"):
        return change_to("update_to_data", ratio * FINE if up else ratio / FINE)
    usual = _usual(assessment, "update_to_data")
    if up and usual and every and (steps or 1) > 0 and usual * every >= FAR * (steps or 1):
        # A trainer without a setting for them makes one gradient step each time: there the pace is all in the interval.
        far = ("gradient_steps", usual * every) if steps else ("train_freq", 1 / usual)
        return change_to(far[0], max(1, round(far[1])))
    if up and every and every > 1 and every % 2 == 0 and (steps or 1) > 0:
        return change_to("train_freq", round(every / FINE))
    if up and steps and steps > 0:
        return change_to("gradient_steps", round(steps * FINE))
    if not up and steps and steps > 1:
        return change_to("gradient_steps", round(steps / FINE))
    if not up and every:
        return change_to("train_freq", round(every * FINE))
    return ()
