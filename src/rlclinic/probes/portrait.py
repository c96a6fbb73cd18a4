"""What a trainer can do, found out by building it on tiny worlds before anything is trained."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.probes.definition import GAMMA, Case
from rlclinic.probes.environment import WorldEnv
from rlclinic.probes.protocol import OPTIONAL_METHODS, Trainer, UnknownSettings, UnsupportedSpace
from rlclinic.probes.settings import Family, family_of, settings, starting_values
from rlclinic.probes.world import TWO_ARMS, UNIT_BOX, Actions, chain

SPACES: Mapping[str, Actions] = {"discrete": TWO_ARMS, "box": UNIT_BOX, "multi": Actions("multi", (2, 3))}
_UNUSUAL: Mapping[str, Any] = {
    "recurrent": True, "frame_stack": 2, "normalize_observations": True, "normalize_rewards": True,
    "target_entropy": -0.5, "temperature": "auto",
}  # fmt: skip
"""Values that ask for a capability; one at a time, because they may exclude each other."""


@dataclass(frozen=True, slots=True)
class Portrait:
    """What a trainer can do."""

    family: Family
    unknown: tuple[str, ...]
    """Settings that it does not have."""
    actions: tuple[str, ...]
    """Kinds of action spaces, in the order discrete, box, multi."""
    methods: tuple[str, ...]
    problem: str = ""
    """Why it could not be built at all."""


def draw_portrait(make_trainer: Callable[..., Any]) -> Portrait:
    """Build the trainer with every setting and in every action space."""
    unknown: set[str] = set()
    kinds: list[str] = []
    methods: set[str] = set()
    problem = ""
    everything = {**starting_values("off-policy"), **starting_values("on-policy"), "n_envs": 1}
    for kind, actions in SPACES.items():
        try:
            trainer, more = _build(make_trainer, actions, {k: v for k, v in everything.items() if k not in unknown})
        except UnsupportedSpace:
            continue
        except Exception as error:  # a stranger's factory may raise anything
            problem = problem or f"make_trainer raised {type(error).__name__}: {error}"
            continue
        if not isinstance(trainer, Trainer):
            problem = f"make_trainer returned a {type(trainer).__name__} without train() and act()"
            continue
        unknown |= more
        kinds.append(kind)
        methods |= {name for name in OPTIONAL_METHODS if callable(getattr(trainer, name, None))}
    if kinds:
        problem = ""
        unknown |= _without(make_trainer, SPACES[kinds[0]], {k: v for k, v in everything.items() if k not in unknown})
    family: Family = getattr(make_trainer, "family", None) or family_of(unknown)
    return Portrait(family, tuple(sorted(unknown)), tuple(kinds), tuple(sorted(methods)), problem)


def why_not(case: Case, portrait: Portrait) -> str:
    """Why a case does not apply to a trainer; empty where it does."""
    if portrait.family not in case.budget:
        return f"not for {portrait.family} trainers"
    if case.actions != "any" and case.actions not in portrait.actions:
        return f"the trainer has no {case.actions} actions"
    missing = lacking_methods(case, portrait)
    if missing:
        return "the trainer offers no " + " and no ".join(missing)
    unknown = [name for name in case.needs if name in portrait.unknown and not _harmless(name, case.needs[name])]
    return f"the trainer does not have the setting {', '.join(unknown)}" if unknown else ""


def lacking_methods(case: Case, portrait: Portrait) -> tuple[str, ...]:
    """Methods that a case asks for and the trainer does not offer, as they are called."""
    lacking = [need for need in case.methods if not set(need.split("|")) & set(portrait.methods)]
    return tuple(need.replace("|", "() or ") + "()" for need in lacking)


def _harmless(name: str, value: Any) -> bool:
    return name == "n_envs" and value == 1


def _build(make_trainer: Callable[..., Any], actions: Actions, wanted: Mapping[str, Any]) -> tuple[Any, set[str]]:
    """A trainer, and the settings that had to be left out."""
    left_out: set[str] = set()
    for _ in range(len(settings()) + 1):
        kept = {name: value for name, value in wanted.items() if name not in left_out}
        try:
            return make_trainer(_env_fn(actions), seed=0, gamma=GAMMA, **kept), left_out
        except UnknownSettings as error:
            fresh = set(error.names) & set(kept)
            if not fresh:
                raise ValueError(f"UnknownSettings names {error.names}, which were not passed") from error
            left_out |= fresh
    raise ValueError("make_trainer rejects every setting")


def _without(make_trainer: Callable[..., Any], actions: Actions, known: Mapping[str, Any]) -> set[str]:
    """Capabilities that the trainer rejects, asked for one at a time."""
    rejected = set()
    for name, value in _UNUSUAL.items():
        try:
            make_trainer(_env_fn(actions), seed=0, gamma=GAMMA, **{**known, name: value})
        except UnknownSettings as error:
            rejected |= {name} & set(error.names)
        except Exception:
            continue
    return rejected


def _env_fn(actions: Actions) -> Callable[[], WorldEnv]:
    world = chain(((0.0,), 1.0)).with_actions(actions)
    return lambda: WorldEnv(world, default_seed=0)
