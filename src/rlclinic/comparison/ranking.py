"""The settings in which a run differs from one that works, ranked by how much that is thought to matter.

What counts is the setting's weight before anything is known (reference/framework_differences.toml), how far the two
values lie apart in terms of what they do, and whether the diagnosis suspects a cause that this setting is behind.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from rlclinic.causes.weights import weights
from rlclinic.comparison.settings import NAMING, SHAPING, same_value, setting_of
from rlclinic.model.comparison import RankedDifference
from rlclinic.model.diagnosis import Diagnosis
from rlclinic.model.numbers import number
from rlclinic.model.run import Run
from rlclinic.reference.framework_differences import weight_of
from rlclinic.reference.hyperparameters import hyperparameters
from rlclinic.reference.reference_configs import reference_spread
from rlclinic.reference.usual import LEAST_SPREAD, position

# What a setting is where a config that is otherwise known does not name it.
UNNAMED: Mapping[str, object] = {
    "clip_range_vf": None, "target_kl": None, "normalize_obs": False, "normalize_reward": False, "reward_scale": 1.0,
    "frame_skip": 1, "frame_stack": 1, "use_sde": False, "n_step_return": 1, "learning_rate_schedule": "constant",
    "weight_decay": 0.0, "kl_coef": 0.0, "reward_clip": None, "recurrent": False,
}  # fmt: skip
# Sizes in env steps that count by their share of the budget.
OF_BUDGET = frozenset({"learning_starts", "target_update_interval", "exploration_steps"})
# Said by another setting where both are known.
SAID_BY = {"n_minibatches": "batch_size", "clip_value_loss": "clip_range_vf", "update_to_data": "train_freq",
           "n_steps": "rollout_size"}  # fmt: skip
# Beyond so many spreads farther is no worse; and what something that is on in one and off in the other counts.
FARTHEST, SWITCHED = 3.0, 2.0
# What a suspicion of certainty adds to a difference that no cause is behind.
SUSPICION = 4.0
# Below this share of the budget a wait is no difference at all.
NO_WAIT = 0.01
# What several settings come to in the table of causes -> the settings.
BEHIND: Mapping[str, tuple[str, ...]] = {
    "total_movement": ("learning_rate",),
    "gradient_updates": ("batch_size", "n_epochs", "train_freq", "gradient_steps", "rollout_size"),
    "update_to_data": ("train_freq", "gradient_steps", "batch_size", "n_epochs"),
    "learning_starts_share": ("learning_starts",),
    "exploration_share": ("exploration_fraction", "exploration_steps"),
    "temperature": ("ent_coef",),
    "target_entropy_per_action": ("target_entropy",),
    "clip_range_vf_per_return": ("clip_range_vf",),
    "rollout_steps": ("n_steps", "rollout_size"),
    "rollout_share": ("n_steps", "rollout_size"),
    "target_period": ("target_update_interval", "tau"),
    "target_period_share": ("target_update_interval",),
    "buffer_share": ("buffer_size",),
    "network_width": ("net_arch",),
}


def ranked_differences(
    diagnosis: Diagnosis, reference: Mapping[str, object], budget: float | None
) -> tuple[RankedDifference, ...]:
    """Every setting that differs from the reference's, what is thought to matter most first."""
    run = diagnosis.run
    here, theirs = _in_force(_settings(run)), _in_force(reference)
    if not here or not theirs:
        return ()
    # Where no config was read, what is not named is not known.
    unnamed = UNNAMED if run.config.settings else {}
    found: list[RankedDifference] = []
    for key, entry in hyperparameters().items():
        if entry.group in NAMING and key not in SHAPING:
            continue
        known = (key in here or key in unnamed) and (key in theirs or key in UNNAMED)
        value, other = here.get(key, unnamed.get(key)), theirs.get(key, UNNAMED.get(key))
        if not known or same_value(value, other, key) or _said(key, here, theirs):
            continue
        apart = _apart(key, value, other, run, here, budget)
        cause, suspicion = _suspicion(diagnosis, key, value, other)
        score = weight_of(key) * apart * (1.0 + SUSPICION * suspicion)
        setting = setting_of(run, key)
        is_default = setting is None or setting.is_default
        reason = f"the diagnosis suspects {cause} ({suspicion:.0%})" if cause else ""
        found.append(RankedDifference(key, entry.title, value, other, score, is_default, reason))
    return tuple(sorted(found, key=lambda item: -item.score))


