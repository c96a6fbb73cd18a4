"""Hyperparameters that say the same in other words: rollout size or steps, minibatches or batch size, and so on."""

from __future__ import annotations

from collections.abc import Callable, Mapping

Values = Mapping[str, object]

# Flags that change what a basic one means, rather than another word for it.
MODIFIERS = frozenset({"autotune_alpha", "clip_value_loss"})


def settled(values: Values, total_steps: int | None, first: frozenset[str] = frozenset()) -> dict[str, object]:
    """The values with derived names replaced by the basic ones that trainers take.

    Where both stand, the basic one wins, unless the derived one is in `first`: the user's own word.
    """
    found = {key: value for key, value in values.items() if value is not None}
    for derived, (basic, rule) in _RULES.items():
        if derived not in found:
            continue
        if derived in first or derived in MODIFIERS or not any(name in found for name in basic):
            result = rule({**found, "total_steps": total_steps})
            for name in basic:
                found.pop(name, None)
            found.update(result)
        del found[derived]
    return found


def _number(values: Values, name: str, default: float) -> float:
    value = values.get(name)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else default


def _rollout(values: Values) -> dict[str, object]:
    return {"n_steps": max(int(_number(values, "rollout_size", 1) // _number(values, "n_envs", 1)), 1)}


def _minibatches(values: Values) -> dict[str, object]:
    rollout = _number(values, "n_steps", 2048) * _number(values, "n_envs", 1)
    return {"batch_size": max(int(rollout // _number(values, "n_minibatches", 1)), 1)}


def _update_to_data(values: Values) -> dict[str, object]:
    """As many gradient steps as asked, every env step or every few."""
    ratio = _number(values, "update_to_data", 1.0)
    n_envs = int(_number(values, "n_envs", 1))
    if ratio <= 0:
        return {"train_freq": 1, "gradient_steps": 0}
    every = max(round(1 / (ratio * n_envs)), 1)
    return {"train_freq": every, "gradient_steps": max(round(ratio * n_envs * every), 1)}


def _exploration(values: Values) -> dict[str, object]:
    total = _number(values, "total_steps", 0.0)
    return {"exploration_fraction": min(_number(values, "exploration_steps", 0) / total, 1.0)} if total else {}


def _temperature(values: Values) -> dict[str, object]:
    fixed = values.get("ent_coef", 0.2)
    return {"ent_coef": "auto" if values.get("autotune_alpha") else fixed}


def _value_clip(values: Values) -> dict[str, object]:
    """A value clip without a range of its own has that of the ratio, as CleanRL has it."""
    limit = values.get("clip_range_vf", values.get("clip_range"))
    return {"clip_range_vf": limit} if values.get("clip_value_loss") and limit is not None else {}


# derived name -> the basic names that it replaces, and how. In this order: minibatches need the rollout.
_RULES: Mapping[str, tuple[tuple[str, ...], Callable[[Values], dict[str, object]]]] = {
    "rollout_size": (("n_steps",), _rollout),
    "n_minibatches": (("batch_size",), _minibatches),
    "update_to_data": (("train_freq", "gradient_steps"), _update_to_data),
    "exploration_steps": (("exploration_fraction",), _exploration),
    "autotune_alpha": (("ent_coef",), _temperature),
    "clip_value_loss": (("clip_range_vf",), _value_clip),
}

REPLACES: Mapping[str, tuple[str, ...]] = {name: basic for name, (basic, _) in _RULES.items()}
