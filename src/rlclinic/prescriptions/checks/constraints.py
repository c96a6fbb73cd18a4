"""What a config must hold to be valid: ranges, whole numbers, batches that divide the rollout, rules of frameworks.

`fitted` makes changes fit (a new rollout takes its batch along); `problems` says what would still be wrong.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.numbers import number
from rlclinic.prescriptions.assessment import Assessment
from rlclinic.prescriptions.setting_change import Changes, SettingChange
from rlclinic.reference.hyperparameters import hyperparameters

# Divisors of a rollout that are tried: all of them up to 10^8 samples, and real ones have a million.
MOST_TRIED = 10_000
# Batches below this are noise; a divisor this small is not chosen.
SMALLEST_BATCH = 2


@dataclass(frozen=True, slots=True)
class Range:
    """Bounds of a number; an open end is not part of it."""

    low: float = -math.inf
    high: float = math.inf
    above: bool = False
    """Whether the lower bound itself is out."""
    below: bool = False
    """Whether the upper bound itself is out."""

    def holds(self, value: float) -> bool:
        """Whether a value lies inside."""
        if not math.isfinite(value) or value < self.low or value > self.high:
            return False
        return not (self.above and value == self.low) and not (self.below and value == self.high)


POSITIVE = Range(0.0, above=True)
NOT_NEGATIVE = Range(0.0)
SHARE = Range(0.0, 1.0)
COUNT = Range(1.0)
RANGES: Mapping[str, Range] = {
    "learning_rate": POSITIVE, "learning_rate_critic": POSITIVE, "learning_rate_alpha": POSITIVE,
    "learning_rate_final": NOT_NEGATIVE, "gamma": SHARE, "gae_lambda": SHARE, "tau": Range(0.0, 1.0, above=True),
    "clip_range": Range(0.0, 1.0, above=True, below=True), "clip_range_high": Range(0.0, above=True),
    "clip_range_vf": POSITIVE, "target_kl": POSITIVE, "ent_coef": NOT_NEGATIVE, "vf_coef": NOT_NEGATIVE,
    "max_grad_norm": POSITIVE, "n_envs": COUNT, "n_steps": COUNT, "batch_size": COUNT, "rollout_size": COUNT,
    "n_minibatches": COUNT, "n_epochs": COUNT, "buffer_size": COUNT, "learning_starts": NOT_NEGATIVE,
    "train_freq": COUNT, "gradient_steps": Range(-1.0), "update_to_data": POSITIVE, "total_steps": COUNT,
    "total_updates": COUNT, "target_update_interval": COUNT, "exploration_fraction": Range(0.0, 1.0, above=True),
    "exploration_initial": SHARE, "exploration_final": SHARE, "exploration_steps": COUNT, "init_std": POSITIVE,
    "kl_coef": NOT_NEGATIVE, "kl_loss_coef": NOT_NEGATIVE, "eta": POSITIVE, "mmd_coef": NOT_NEGATIVE,
    "conservative_weight": NOT_NEGATIVE, "group_size": Range(2.0), "max_response_length": COUNT,
    "temperature": POSITIVE, "top_p": Range(0.0, 1.0, above=True), "reward_scale": POSITIVE,
    "adam_epsilon": POSITIVE, "format_reward_weight": NOT_NEGATIVE,
}  # fmt: skip
# Tighter rules of single frameworks.
STRICTER: Mapping[tuple[str, str], Range] = {
    ("gymnasium-solver", "clip_range_vf"): Range(0.0, 1.0, above=True, below=True),
}
WHOLE = frozenset({"total_steps", "total_updates", "train_freq", "exploration_steps"})


def fitted(assessment: Assessment, changes: Sequence[SettingChange]) -> Changes:
    """The same changes with whole numbers, and with the batch that a new rollout needs."""
    kept = {key: round(to) if is_whole(key) and isinstance(to, float) else to for key, to in changes}
    rollout, batch = _rollout(assessment, kept), _value(assessment, kept, "batch_size")
    touched = {"n_steps", "n_envs", "batch_size"} & set(kept)
    bound = assessment.is_on_policy and not assessment.is_language_model
    # A share of the rollout (gymnasium-solver) always divides.
    if touched and bound and rollout and batch and batch > 1 and (rollout % batch or batch > rollout):
        kept["batch_size"] = dividing_batch(batch, rollout)
    return tuple(SettingChange(key, to) for key, to in kept.items())


def problems(assessment: Assessment, changes: Sequence[SettingChange]) -> tuple[str, ...]:
    """What would be invalid after these changes, in words; empty where nothing is."""
    kept = dict(changes)
    found = []
    for key, to in kept.items():
        value = number(to)
        allowed = STRICTER.get((assessment.run.framework, key), RANGES.get(key))
        if value is not None and allowed is not None and not allowed.holds(value):
            found.append(f"{key} {value:g} is outside its range")
        if value is not None and is_whole(key) and not value.is_integer():
            found.append(f"{key} {value:g} must be a whole number")
    rollout, batch = _rollout(assessment, kept), _value(assessment, kept, "batch_size")
    touched = {"n_steps", "n_envs", "batch_size", "rollout_size"} & set(kept)
    if touched and rollout and batch and batch > 1 and assessment.is_on_policy and rollout % batch:
        found.append(f"batch_size {batch:g} does not divide the rollout of {rollout:g}")
    starts, budget = number(kept.get("learning_starts")), assessment.budget
    if starts is not None and budget and starts >= budget:
        found.append(f"learning_starts {starts:g} is not within the budget of {budget:g}")
    group, pooled = number(kept.get("group_size")), assessment.number("rollout_size")
    if group and pooled and assessment.is_language_model and pooled % group:
        found.append(f"group_size {group:g} does not divide the {pooled:g} responses of a batch")
    return tuple(found)


def dividing_batch(batch: float, rollout: float) -> int:
    """The divisor of the rollout that is nearest to a batch size, in ratio; the smaller of two equally near."""
    whole = max(1, int(rollout))
    divisors = {d for n in range(1, min(math.isqrt(whole), MOST_TRIED) + 1) if whole % n == 0 for d in (n, whole // n)}
    usable = [d for d in sorted(divisors) if d >= SMALLEST_BATCH] or [whole]
    return min(usable, key=lambda d: (abs(math.log(d / batch)), d))


def is_whole(key: str) -> bool:
    """Whether a hyperparameter counts something."""
    entry = hyperparameters().get(key)
    return key in WHOLE or (entry is not None and entry.kind == "integer")


def _rollout(assessment: Assessment, kept: Mapping[str, object]) -> float | None:
    if "rollout_size" in kept:
        return number(kept["rollout_size"])
    if not {"n_steps", "n_envs"} & set(kept):
        return assessment.rollout
    alone = 1.0 if assessment.run.framework.startswith("sb3") else None
    steps, envs = _value(assessment, kept, "n_steps"), _value(assessment, kept, "n_envs") or alone
    return number(steps * envs) if steps and envs else None


def _value(assessment: Assessment, kept: Mapping[str, object], key: str) -> float | None:
    """The number that a setting would have."""
    return number(kept[key]) if key in kept else assessment.number(key)