def settings_alike(run: Run, reference: Mapping[str, object]) -> set[str]:
    """The settings that both name with one value: what their frameworks would do otherwise is no difference."""
    here, theirs = _in_force(_settings(run)), _in_force(reference)
    return {key for key in here.keys() & theirs.keys() if same_value(here[key], theirs[key], key)}


def _settings(run: Run) -> dict[str, object]:
    """As configured, and what the log tells of them."""
    return {key: setting.value for key in hyperparameters() if (setting := setting_of(run, key)) is not None}


def _in_force(settings: Mapping[str, object]) -> dict[str, object]:
    """Settings with those that others come to: a clip of the value by a flag, the samples of a rollout."""
    found = dict(settings)
    if "clip_range_vf" not in found and found.get("clip_value_loss") is True:
        found["clip_range_vf"] = found.get("clip_range", 0.2)
    length, envs = number(found.get("n_steps")), number(found.get("n_envs"))
    if "rollout_size" not in found and length is not None and envs is not None:
        found["rollout_size"] = length * envs
    if found.get("gradient_steps") == -1 and number(found.get("train_freq")) is not None:
        found["gradient_steps"] = found["train_freq"]
    return found


def _said(key: str, here: Mapping[str, object], theirs: Mapping[str, object]) -> bool:
    other = SAID_BY.get(key)
    return other is not None and (other in here or other in UNNAMED) and (other in theirs or other in UNNAMED)


def _apart(key: str, value: object, other: object, run: Run, here: Mapping[str, object], budget: float | None) -> float:
    """How far two values lie apart, at most FARTHEST."""
    first, second = number(_size(value)), number(_size(other))
    if first is None or second is None:
        return SWITCHED if value in (None, False) or other in (None, False) else 1.0
    if key in OF_BUDGET and budget:
        share = abs(first - second) / budget
        return min(FARTHEST, 2 * FARTHEST * share) if share > NO_WAIT else 0.1
    if key == "buffer_size" and budget:
        first, second = min(first, budget), min(second, budget)
    if key == "gae_lambda":
        # The discount ends what is averaged over, whatever lambda says.
        gamma = number(here.get("gamma")) or 0.99
        first, second = gamma * first, gamma * second
    at, there = position(key, first), position(key, second)
    if at is None or there is None:
        return 1.0
    spread = reference_spread(run.algorithm).get(key, (0.0, 0.0))[1]
    return min(FARTHEST, abs(at - there) / max(LEAST_SPREAD, spread))


def _size(value: object) -> object:
    """Of hidden layers their weights, about."""
    if isinstance(value, list | tuple) and value and all(number(item) is not None for item in value):
        return math.prod(number(item) or 1.0 for item in value)
    return value


def _suspicion(diagnosis: Diagnosis, key: str, value: object, other: object) -> tuple[str, float]:
    """The likeliest cause that this setting is behind, in the direction in which it differs, and its probability."""
    first, second = number(_size(value)), number(_size(other))
    high = None if first is None or second is None else first > second
    table = weights().causes
    for cause in sorted(diagnosis.causes, key=lambda item: -item.probability):
        for suspect in table[cause.id].settings if cause.id in table else ():
            behind = BEHIND.get(suspect.key, (suspect.key,))
            # What several settings come to can be high or low by either of them.
            sided = len(behind) == 1 and high is not None and suspect.direction != "either"
            if key in behind and not (sided and (suspect.direction == "high") != high):
                return cause.id, cause.probability
    return "", 0.0
