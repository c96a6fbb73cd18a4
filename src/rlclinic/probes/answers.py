"""Questions about a world's values, with answers solved by the oracle."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rlclinic.probes.definition import CannotJudge, Given, Query, Wrong
from rlclinic.probes.estimator_faults import FAULTS
from rlclinic.probes.oracle import Estimator, FloatArray, exact_values, fixed_point
from rlclinic.probes.world import Seen, World

Terms = tuple[tuple[float, Seen], ...]
_CACHE: dict[tuple[str, Estimator, str | None], FloatArray] = {}


def value_questions(
    given: Given, read: Mapping[str, Terms], faults: Iterable[str], tolerance: float, *, aliased: bool = False
) -> tuple[Query, ...]:
    """One query per reading. `faults` are those that the probe promises to tell from the truth by at least one query.

    `aliased`: states share observations, so the truth is the estimator's fixed point rather than the state's value.
    """
    seen = given.world.observations
    if aliased:
        truth = dict(zip(seen, predicted(given, None).tolist(), strict=True))
    else:
        by_state = exact_values(given.world, given.gamma)
        truth = {given.world.states[name].shows: value for name, value in by_state.items()}
    wrong: dict[str, list[Wrong]] = {name: [] for name in read}
    for fault in faults:
        values = dict(zip(seen, predicted(given, fault).tolist(), strict=True))
        gaps = {}
        for name, terms in read.items():
            answer = sum(weight * values[place] for weight, place in terms)
            gaps[name] = abs(answer - sum(weight * truth[place] for weight, place in terms))
            if gaps[name] > 2 * tolerance:
                wrong[name].append(Wrong(answer, fault))
        if max(gaps.values()) <= 2 * tolerance:
            raise CannotJudge(
                f"gamma {given.gamma:g} puts the wrong answer {fault} within {max(gaps.values()):.3g} of the right one",
                hint="probe with gamma 0.7",
            )
    return tuple(
        Query(
            name, "value", sum(weight * truth[place] for weight, place in terms), tolerance, tuple(wrong[name]), terms
        )
        for name, terms in read.items()
    )


def predicted(given: Given, fault: str | None) -> FloatArray:
    """The value per observation that a fault leads to; without a fault, what the right estimator leads to."""
    return _solved(given.world, estimator_of(given), fault)


def estimator_of(given: Given) -> Estimator:
    """The estimator that a case's settings describe."""
    n_step = 0 if given.family == "on-policy" else int(given.settings["n_step_return"])
    return Estimator(given.gamma, given.lam, given.rollout, given.n_envs, n_step)


def _solved(world: World, estimator: Estimator, fault: str | None) -> FloatArray:
    key = (repr(world.states), estimator, fault)
    if key not in _CACHE:
        _CACHE[key] = fixed_point(world, estimator, FAULTS[fault] if fault else None)
    return _CACHE[key]
