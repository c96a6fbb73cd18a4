"""Settings as they are in force, and what several come to.

Some causes are not about one setting but about what several come to: how far the weights can move at all, how long the
target network stands still, which share of the budget is random. Those have names like settings, and bounds like them
in `reference/usual.toml`. A share is formed of numbers with the same unit alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rlclinic.facts.exploration import action_dimensions
from rlclinic.facts.goal import known_task
from rlclinic.facts.loss_weights import LossWeights, loss_weights
from rlclinic.facts.run_facts import RunFacts, fact
from rlclinic.facts.update_count import (
    rollout,
    target_period,
    update_to_data,
    updates_in_budget,
)
from rlclinic.model.run import Status

# Optimisers whose updates do not depend on the size of the gradient: the rate alone bounds a step.
ADAPTIVE = frozenset({"", "adam", "adamw", "rmsprop", "rmsproptflike"})
PLAIN = frozenset({"sgd"})
# Share of a step that one weight takes: a hundred weights that move alike take a tenth each.
ONE_OF_MANY = 0.1
# Settings that trainers write among their metrics, and weights that the parts of the loss tell.
LOGGED = frozenset({"learning_rate", "clip_range"})
WEIGHTS: Mapping[str, Callable[[LossWeights], float | None]] = {
    "vf_coef": lambda weights: weights.value,
    "ent_coef": lambda weights: weights.entropy,
}
DETERMINISTIC = frozenset({"TD3", "DDPG"})
ADDS_NO_NOISE = frozenset({"sb3", "sb3-zoo", "rlclinic"})


# What a person would call what several settings come to.
_WORDS: Mapping[str, str] = {
    "published_share": "the budget as a share of that of published runs",
    "total_movement": "the learning rate times the number of updates",
    "gradient_updates": "the number of gradient updates",
    "update_to_data": "the number of gradient updates per env step",
    "rollout_share": "the share of the budget in one rollout",
    "rollout_steps": "the length of a rollout",
    "target_period": "the number of updates that renew the target network",
    "target_period_share": "the time to renew the target network, as a multiple of the budget,",
    "exploration_share": "the share of the budget spent on exploration",
    "target_entropy_per_action": "the target entropy per action dimension",
    "learning_starts_share": "the share of the budget before learning starts",
    "buffer_share": "the size of the replay buffer, as a multiple of the budget,",
    "clip_range_vf_per_return": "the value clip as a share of the size of the return",
    "network_width": "the width of the narrowest layer",
    "on_policy_budget": "the budget in env steps",
    "action_noise": "the action noise",
}


def said(facts: RunFacts, name: str) -> str:
    """A setting, by the name that the user gave it, and its value."""
    setting = facts.run.config.settings.get(name)
    own = setting.native_key if setting is not None and not setting.is_derived else name
    return f"{_WORDS.get(name, own)} is {value_of(facts, name) or 0.0:.3g}"


@fact
def value_of(facts: RunFacts, name: str) -> float | None:
    """A setting, or what several come to."""
    derived = _DERIVED.get(name)
    if derived is not None:
        return derived(facts)
    value = facts.run.config.number(name)
    return value if value is not None else _logged(facts, name)


def _logged(facts: RunFacts, name: str) -> float | None:
    """The value that the log tells of a setting whose file is not there; a schedule counts by its highest."""
    if name in WEIGHTS and not facts.run.config.settings:
        return WEIGHTS[name](loss_weights(facts))
    series = facts.run.series.get(name) if name in LOGGED else None
    return series.highest if series is not None else None


def _movement(facts: RunFacts) -> float | None:
    """How far a weight can move at most: an adaptive optimiser moves it by about the rate in each update."""
    rate, updates = value_of(facts, "learning_rate"), updates_in_budget(facts)
    optimiser = str(facts.run.config.get("optimizer") or "").lower()
    if rate is None or updates is None:
        return None
    if optimiser in ADAPTIVE:
        return rate * updates
    clip, gradient = facts.setting("max_grad_norm"), facts.level("grad_norm")
    sizes = [size for size in (clip, gradient.value if gradient is not None else None) if size]
    # Plain descent moves all weights together by the rate times the norm; one of them takes a small part of that.
    return rate * updates * min(sizes) * ONE_OF_MANY if optimiser in PLAIN and sizes else None


def _share(name: str) -> Callable[[RunFacts], float | None]:
    """Of the budget: a number of env steps of one in env steps."""

    def share(facts: RunFacts) -> float | None:
        value, budget = facts.setting(name), _budget(facts)
        return value / budget if value is not None and budget else None

    return share


def _budget(facts: RunFacts) -> float | None:
    """The budget in env steps; None where the run counts something else."""
    return facts.run.budget if facts.run.step_axis == "env_steps" else None


def _rollout_share(facts: RunFacts) -> float | None:
    whole, budget = rollout(facts), _budget(facts)
    return whole / budget if whole and budget and facts.is_on_policy else None


def _published_share(facts: RunFacts) -> float | None:
    """Steps of a run that is over in those that published runs of its task and algorithm needed."""
    task, taken = known_task(facts), facts.run.env_steps
    needed = task.steps_to_target.get(facts.run.algorithm.upper()) if task is not None else None
    over = facts.run.status.state is Status.FINISHED
    return taken / needed if over and needed and taken is not None else None


def _rollout_steps(facts: RunFacts) -> float | None:
    return facts.setting("n_steps") if facts.is_on_policy else None


def _target_period(facts: RunFacts) -> float | None:
    period = target_period(facts)
    return period.value if period is not None else None


def _target_period_share(facts: RunFacts) -> float | None:
    """Of the budget, where both count the same."""
    period, budget = target_period(facts), facts.run.budget
    if period is None or not budget or period.axis != facts.run.step_axis:
        return None
    return period.value / budget


def _exploration_share(facts: RunFacts) -> float | None:
    """The share of the budget in which epsilon falls; one that does not fall explores as it ends."""
    fraction, last = facts.setting("exploration_fraction"), facts.setting("exploration_final")
    return fraction if fraction is not None and (last is None or last < 0.1) else None


def _temperature(facts: RunFacts) -> float | None:
    """A fixed weight of the entropy in a soft critic."""
    return facts.setting("ent_coef") if "SAC" in facts.run.algorithm.upper() else None


def _target_entropy(facts: RunFacts) -> float | None:
    target = facts.setting("target_entropy")
    return target / (action_dimensions(facts) or 1.0) if target is not None else None


def _value_clip(facts: RunFacts) -> float | None:
    """The value clip in sizes of the return."""
    clip, curve = facts.setting("clip_range_vf"), facts.curve
    if clip is None or curve is None or facts.setting("normalize_reward"):
        return None
    size = max(abs(curve.start), abs(curve.final))
    return clip / size if size > 0.0 else None


def _action_noise(facts: RunFacts) -> float | None:
    """Of a deterministic policy; none where the library adds none by itself."""
    run = facts.run
    if run.algorithm.upper() not in DETERMINISTIC or not run.config.settings:
        return None
    noise = facts.setting("action_noise")
    return 0.0 if noise is None and run.framework in ADDS_NO_NOISE else noise


def _width(facts: RunFacts) -> float | None:
    """Units of the narrowest hidden layer."""
    layers = facts.run.config.get("net_arch")
    sizes = [size for size in layers if isinstance(size, int)] if isinstance(layers, list | tuple) else []
    return float(min(sizes)) if sizes else None


_DERIVED: Mapping[str, Callable[[RunFacts], float | None]] = {
    "action_noise": _action_noise,
    "network_width": _width,
    "on_policy_budget": lambda facts: _budget(facts) if facts.is_on_policy else None,
    "published_share": _published_share,
    "total_movement": _movement,
    "gradient_updates": updates_in_budget,
    "update_to_data": update_to_data,
    "rollout_share": _rollout_share,
    "rollout_steps": _rollout_steps,
    "target_period": _target_period,
    "target_period_share": _target_period_share,
    "exploration_share": _exploration_share,
    "temperature": _temperature,
    "target_entropy_per_action": _target_entropy,
    "learning_starts_share": _share("learning_starts"),
    "buffer_share": _share("buffer_size"),
    "clip_range_vf_per_return": _value_clip,
}
