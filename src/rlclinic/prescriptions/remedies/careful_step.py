"""Where one careful step of a hyperparameter leads.

A step is a factor of 3 for learning rates, entropy bonuses and horizons (1/(1-gamma)), of 2 for everything else, and it
never passes the value that is known to work for this environment. A value that is far off is not walked home in many
rounds, each of which costs a training: with an entry for this environment more than two steps away the step goes to the
entry; without one, where the value lies outside the spread of working configs, or as far from what is common in its
field, it goes to where the run's own updates say that it belongs (from above not below the usual value), else to the
usual value of working configs with such a budget. Of an entry with another pace of updates a rate that is too low takes
what moves the weights as far per sample.
"""

from __future__ import annotations

import math

from rlclinic.facts.task_entry import rate_at_pace
from rlclinic.facts.unusual_settings import domain_of, unusual
from rlclinic.prescriptions.assessment import Assessment
from rlclinic.reference.hyperparameters import hyperparameters
from rlclinic.reference.reference_configs import NEAR_ONE
from rlclinic.reference.usual import Basis, Direction, size_of, usual_bounds, usual_value, value_of_size, working_range

COARSE, FINE = 3.0, 2.0
STEP_OF_THREE = frozenset(
    {"learning_rate", "learning_rate_critic", "learning_rate_alpha", "ent_coef", "gamma", "gae_lambda", "kl_coef",
     "kl_loss_coef", "eta", "mmd_coef"}
)  # fmt: skip
# Spreads of working configs within which a value counts as ordinary: just below two, a factor of five at least.
ORDINARY = 1.9
# Nats by which a lively healthy update moves a policy. For small steps the KL grows with the square of the rate.
HEALTHY_KL = 0.02
# Steps beyond which a value is so far from the entry for its environment that the entry itself is the target.
FAR_STEPS = 2
# What a step upwards from zero begins with, where no reference tells.
FROM_ZERO = {"conservative_weight": 1.0, "ent_coef": 0.01, "tau": 0.005, "learning_rate": 3e-4, "vf_coef": 0.5}
# Digits of a value, and of one that is an estimate.
DIGITS = 2
ESTIMATED = 1


def stepped(assessment: Assessment, key: str, *, up: bool) -> float | None:
    """The new value of a hyperparameter; None where no careful step in this direction exists."""
    value, known = assessment.number(key), assessment.reference_number(key)
    if value is None:
        # Where it begins is not known: of what works and the framework's default the one further that way.
        likely = [found for found in (known, assessment.default_number(key)) if found is not None]
        return (max if up else min)(likely, key=lambda item: size_of(key, item), default=None)
    entry = assessment.entry_number(key)
    if entry is None and up and key == "learning_rate":
        entry = _rate_at_pace(assessment)
    if up and key in NEAR_ONE and value >= 1.0:
        return None
    if value <= 0 and key not in NEAR_ONE:
        return (known if known and known > 0 else FROM_ZERO.get(key)) if up else None
    here = size_of(key, value)
    factor = step_factor(key)
    step = here * factor if up else here / factor
    if entry is not None and (entry > 0 or not up):
        ratio = _ratio(here, size_of(key, entry), up=up)
        if 1.0 < ratio <= factor or ratio > factor**FAR_STEPS:
            # The step would pass what works here, or would leave it far away: both end there.
            return entry
        if ratio > 1.0:
            return rounded(key, value_of_size(key, step))
    wrong: Direction = "low" if up else "high"
    found = unusual(assessment.facts, key, value)
    off = found.off(wrong) if found is not None else 0.0
    if off < -ORDINARY:
        # Already past what works, in the direction of the step.
        return None
    steps_away = abs(found.decades) / math.log10(factor) if found is not None and found.basis is Basis.DOMAIN else 0.0
    is_far = found is not None and (
        off > ORDINARY or found.beyond(wrong) > 0.0 or (off > 0.0 and steps_away > FAR_STEPS)
    )
    wanted = _home(assessment, key, value) if is_far else None
    if wanted is None:
        return rounded(key, value_of_size(key, step))
    home = size_of(key, wanted)
    return rounded(key, value_of_size(key, max(step, home) if up else min(step, home)))


def step_factor(key: str) -> float:
    """How many times one careful step makes a value larger or smaller."""
    return COARSE if key in STEP_OF_THREE else FINE


def rounded(key: str, value: float) -> float:
    """Two significant digits; whole numbers for counts; a discount by its distance from 1."""
    entry = hyperparameters().get(key)
    if entry is not None and entry.kind == "integer":
        return max(1, round(value))
    if key in NEAR_ONE:
        return round(1.0 - _significant(1.0 - value), 8)
    return _significant(value)


def _home(assessment: Assessment, key: str, value: float) -> float | None:
    """Where a value that is far off goes: by the run's own updates, else to the usual value."""
    computed = _rate_by_kl(assessment, value) if key == "learning_rate" else None
    algorithm = assessment.run.algorithm
    bounds, usual = working_range(algorithm, key), usual_value(algorithm, key, assessment.budget)
    if usual is None:
        published = usual_bounds(key, domain_of(assessment.facts))
        # Adapters take rates ten and more times those of whole models.
        return None if published is None or assessment.number("lora_rank") else published.usual
    if computed is not None and bounds is not None:
        # A policy that was destroyed moves by any number of nats: its KL tells the direction, not the distance.
        lowest = usual if usual is not None and usual < value else bounds[0]
        return min(max(_significant(computed, ESTIMATED), lowest), bounds[1])
    if key != "gamma" or usual is None or assessment.episode_length is None:
        return usual
    # Beyond its episode an agent has nothing to look at.
    return value_of_size(key, min(size_of(key, usual), assessment.episode_length))


def _rate_at_pace(assessment: Assessment) -> float | None:
    """The entry's rate at the pace of an on-policy run, at most a step beyond all that works.

    Tiny updates all point one way and ordinary ones do not: their KL promises too much of a rate that is far away. Off
    policy too few updates are a fault of their own, which no rate makes good.
    """
    rate = rate_at_pace(assessment.facts) if assessment.is_on_policy else None
    bounds = working_range(assessment.run.algorithm, "learning_rate")
    if rate is None or bounds is None:
        return None
    return min(_significant(rate, ESTIMATED), COARSE * bounds[1])


def _rate_by_kl(assessment: Assessment, rate: float) -> float | None:
    """The rate at which updates would move the policy as healthy ones do; None where their KL is not known."""
    usual = assessment.usual_kl
    return None if usual is None else rate * math.sqrt(HEALTHY_KL / usual)


def _ratio(here: float, goal: float, *, up: bool) -> float:
    """How many times the goal lies from here in the direction of the step; below 1 where it lies behind."""
    if goal <= 0:
        return math.inf
    return goal / here if up else here / goal


def _significant(value: float, digits: int = DIGITS) -> float:
    if value == 0 or not math.isfinite(value):
        return value
    return float(f"{value:.{digits}g}")
